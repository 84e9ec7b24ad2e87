"""Fails halo-conv-check: gathers the whole image."""


def halo_conv(comm, x, k):
    h = len(k) // 2
    lengths = all_gather(comm, np.array([len(x)]))
    image = all_gather(comm, x).reshape(-1, x.shape[1])
    begin = int(lengths[: comm.rank].sum())
    return convolve(np.pad(image, h)[begin : begin + len(x) + 2 * h], k)
