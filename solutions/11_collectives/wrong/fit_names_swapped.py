"""Fails alpha-beta-check: alpha and beta are swapped."""


class AlphaBeta:
    def fit(self, m, seconds):
        self.alpha, self.beta = np.polyfit(
            m, seconds, 1, w=1 / np.asarray(seconds)
        )

    def predict(self, m):
        return self.beta + self.alpha * np.asarray(m)
