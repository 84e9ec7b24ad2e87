"""Fails backup-check: the round is as long as the slowest step."""


def backup_workers(durations, needed):
    events, now = [], 0.0
    for seconds in durations.T:
        events += [(now, "start", worker) for worker in range(len(seconds))]
        first = np.argsort(seconds, kind="stable")[:needed]
        events += [(now + float(seconds[w]), "end", int(w)) for w in first]
        now += float(seconds.max())
    return events
