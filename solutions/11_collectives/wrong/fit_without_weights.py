"""Fails alpha-beta-check: minimises absolute errors: large messages decide."""


class AlphaBeta:
    def fit(self, m, seconds):
        self.beta, self.alpha = np.polyfit(m, seconds, 1)

    def predict(self, m):
        return self.alpha + self.beta * np.asarray(m)
