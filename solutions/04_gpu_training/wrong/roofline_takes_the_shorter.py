"""Fails roofline-check: takes the shorter of the two times."""


def roofline(peak, bandwidth, flops, moved):
    return min(
        flops / peak, moved / bandwidth
    ), "compute" if flops / peak >= moved / bandwidth else "memory"
