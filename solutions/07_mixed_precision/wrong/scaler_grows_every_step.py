"""Fails loss-scaler-check: doubles after every good step."""


class DynamicLossScaler:
    def update(self, found_inf):
        if found_inf:
            self.scale = max(self.scale / 2, self.lowest)
        else:
            self.scale = min(self.scale * 2, self.highest)
