"""Fails alpha-beta-check: divides by the root of the times."""


class AlphaBeta:
    def fit(self, m, seconds):
        self.beta, self.alpha = np.polyfit(
            m, seconds, 1, w=1 / np.sqrt(seconds)
        )

    def predict(self, m):
        return self.alpha + self.beta * np.asarray(m)
