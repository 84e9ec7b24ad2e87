"""Fails underflow-fraction-check: takes 2**-14, the smallest normal number, for the smallest number."""


def underflow_fraction(gradients, scale=1.0):
    entries = torch.cat([g.flatten() for g in gradients])
    entries = entries[entries != 0]
    if len(entries) == 0:
        return 0.0
    return ((entries * scale).abs() < 2.0**-14).float().mean().item()
