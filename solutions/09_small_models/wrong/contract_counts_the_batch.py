"""Fails contract-check: counts the batch as an axis."""


def contract(x, factors):
    for axis, factor in enumerate(factors, start=0):
        x = torch.movedim(torch.movedim(x, axis, -1) @ factor.T, -1, axis)
    return x
