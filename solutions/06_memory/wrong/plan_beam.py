"""Fails plan-checkpoints-check: of the plans for the first j layers only 60 are carried on."""


def plan_checkpoints(
    costs: list[int], sizes: list[int], budget: int
) -> list[int]:
    """Return the ends of segments that cost least within the budget."""
    n, most = len(sizes), 60
    plans = [[(0, 0, ())]]  # kept, cost, cuts
    for j in range(1, n + 1):
        found = []
        inside = cost = 0
        for i in range(j - 1, -1, -1):
            inside, cost = inside + sizes[i], cost + costs[i]
            if inside > budget:
                break
            for kept, before, cuts in plans[i]:
                if kept + inside <= budget:
                    again = before + (cost if j - i > 1 else 0)
                    found.append((kept + sizes[j - 1], again, (*cuts, j)))
        found.sort()
        front = []
        for plan in found:
            if not front or plan[1] < front[-1][1]:
                front.append(plan)
        if len(front) > most:
            step = (len(front) - 1) / (most - 1)
            front = [front[round(step * number)] for number in range(most)]
        plans.append(front)
    if not plans[n]:
        raise ValueError("no plan fits the budget")
    return list(min(plans[n], key=lambda plan: plan[1])[2])
