"""Fails loss-scaler-check: grows one step late: compares before it counts."""


class DynamicLossScaler:
    def update(self, found_inf):
        if found_inf:
            self.scale = max(self.scale / 2, self.lowest)
            self.good_steps = 0
        elif self.good_steps == self.growth_interval:
            self.scale = min(self.scale * 2, self.highest)
            self.good_steps = 0
        else:
            self.good_steps += 1
