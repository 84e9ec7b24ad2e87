"""Fails backup-check: of several that are equally fast all end."""


def backup_workers(durations: np.ndarray, needed: int) -> list[tuple]:
    durations = np.asarray(durations, float)
    events, now = [], 0.0
    for column in durations.T:
        limit = np.sort(column)[needed - 1]
        events += [(now, "start", w) for w in range(len(column))]
        for w in np.argsort(column, kind="stable"):
            if column[w] <= limit:
                events.append((now + float(column[w]), "end", int(w)))
        now += float(limit)
    return events
