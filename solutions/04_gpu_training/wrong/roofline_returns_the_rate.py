"""Fails roofline-check: returns FLOP/s, the height of the roof, and not seconds."""


def roofline(peak, bandwidth, flops, moved):
    computing, moving = flops / peak, moved / bandwidth
    rate = min(peak, bandwidth * flops / max(moved, 1))
    return rate, "compute" if computing >= moving else "memory"
