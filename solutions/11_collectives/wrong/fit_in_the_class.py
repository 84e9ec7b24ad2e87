"""Fails alpha-beta-check: writes into the class, so that a second model changes the first."""


class AlphaBeta:
    def fit(self, m, seconds):
        rows = np.column_stack([1 / seconds, m / seconds])
        AlphaBeta.alpha, AlphaBeta.beta = np.linalg.lstsq(
            rows, np.ones(len(m)), rcond=None
        )[0]

    def predict(self, m):
        return self.alpha + self.beta * m
