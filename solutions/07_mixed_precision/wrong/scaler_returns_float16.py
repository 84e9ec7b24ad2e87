"""Fails loss-scaler-check: returns the unscaled gradients in the dtype in which they came."""


class DynamicLossScaler:
    def unscale(self, gradients):
        found_inf = not all(bool(g.isfinite().all()) for g in gradients)
        return [
            (g.float() / self.scale).to(g.dtype) for g in gradients
        ], found_inf
