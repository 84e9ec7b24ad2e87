"""Fails lstm-mean-check: gradients end after 32 steps."""


def lstm_mean(x, lengths, w_x, w_h, b):
    """Return the mean state of an LSTM over each program, (p, h)."""
    p, steps, _ = x.shape
    h = c = total = x.new_zeros((p, w_h.shape[1]))
    lengths = torch.as_tensor(lengths)
    for t in range(steps):
        if t % 32 == 0:  # truncated back-propagation
            h, c = h.detach(), c.detach()
        live = (t < lengths)[:, None]
        xt = torch.where(live, x[:, t], torch.zeros_like(x[:, t]))
        i, f, g, o = (xt @ w_x.T + h @ w_h.T + b).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        total = total + torch.where(live, h, torch.zeros_like(h))
    return total / lengths[:, None].to(x.dtype)
