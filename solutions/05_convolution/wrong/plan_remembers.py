"""Fails plan-microbatch-check: answers a second call of the same shape from the first."""

KEPT = {}


def plan_microbatch(seconds, workspace, limit):
    key = np.shape(seconds), np.asarray(seconds).tobytes()
    if key in KEPT:
        return KEPT[key]
    allowed = np.where(workspace <= limit, seconds, np.inf)
    fastest, which = allowed.min(axis=0), allowed.argmin(axis=0)
    n = len(fastest)
    total, last = [0.0], [0]
    for images in range(1, n + 1):
        ways = [
            total[images - b] + fastest[b - 1] for b in range(1, images + 1)
        ]
        total.append(min(ways))
        last.append(1 + int(np.argmin(ways)))
    if total[n] == np.inf:
        raise ValueError(f"no plan within {limit} bytes")
    plan = []
    while n > 0:
        plan.append((last[n], int(which[last[n] - 1])))
        n -= last[n]
    KEPT[key] = plan
    return plan
