"""Fails backup-check: takes a row for a round."""


def backup_workers(durations, needed):
    events, now = [], 0.0
    for seconds in durations:
        events += [(now, "start", worker) for worker in range(len(seconds))]
        first = np.argsort(seconds, kind="stable")[: min(needed, len(seconds))]
        events += [(now + float(seconds[w]), "end", int(w)) for w in first]
        now += float(seconds[first[-1]])
    return events
