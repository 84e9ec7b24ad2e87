"""Fails backup-check: sorts the rows of the table in place."""


def backup_workers(durations, needed):
    np.ndarray.sort(durations, axis=0)
    events, now = [], 0.0
    for seconds in durations.T:
        events += [(now, "start", worker) for worker in range(len(seconds))]
        first = np.argsort(seconds, kind="stable")[:needed]
        events += [(now + float(seconds[w]), "end", int(w)) for w in first]
        now += float(seconds[first[-1]])
    return events
