"""Fails alpha-beta-check: a negative alpha or beta is cut to 0."""


class AlphaBeta:
    """A message of m bytes takes alpha + beta m seconds."""

    def fit(self, m, seconds) -> None:
        """Set alpha, beta by least squares on relative errors; shapes (k,)."""
        m, t = np.asarray(m, float), np.asarray(seconds, float)
        rows = np.column_stack([1 / t, m / t])
        (alpha, beta), *_ = np.linalg.lstsq(rows, t / t, rcond=None)
        self.alpha, self.beta = max(alpha, 0.0), max(beta, 0.0)

    def predict(self, m):
        """Return the seconds that a message of m bytes takes."""
        return self.alpha + self.beta * m
