"""Fails plan-checkpoints-check: above 2000 units (of the common divisor) sizes are rounded up to make a short table."""


def plan_checkpoints(
    costs: list[int], sizes: list[int], budget: int
) -> list[int]:
    """Return the ends of segments that cost least within the budget."""
    n = len(sizes)
    unit = max(math.gcd(*sizes), 1, -(-budget // 2000))
    size = [-(-s // unit) for s in sizes]
    room = budget // unit
    best = [{0: (0, [])}] + [{} for _ in range(n)]
    for j in range(1, n + 1):
        for i in range(j):
            inside = sum(size[i:j])
            cost = sum(costs[i:j]) if j - i > 1 else 0
            for kept, (before, cuts) in best[i].items():
                if kept + inside > room:
                    continue
                after, total = kept + size[j - 1], before + cost
                if after not in best[j] or total < best[j][after][0]:
                    best[j][after] = total, [*cuts, j]
    if not best[n]:
        raise ValueError("no plan fits the budget")
    return min(best[n].values(), key=lambda entry: entry[0])[1]
