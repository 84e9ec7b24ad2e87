"""Fails backup-check: of equal ones the higher number."""


def backup_workers(durations, needed):
    events, now = [], 0.0
    for seconds in durations.T:
        events += [(now, "start", worker) for worker in range(len(seconds))]
        first = np.lexsort((-np.arange(len(seconds)), seconds))[:needed]
        events += [(now + float(seconds[w]), "end", int(w)) for w in first]
        now += float(seconds[first[-1]])
    return events
