"""Fails underflow-fraction-check: counts what overflows as lost, too."""


def underflow_fraction(gradients, scale=1.0):
    entries = torch.cat([g.flatten() for g in gradients])
    entries = entries[entries != 0]
    if len(entries) == 0:
        return 0.0
    narrow = (entries * scale).half()
    return ((narrow == 0) | narrow.isinf()).float().mean().item()
