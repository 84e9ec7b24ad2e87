"""Fails backup-check: ends in the order of the numbers."""


def backup_workers(durations, needed):
    events, now = [], 0.0
    for seconds in durations.T:
        events += [(now, "start", worker) for worker in range(len(seconds))]
        first = np.argsort(seconds, kind="stable")[:needed]
        events += [
            (now + float(seconds[w]), "end", int(w)) for w in sorted(first)
        ]
        now += float(seconds[first[-1]])
    return events
