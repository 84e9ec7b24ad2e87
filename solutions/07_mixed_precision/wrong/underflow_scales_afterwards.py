"""Fails underflow-fraction-check: rounds to float16 first and scales what is left."""


def underflow_fraction(gradients, scale=1.0):
    entries = torch.cat([g.flatten() for g in gradients])
    entries = entries[entries != 0]
    if len(entries) == 0:
        return 0.0
    return ((entries.half() * scale) == 0).float().mean().item()
