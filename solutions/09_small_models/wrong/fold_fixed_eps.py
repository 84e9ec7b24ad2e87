"""Fails fold-batchnorm-check: uses PyTorch's default eps."""


def fold_batchnorm(w, gamma, beta, mean, var, eps: float):
    factor = gamma / torch.sqrt(var + 1e-5)
    shape = (-1,) + (1,) * (w.dim() - 1)
    return w * factor.reshape(shape), beta - mean * factor
