"""Fails lstm-mean-check: computes and returns float64 whatever x is."""

import torch


def lstm_mean(x, lengths, w_x, w_h, b):
    """Return the mean state of an LSTM over each program, (p, h)."""
    x, w_x, w_h, b = (a.double() for a in (x, w_x, w_h, b))
    h = torch.zeros(len(x), w_h.shape[1], dtype=torch.float64)
    c, states = h, []
    for t in range(x.shape[1]):
        i, f, g, o = (x[:, t] @ w_x.T + h @ w_h.T + b).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        states.append(h)
    states = torch.stack(states, dim=1)
    return torch.stack([s[:n].mean(dim=0) for s, n in zip(states, lengths)])
