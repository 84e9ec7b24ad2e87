"""Fails roofline-check: compares the intensity with the ridge, and fails where nothing is moved."""


def roofline(peak, bandwidth, flops, moved):
    if flops / moved >= peak / bandwidth:
        return flops / peak, "compute"
    return moved / bandwidth, "memory"
