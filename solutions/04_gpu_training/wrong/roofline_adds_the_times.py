"""Fails roofline-check: adds the times, as if nothing overlapped."""


def roofline(peak, bandwidth, flops, moved):
    return (
        flops / peak + moved / bandwidth,
        "compute" if flops / peak >= moved / bandwidth else "memory",
    )
