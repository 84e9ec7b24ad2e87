"""Fails backup-check: only those that end have started."""


def backup_workers(durations, needed):
    events, now = [], 0.0
    for seconds in durations.T:
        events += [
            (now, "start", worker)
            for worker in sorted(
                np.argsort(seconds, kind="stable")[:needed].tolist()
            )
        ]
        first = np.argsort(seconds, kind="stable")[:needed]
        events += [(now + float(seconds[w]), "end", int(w)) for w in first]
        now += float(seconds[first[-1]])
    return events
