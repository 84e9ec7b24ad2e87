"""Fails loss-scaler-check: at the highest scale the count of good steps runs on instead of starting from 0."""


class DynamicLossScaler:
    def __init__(
        self,
        scale: float = 2.0**16,
        growth_interval: int = 50,
        lowest: float = 1.0,
        highest: float = 2.0**40,
    ) -> None:
        self.scale, self.growth_interval = scale, growth_interval
        self.lowest, self.highest = lowest, highest
        self.good_steps = 0

    def unscale(
        self, gradients: list[torch.Tensor]
    ) -> tuple[list[torch.Tensor], bool]:
        unscaled = [g.float() / self.scale for g in gradients]
        found = any(not bool(g.isfinite().all()) for g in gradients)
        return unscaled, found

    def update(self, found_inf: bool) -> None:
        if found_inf:
            self.scale = max(self.scale / 2, self.lowest)
            self.good_steps = 0
            return
        self.good_steps += 1
        if (
            self.good_steps >= self.growth_interval
            and self.scale < self.highest
        ):
            self.scale = min(self.scale * 2, self.highest)
            self.good_steps = 0
