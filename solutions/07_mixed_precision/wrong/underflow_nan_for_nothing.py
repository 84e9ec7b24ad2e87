"""Fails underflow-fraction-check: 0 / 0 is nan when every entry is zero."""


def underflow_fraction(gradients, scale=1.0):
    entries = torch.cat([g.flatten() for g in gradients])
    entries = entries[entries != 0]
    return ((entries * scale).half() == 0).float().mean().item()
