"""Fails loss-scaler-check: multiplies by the scale where it should divide."""


class DynamicLossScaler:
    def unscale(self, gradients):
        found_inf = not all(bool(g.isfinite().all()) for g in gradients)
        return [g.float() * self.scale for g in gradients], found_inf
