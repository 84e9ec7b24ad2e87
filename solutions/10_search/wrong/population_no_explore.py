"""Fails population-step-check: does not change the rate."""


def population_step(members, draw):
    n = len(members)
    k = n // 4
    ranked = sorted(range(n), key=lambda i: -members[i]["score"])
    parents = list(range(n))
    new = [m | {"weights": m["weights"].copy()} for m in members]
    for i in sorted(ranked[n - k :]):
        p = ranked[draw.integers(k)]
        draw.random()
        parents[i] = p
        parent = members[p]
        new[i] = {
            "weights": parent["weights"].copy(),
            "rate": parent["rate"],
            "score": parent["score"],
        }
    return new, parents
