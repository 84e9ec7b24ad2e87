"""Fails mean-and-variance-check: takes the variance over k - 1 and corrects it afterwards: rows of one number give nan instead of 0."""


def mean_and_variance(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    wide, k = x.float(), x.shape[1]
    variance = wide.var(dim=1, keepdim=True) * ((k - 1) / k)
    return wide.mean(dim=1, keepdim=True), variance
