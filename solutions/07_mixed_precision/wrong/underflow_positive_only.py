"""Fails underflow-fraction-check: looks at positive entries only."""


def underflow_fraction(gradients, scale=1.0):
    entries = torch.cat([g.flatten() for g in gradients])
    entries = entries[entries > 0]
    if len(entries) == 0:
        return 0.0
    return ((entries * scale).half() == 0).float().mean().item()
