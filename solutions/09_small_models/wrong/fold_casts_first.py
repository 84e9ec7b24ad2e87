"""Fails fold-batchnorm-check: casts to w's dtype first: a large variance becomes infinite."""


def fold_batchnorm(w, gamma, beta, mean, var, eps: float):
    """Return (weight, bias) that do what w and the normalisation do."""
    gamma, beta, mean, var = (t.to(w.dtype) for t in (gamma, beta, mean, var))
    factor = gamma * torch.rsqrt(var + eps)
    shape = [len(w)] + [1] * (w.dim() - 1)
    return w * factor.view(shape), beta - mean * factor
