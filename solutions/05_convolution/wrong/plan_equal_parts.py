"""Fails plan-microbatch-check: splits into equal microbatches only."""


def plan_microbatch(seconds, workspace, limit):
    allowed = np.where(workspace <= limit, seconds, np.inf)
    fastest, which = allowed.min(axis=0), allowed.argmin(axis=0)
    n = len(fastest)
    sizes = [b for b in range(1, n + 1) if n % b == 0]
    b = min(sizes, key=lambda b: n // b * fastest[b - 1])
    if fastest[b - 1] == np.inf:
        raise ValueError("no plan")
    return [(b, int(which[b - 1]))] * (n // b)
