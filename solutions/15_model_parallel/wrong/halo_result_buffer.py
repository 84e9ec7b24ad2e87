"""Fails halo-conv-check: results of the same shape share one buffer."""

_results = {}


def halo_conv(comm, x: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Return this rank's rows of the whole image's convolution with k."""
    h = len(k) // 2
    up = comm.rank - 1 if comm.rank > 0 else None
    down = comm.rank + 1 if comm.rank < comm.size - 1 else None
    above = below = None
    if h:
        below = shift(comm, x[:h].copy(), up, down)
        above = shift(comm, x[len(x) - h :].copy(), down, up)
    padded = np.zeros((len(x) + 2 * h, x.shape[1] + 2 * h), x.dtype)
    padded[h : h + len(x), h : h + x.shape[1]] = x
    if above is not None:
        padded[:h, h : h + x.shape[1]] = above
    if below is not None:
        padded[h + len(x) :, h : h + x.shape[1]] = below
    key = (comm.rank, x.shape, x.dtype.str)  # allocate each size once
    if key not in _results:
        _results[key] = np.empty_like(x)
    _results[key][...] = convolve(padded, k)
    return _results[key]
