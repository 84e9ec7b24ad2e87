"""Fails roofline-check: names the part that waits, not the one that sets the time."""


def roofline(peak, bandwidth, flops, moved):
    return max(
        flops / peak, moved / bandwidth
    ), "memory" if flops / peak >= moved / bandwidth else "compute"
