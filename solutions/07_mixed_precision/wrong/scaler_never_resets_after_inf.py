"""Fails loss-scaler-check: good steps need not be in a row: an overflow does not start the count again."""


class DynamicLossScaler:
    def update(self, found_inf):
        if found_inf:
            self.scale = max(self.scale / 2, self.lowest)
            return
        self.good_steps += 1
        if self.good_steps == self.growth_interval:
            self.scale = min(self.scale * 2, self.highest)
            self.good_steps = 0
