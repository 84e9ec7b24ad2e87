"""Fails contract-check: computes in float32."""


def contract(x, factors):
    for axis, factor in enumerate(factors, start=1):
        x = torch.movedim(torch.movedim(x, axis, -1) @ factor.T, -1, axis)
    return x.float()
