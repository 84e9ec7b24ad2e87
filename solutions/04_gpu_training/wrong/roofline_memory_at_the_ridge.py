"""Fails roofline-check: calls the ridge memory-bound."""


def roofline(peak, bandwidth, flops, moved):
    return max(
        flops / peak, moved / bandwidth
    ), "compute" if flops / peak > moved / bandwidth else "memory"
