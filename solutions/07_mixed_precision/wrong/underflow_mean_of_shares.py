"""Fails underflow-fraction-check: takes the mean of the tensors' shares, so a bias weighs as much as a matrix."""


def underflow_fraction(gradients, scale=1.0):
    shares = []
    for g in gradients:
        entries = g[g != 0]
        if len(entries):
            shares.append(((entries * scale).half() == 0).float().mean().item())
    return sum(shares) / len(shares) if shares else 0.0
