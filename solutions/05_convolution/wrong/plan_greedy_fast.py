"""Fails plan-microbatch-check: takes the microbatch with the fewest seconds an image, again and again."""


def plan_microbatch(seconds, workspace, limit):
    allowed = np.where(workspace <= limit, seconds, np.inf)
    fastest, which = allowed.min(axis=0), allowed.argmin(axis=0)
    left, plan = len(fastest), []
    while left > 0:
        each = fastest[:left] / np.arange(1, left + 1)
        if not np.isfinite(each).any():
            raise ValueError("no plan")
        b = int(each.argmin()) + 1
        plan.append((b, int(which[b - 1])))
        left -= b
    return plan
