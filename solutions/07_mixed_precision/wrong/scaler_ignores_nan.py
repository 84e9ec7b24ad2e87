"""Fails loss-scaler-check: looks for infinity only; nan equals nothing."""


class DynamicLossScaler:
    def unscale(self, gradients):
        found_inf = any(
            bool((g.abs() == float("inf")).any()) for g in gradients
        )
        return [g.float() / self.scale for g in gradients], found_inf
