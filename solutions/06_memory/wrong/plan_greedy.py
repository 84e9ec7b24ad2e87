"""Fails plan-checkpoints-check: makes each segment as long as the budget allows."""


def plan_checkpoints(costs, sizes, budget):
    if sum(sizes) <= budget:
        return list(range(1, len(sizes) + 1))
    cuts, kept, start = [], 0, 0
    while start < len(sizes):
        end = start
        while end < len(sizes) and kept + sum(sizes[start : end + 1]) <= budget:
            end += 1
        if end == start:
            raise ValueError("no plan")
        cuts.append(end)
        kept, start = kept + sizes[end - 1], end
    return cuts
