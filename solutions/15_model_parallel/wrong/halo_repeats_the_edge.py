"""Fails halo-conv-check: repeats the edge beyond the image."""


def halo_conv(comm, x, k):
    h = len(k) // 2
    above = comm.rank - 1 if comm.rank > 0 else None
    below = comm.rank + 1 if comm.rank < comm.size - 1 else None
    top = shift(comm, x[len(x) - h :], below, above)
    bottom = shift(comm, x[:h], above, below)
    top = x[:1].repeat(h, 0) if top is None else top
    bottom = x[-1:].repeat(h, 0) if bottom is None else bottom
    rows = np.concatenate([top, x, bottom])
    return convolve(np.pad(rows, ((0, 0), (h, h))), k)
