"""Fails population-step-check: with fewer than four takes everybody."""


def population_step(members, draw):
    n = len(members)
    k = n // 4
    ranked = sorted(range(n), key=lambda i: -members[i]["score"])
    parents = list(range(n))
    new = [m | {"weights": m["weights"].copy()} for m in members]
    for i in sorted(ranked[-k:]):
        p = ranked[draw.integers(max(1, k))]
        factor = 0.8 if draw.random() < 0.5 else 1.25
        parents[i] = p
        parent = members[p]
        new[i] = {
            "weights": parent["weights"].copy(),
            "rate": parent["rate"] * factor,
            "score": parent["score"],
        }
    return new, parents
