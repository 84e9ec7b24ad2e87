"""Fails loss-scaler-check: divides the gradients that were handed in."""


class DynamicLossScaler:
    def unscale(self, gradients):
        found_inf = not all(bool(g.isfinite().all()) for g in gradients)
        for g in gradients:
            g.div_(self.scale)
        return [g.float() for g in gradients], found_inf
