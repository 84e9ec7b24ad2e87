"""Fails int8-conv-check: a factor in float64 rounds a product just below a tie up."""


def int8_conv(q, zero: int, w, bias, m, k, zero_out: int):
    """Return the int8 codes of a convolution, by integer arithmetic only."""
    r = w.shape[-1]
    p = r // 2
    wide = q.astype(np.int64) - zero
    wide = np.pad(wide, ((0, 0), (0, 0), (p, p), (p, p)))
    view = np.lib.stride_tricks.sliding_window_view(wide, (r, r), axis=(2, 3))
    a = np.einsum("nchwij,ocij->nohw", view, w.astype(np.int64))
    a = a + bias[:, None, None]
    factor = np.ldexp(m.astype(np.float64), -k)[:, None, None]
    y = np.floor(a * factor + 0.5) + zero_out
    return np.clip(y, -128, 127).astype(np.int8)
