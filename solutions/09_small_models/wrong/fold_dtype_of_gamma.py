"""Fails fold-batchnorm-check: returns what the statistics' dtype is, not w's."""


def fold_batchnorm(w, gamma, beta, mean, var, eps: float):
    factor = gamma / torch.sqrt(var + eps)
    shape = (-1,) + (1,) * (w.dim() - 1)
    weight = w * factor.reshape(shape)
    return weight.to(gamma.dtype), beta - mean * factor
