"""Fails lstm-mean-check: the state from the last cell."""


def lstm_mean(x, lengths, w_x, w_h, b):
    h = c = total = x.new_zeros(len(x), w_h.shape[1])
    lengths = torch.as_tensor(lengths)[:, None]
    for t in range(x.shape[1]):
        z = x[:, t] @ w_x.T + h @ w_h.T + b
        i, f, g, o = z.chunk(4, dim=1)
        h = o.sigmoid() * c.tanh()
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        total = total + torch.where(t < lengths, h, 0)
    return total / lengths.to(x.dtype)
