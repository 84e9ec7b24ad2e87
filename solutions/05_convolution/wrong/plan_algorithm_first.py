"""Fails plan-microbatch-check: puts the algorithm before the images."""


def plan_microbatch(seconds, workspace, limit):
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
        plan.append((int(which[last[n] - 1]), last[n]))
        n -= last[n]
    return plan
