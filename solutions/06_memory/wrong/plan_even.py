"""Fails plan-checkpoints-check: cuts evenly."""


def plan_checkpoints(costs, sizes, budget):
    n = len(sizes)
    for k in range(n, 0, -1):
        cuts = [n * (number + 1) // k for number in range(k)]
        kept = peak = start = 0
        for end in cuts:
            peak = max(peak, kept + sum(sizes[start:end]))
            kept, start = kept + sizes[end - 1], end
        if peak <= budget:
            return cuts
    raise ValueError("no plan")
