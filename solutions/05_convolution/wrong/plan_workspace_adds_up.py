"""Fails plan-microbatch-check: lets the microbatches share the limit."""


def plan_microbatch(seconds, workspace, limit):
    n = len(seconds[0])

    def best(images, left):
        if images == 0:
            return 0.0, []
        found = np.inf, None
        for b in range(1, images + 1):
            for a in range(len(seconds)):
                if workspace[a][b - 1] <= left and seconds[a][b - 1] < found[0]:
                    rest = best(images - b, left - workspace[a][b - 1])
                    total = seconds[a][b - 1] + rest[0]
                    if rest[1] is not None and total < found[0]:
                        found = total, [(b, a), *rest[1]]
        return found

    plan = best(n, limit)[1]
    if plan is None:
        raise ValueError("no plan")
    return plan
