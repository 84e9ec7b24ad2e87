"""Fails population-step-check: changes the members that it was given."""


def population_step(members, draw):
    n = len(members)
    k = n // 4
    ranked = sorted(range(n), key=lambda i: -members[i]["score"])
    parents = list(range(n))
    new = members
    for i in sorted(ranked[n - k :]):
        p = ranked[draw.integers(k)]
        factor = 0.8 if draw.random() < 0.5 else 1.25
        parents[i] = p
        parent = members[p]
        members[i]["weights"][...] = parent["weights"]
        members[i] = new[i] = {
            "weights": parent["weights"].copy(),
            "rate": parent["rate"] * factor,
            "score": parent["score"],
        }
    return new, parents
