"""Fails lstm-mean-check: sorts the programs, the longest first, and returns them in that order."""

import torch


def lstm_mean(x, lengths, w_x, w_h, b):
    """Return the mean state of an LSTM over each program, (p, h)."""
    order = sorted(range(len(lengths)), key=lambda k: -lengths[k])
    x = x[order]
    sizes = [lengths[k] for k in order]
    size = w_h.shape[1]
    h = x.new_zeros(len(x), size)
    c, total = h, h
    for t in range(max(sizes)):
        n = sum(s > t for s in sizes)  # the first n still go on
        z = x[:n, t] @ w_x.T + h[:n] @ w_h.T + b
        i, f, g, o = z.chunk(4, dim=1)
        c = torch.sigmoid(f) * c[:n] + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        total = torch.cat([total[:n] + h, total[n:]])
    return total / torch.tensor(sizes, dtype=x.dtype)[:, None]
