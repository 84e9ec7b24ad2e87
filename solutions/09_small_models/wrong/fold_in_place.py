"""Fails fold-batchnorm-check: scales the network's own weight."""


def fold_batchnorm(w, gamma, beta, mean, var, eps: float):
    factor = gamma / torch.sqrt(var + eps)
    shape = (-1,) + (1,) * (w.dim() - 1)
    w *= factor.reshape(shape)
    return w, beta - mean * factor
