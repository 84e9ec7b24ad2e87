"""Fails fold-batchnorm-check: divides by the variance instead of its root."""


def fold_batchnorm(w, gamma, beta, mean, var, eps: float):
    factor = gamma / (var + eps)
    shape = (-1,) + (1,) * (w.dim() - 1)
    return w * factor.reshape(shape), beta - mean * factor
