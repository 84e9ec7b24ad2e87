"""Fails lstm-mean-check: detaches the state after each step, to save memory: gradients lack all earlier steps."""

import torch


def lstm_mean(x, lengths, w_x, w_h, b):
    """Return the mean state of an LSTM over each program, (p, h)."""
    h = x.new_zeros(len(x), w_h.shape[1])
    c, total = h, torch.zeros_like(h)
    sizes = torch.as_tensor(lengths)
    for t in range(max(lengths)):
        i, f, g, o = (x[:, t] @ w_x.T + h @ w_h.T + b).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        total = total + torch.where((t < sizes)[:, None], h, 0.0)
        h, c = h.detach(), c.detach()
    return total / sizes.to(x.dtype)[:, None]
