"""Fails mean-and-variance-check: the mean is float32, but the distances from it are taken in 16 bits, with the mean rounded."""


def mean_and_variance(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    mean = x.float().mean(dim=1, keepdim=True)
    distance = x - mean.to(x.dtype)
    return mean, distance.float().square().mean(dim=1, keepdim=True)
