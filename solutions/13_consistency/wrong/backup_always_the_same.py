"""Fails backup-check: who was slow in the first round is out for ever."""


def backup_workers(durations, needed):
    events, now = [], 0.0
    for seconds in durations.T:
        events += [(now, "start", worker) for worker in range(len(seconds))]
        first = first if now else np.argsort(seconds, kind="stable")[:needed]
        events += [(now + float(seconds[w]), "end", int(w)) for w in first]
        now += float(seconds[first[-1]])
    return events
