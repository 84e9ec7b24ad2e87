"""Fails halo-conv-check: the last rank is a neighbour of the first."""


def halo_conv(comm, x, k):
    h = len(k) // 2
    above = (comm.rank - 1) % comm.size if comm.size > 1 else None
    below = (comm.rank + 1) % comm.size if comm.size > 1 else None
    top = shift(comm, x[len(x) - h :], below, above)
    bottom = shift(comm, x[:h], above, below)
    beyond = np.zeros_like(x[:h])
    top = beyond if top is None else top
    bottom = beyond if bottom is None else bottom
    rows = np.concatenate([top, x, bottom])
    return convolve(np.pad(rows, ((0, 0), (h, h))), k)
