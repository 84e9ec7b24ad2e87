"""Fails plan-microbatch-check: splits once at most."""


def plan_microbatch(seconds, workspace, limit):
    allowed = np.where(workspace <= limit, seconds, np.inf)
    fastest, which = allowed.min(axis=0), allowed.argmin(axis=0)
    n = len(fastest)
    plans = [[n], *([b, n - b] for b in range(1, n))]
    plan = min(plans, key=lambda plan: sum(fastest[b - 1] for b in plan))
    if sum(fastest[b - 1] for b in plan) == np.inf:
        raise ValueError("no plan")
    return [(b, int(which[b - 1])) for b in plan]
