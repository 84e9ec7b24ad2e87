"""Fails int8-conv-check: converts to int8 before it clips."""


def int8_conv(q, zero: int, w, bias, m, k, zero_out: int):
    r = w.shape[2]
    edge, window = (r // 2, r // 2), np.lib.stride_tricks.sliding_window_view
    real = np.pad(q.astype(np.int64) - zero, ((0, 0), (0, 0), edge, edge))
    patches = window(real, (r, r), axis=(2, 3))
    a = np.tensordot(patches, w.astype(np.int64), ([1, 4, 5], [1, 2, 3]))
    y = ((a + bias) * m + (1 << (k - 1))) >> k
    y = np.clip((y + zero_out).astype(np.int8), -128, 127)
    return y.transpose(0, 3, 1, 2)
