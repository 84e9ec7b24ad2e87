"""Fails underflow-fraction-check: divides by all entries, also by those that were zero already."""


def underflow_fraction(gradients, scale=1.0):
    entries = torch.cat([g.flatten() for g in gradients])
    lost = ((entries * scale).half() == 0) & (entries != 0)
    return lost.float().mean().item()
