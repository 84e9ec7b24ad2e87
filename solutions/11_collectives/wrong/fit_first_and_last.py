"""Fails alpha-beta-check: draws a line through the first and the last point."""


class AlphaBeta:
    def fit(self, m, seconds):
        self.beta = (seconds[-1] - seconds[0]) / (m[-1] - m[0])
        self.alpha = seconds[0] - self.beta * m[0]

    def predict(self, m):
        return self.alpha + self.beta * np.asarray(m)
