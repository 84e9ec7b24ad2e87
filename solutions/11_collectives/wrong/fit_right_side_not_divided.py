"""Fails alpha-beta-check: divides the columns and forgets the times themselves."""


class AlphaBeta:
    def fit(self, m, seconds):
        m, seconds = (
            np.asarray(m, dtype=float),
            np.asarray(seconds, dtype=float),
        )
        rows = np.column_stack([1 / seconds, m / seconds])
        (self.alpha, self.beta), *_ = np.linalg.lstsq(rows, seconds, rcond=None)

    def predict(self, m):
        return self.alpha + self.beta * np.asarray(m)
