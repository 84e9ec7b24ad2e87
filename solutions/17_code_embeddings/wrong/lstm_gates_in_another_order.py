"""Fails lstm-mean-check: the gates as i, f, o, g."""


def lstm_mean(x, lengths, w_x, w_h, b):
    h = c = total = x.new_zeros(len(x), w_h.shape[1])
    lengths = torch.as_tensor(lengths)[:, None]
    for t in range(x.shape[1]):
        z = x[:, t] @ w_x.T + h @ w_h.T + b
        i, f, o, g = z.chunk(4, dim=1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        total = total + torch.where(t < lengths, h, 0)
    return total / lengths.to(x.dtype)
