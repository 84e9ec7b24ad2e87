"""Fails plan-checkpoints-check: takes the least memory whatever it costs."""


def plan_checkpoints(costs, sizes, budget):
    best = [{0: (0, [])}] + [{} for _ in sizes]
    for end in range(1, len(sizes) + 1):
        for start in range(end):
            inside = sum(sizes[start:end])
            for kept, (cost, cuts) in best[start].items():
                key = kept + sizes[end - 1]
                found = best[end].get(key, (math.inf, []))
                if (
                    kept + inside <= budget
                    and max(cost, kept + inside) < found[0]
                ):
                    best[end][key] = max(cost, kept + inside), [*cuts, end]
    if not best[-1]:
        raise ValueError(f"no plan within {budget}")
    return min(best[-1].values())[1]
