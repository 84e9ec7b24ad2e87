"""Fails contract-check: knows two axes only."""


def contract(x, factors):
    for axis, factor in enumerate(factors[:2], start=1):
        x = torch.movedim(torch.movedim(x, axis, -1) @ factor.T, -1, axis)
    return x
