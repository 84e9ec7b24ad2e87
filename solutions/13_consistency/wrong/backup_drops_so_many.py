"""Fails backup-check: drops `needed` workers."""


def backup_workers(durations, needed):
    events, now = [], 0.0
    for seconds in durations.T:
        events += [(now, "start", worker) for worker in range(len(seconds))]
        first = np.argsort(seconds, kind="stable")[
            : max(1, len(seconds) - needed)
        ]
        events += [(now + float(seconds[w]), "end", int(w)) for w in first]
        now += float(seconds[first[-1]])
    return events
