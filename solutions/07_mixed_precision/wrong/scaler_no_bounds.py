"""Fails loss-scaler-check: the scale has neither a floor nor a ceiling."""


class DynamicLossScaler:
    def update(self, found_inf):
        if found_inf:
            self.scale = self.scale / 2
            self.good_steps = 0
            return
        self.good_steps += 1
        if self.good_steps == self.growth_interval:
            self.scale = self.scale * 2
            self.good_steps = 0
