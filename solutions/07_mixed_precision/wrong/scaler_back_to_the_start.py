"""Fails loss-scaler-check: an overflow sets the scale to its lowest value instead of halving it."""


class DynamicLossScaler:
    def update(self, found_inf):
        if found_inf:
            self.scale = self.lowest
            self.good_steps = 0
            return
        self.good_steps += 1
        if self.good_steps == self.growth_interval:
            self.scale = min(self.scale * 2, self.highest)
            self.good_steps = 0
