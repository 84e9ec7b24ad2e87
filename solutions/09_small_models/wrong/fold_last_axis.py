"""Fails fold-batchnorm-check: scales the last axis of w instead of the first."""


def fold_batchnorm(w, gamma, beta, mean, var, eps: float):
    factor = gamma / torch.sqrt(var + eps)
    return w * factor, beta - mean * factor
