"""Fails contract-check: sums over the first axis of a factor."""


def contract(x, factors):
    for axis, factor in enumerate(factors, start=1):
        x = torch.movedim(torch.movedim(x, axis, -1) @ factor, -1, axis)
    return x
