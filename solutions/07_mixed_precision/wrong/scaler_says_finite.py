"""Fails loss-scaler-check: returns whether all is finite, the opposite of what is asked."""


class DynamicLossScaler:
    def unscale(self, gradients):
        finite = all(bool(g.isfinite().all()) for g in gradients)
        return [g.float() / self.scale for g in gradients], finite
