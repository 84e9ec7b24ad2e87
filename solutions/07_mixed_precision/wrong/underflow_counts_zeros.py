"""Fails underflow-fraction-check: entries that were zero already count as lost."""


def underflow_fraction(gradients, scale=1.0):
    entries = torch.cat([g.flatten() for g in gradients])
    return ((entries * scale).half() == 0).float().mean().item()
