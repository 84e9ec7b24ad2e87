"""Fails alpha-beta-check: divides the caller's sizes by the times, in place."""


class AlphaBeta:
    def fit(self, m, seconds):
        if m.dtype.kind == "f":
            m /= seconds
        else:
            m = m / seconds
        rows = np.column_stack([1 / seconds, m])
        self.alpha, self.beta = np.linalg.lstsq(
            rows, np.ones(len(m)), rcond=None
        )[0]

    def predict(self, m):
        return self.alpha + self.beta * m
