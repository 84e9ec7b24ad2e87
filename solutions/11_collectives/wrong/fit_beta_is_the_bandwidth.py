"""Fails alpha-beta-check: beta is the bandwidth, bytes a second."""


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
        self.beta = 1 / self.beta

    def predict(self, m):
        return self.alpha + np.asarray(m) / self.beta
