"""Fails int8-conv-check: adds up in float32, exact for a few hundred products only."""


def int8_conv(q, zero: int, w, bias, m, k, zero_out: int):
    r = w.shape[2]
    e = (r // 2, r // 2)
    real = np.pad(q.astype(np.float32) - zero, ((0, 0), (0, 0), e, e))
    patches = np.lib.stride_tricks.sliding_window_view(real, (r, r), (2, 3))
    a = np.einsum("nchwij,ocij->nhwo", patches, w.astype(np.float32))
    a = a.astype(np.int64) + bias
    y = ((a * m + (1 << (k - 1))) >> k) + zero_out
    return np.clip(y, -128, 127).astype(np.int8).transpose(0, 3, 1, 2)
