"""Fails halo-conv-check: sends as many rows as the kernel has."""


def halo_conv(comm, x, k):
    h = len(k) // 2
    above = comm.rank - 1 if comm.rank > 0 else None
    below = comm.rank + 1 if comm.rank < comm.size - 1 else None
    top = shift(comm, x[max(len(x) - len(k), 0) :], below, above)
    bottom = shift(comm, x[: len(k)], above, below)
    beyond = np.zeros_like(x[:h])
    top = beyond if top is None else top[len(top) - h :]
    bottom = beyond if bottom is None else bottom[:h]
    rows = np.concatenate([top, x, bottom])
    return convolve(np.pad(rows, ((0, 0), (h, h))), k)
