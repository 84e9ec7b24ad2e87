"""Fails halo-conv-check: with h = 0 the last rows are all rows."""


def halo_conv(comm, x, k):
    h = len(k) // 2
    above = comm.rank - 1 if comm.rank > 0 else None
    below = comm.rank + 1 if comm.rank < comm.size - 1 else None
    top = shift(comm, x[-h:], below, above)
    bottom = shift(comm, x[:h], above, below)
    beyond = np.zeros_like(x[:h])
    top = beyond if top is None else top
    bottom = beyond if bottom is None else bottom
    rows = np.concatenate([top, x, bottom])
    return convolve(np.pad(rows, ((0, 0), (h, h))), k)
