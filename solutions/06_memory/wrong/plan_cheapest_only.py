"""Fails plan-checkpoints-check: keeps only the cheapest plan of the first layers."""


def plan_checkpoints(costs, sizes, budget):
    best = [{0: (0, [])}] + [{} for _ in sizes]
    for end in range(1, len(sizes) + 1):
        for start in range(end):
            inside = sum(sizes[start:end])
            again = sum(costs[start:end]) if end - start > 1 else 0
            for kept, (cost, cuts) in best[start].items():
                key = kept + sizes[end - 1]
                found = min(best[end].values(), default=(math.inf, []))
                if kept + inside <= budget and cost + again < found[0]:
                    best[end] = {key: (cost + again, [*cuts, end])}
    if not best[-1]:
        raise ValueError(f"no plan within {budget}")
    return min(best[-1].values())[1]
