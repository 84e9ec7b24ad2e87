"""Fails backup-check: durations less than a millionth apart count as equally long."""


def backup_workers(durations: np.ndarray, needed: int) -> list[tuple]:
    """Return the events of rounds that wait for the first workers only."""
    workers, steps = durations.shape
    events, now = [], 0
    for k in range(steps):
        events += [(now, "start", w) for w in range(workers)]
        took = np.round(durations[:, k], 6)  # against rounding errors
        first = np.lexsort((np.arange(workers), took))[:needed]
        events += [(now + durations[w, k], "end", int(w)) for w in first]
        now = now + durations[first, k].max()
    return events
