"""Fails alpha-beta-check: predicts in the type of m: whole bytes give whole seconds."""


class AlphaBeta:
    """A message of m bytes takes alpha + beta m seconds."""

    def fit(self, m, seconds) -> None:
        """Set alpha, beta by least squares on relative errors; shapes (k,)."""
        m, t = np.asarray(m, float), np.asarray(seconds, float)
        rows = np.column_stack([1 / t, m / t])
        self.alpha, self.beta = np.linalg.lstsq(rows, t / t, rcond=None)[0]

    def predict(self, m):
        """Return the seconds that a message of m bytes takes."""
        seconds = np.empty_like(m)
        seconds[...] = self.alpha + self.beta * np.asarray(m)
        return seconds
