"""Fails plan-microbatch-check: never splits."""


def plan_microbatch(seconds, workspace, limit):
    allowed = np.where(workspace <= limit, seconds, np.inf)[:, -1]
    if allowed.min() == np.inf:
        raise ValueError("no plan")
    return [(len(seconds[0]), int(allowed.argmin()))]
