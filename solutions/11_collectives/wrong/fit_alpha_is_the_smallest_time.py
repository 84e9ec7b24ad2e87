"""Fails alpha-beta-check: takes the smallest time for alpha."""


class AlphaBeta:
    def fit(self, m, seconds):
        m, seconds = (
            np.asarray(m, dtype=float),
            np.asarray(seconds, dtype=float),
        )
        self.alpha = seconds.min()
        self.beta = ((seconds - self.alpha) * m / seconds**2).sum() / (
            m * m / seconds**2
        ).sum()

    def predict(self, m):
        return self.alpha + self.beta * np.asarray(m)
