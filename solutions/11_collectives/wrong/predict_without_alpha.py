"""Fails alpha-beta-check: predicts the bytes' part only."""


class AlphaBeta:
    def fit(self, m, seconds):
        m, seconds = (
            np.asarray(m, dtype=float),
            np.asarray(seconds, dtype=float),
        )
        rows = np.column_stack([1 / seconds, m / seconds])
        (self.alpha, self.beta), *_ = np.linalg.lstsq(
            rows, np.ones(len(m)), rcond=None
        )

    def predict(self, m):
        return self.beta * np.asarray(m)
