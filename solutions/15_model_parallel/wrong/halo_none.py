"""Fails halo-conv-check: zeros at the seams, and no message."""


def halo_conv(comm, x, k):
    return convolve(np.pad(x, len(k) // 2), k)
