"""Fails plan-microbatch-check: takes the largest microbatch that fits, again and again."""


def plan_microbatch(seconds, workspace, limit):
    allowed = np.where(workspace <= limit, seconds, np.inf)
    fastest, which = allowed.min(axis=0), allowed.argmin(axis=0)
    left, plan = len(fastest), []
    while left > 0:
        sizes = np.flatnonzero(np.isfinite(fastest[:left])) + 1
        if not len(sizes):
            raise ValueError("no plan")
        plan.append((int(sizes[-1]), int(which[sizes[-1] - 1])))
        left -= int(sizes[-1])
    return plan
