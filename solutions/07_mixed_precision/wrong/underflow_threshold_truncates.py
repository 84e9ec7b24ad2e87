"""Fails underflow-fraction-check: takes everything below 2**-24 for lost, but float16 rounds to the nearest."""


def underflow_fraction(gradients, scale=1.0):
    entries = torch.cat([g.flatten() for g in gradients])
    entries = entries[entries != 0]
    if len(entries) == 0:
        return 0.0
    return ((entries * scale).abs() < 2.0**-24).float().mean().item()
