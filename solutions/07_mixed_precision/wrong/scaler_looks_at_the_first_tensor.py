"""Fails loss-scaler-check: looks at the first tensor only."""


class DynamicLossScaler:
    def unscale(self, gradients):
        found_inf = not bool(gradients[0].isfinite().all())
        return [g.float() / self.scale for g in gradients], found_inf
