"""Fails loss-scaler-check: goes on counting after it has grown, and never grows again."""


class DynamicLossScaler:
    def update(self, found_inf):
        if found_inf:
            self.scale = max(self.scale / 2, self.lowest)
            self.good_steps = 0
            return
        self.good_steps += 1
        if self.good_steps == self.growth_interval:
            self.scale = min(self.scale * 2, self.highest)
