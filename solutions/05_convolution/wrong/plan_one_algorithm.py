"""Fails plan-microbatch-check: uses one algorithm for all microbatches."""


def plan_microbatch(seconds, workspace, limit):
    best, found = np.inf, None
    for a, row in enumerate(np.where(workspace <= limit, seconds, np.inf)):
        total, parts = [0.0], [[]]
        for images in range(1, len(row) + 1):
            ways = [
                total[images - b] + row[b - 1] for b in range(1, images + 1)
            ]
            b = 1 + int(np.argmin(ways))
            total.append(min(ways))
            parts.append([*parts[images - b], (b, a)])
        if total[-1] < best:
            best, found = total[-1], parts[-1]
    if found is None:
        raise ValueError("no plan")
    return found
