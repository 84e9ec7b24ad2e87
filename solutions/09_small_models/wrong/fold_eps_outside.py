"""Fails fold-batchnorm-check: adds eps to the root."""


def fold_batchnorm(w, gamma, beta, mean, var, eps: float):
    factor = gamma / (torch.sqrt(var) + eps)
    shape = (-1,) + (1,) * (w.dim() - 1)
    return w * factor.reshape(shape), beta - mean * factor
