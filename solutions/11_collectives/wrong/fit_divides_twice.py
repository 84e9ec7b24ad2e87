"""Fails alpha-beta-check: divides by the squares of the times; np.polyfit squares its weights itself."""


class AlphaBeta:
    def fit(self, m, seconds):
        self.beta, self.alpha = np.polyfit(
            m, seconds, 1, w=1 / np.asarray(seconds) ** 2
        )

    def predict(self, m):
        return self.alpha + self.beta * np.asarray(m)
