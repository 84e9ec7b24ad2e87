"""Fails alpha-beta-check: sizes measured more than once are averaged first and lose their weight."""


class AlphaBeta:
    """A message of m bytes takes alpha + beta m seconds."""

    def fit(self, m, seconds) -> None:
        """Set alpha, beta by least squares on relative errors; shapes (k,)."""
        sizes, which = np.unique(np.asarray(m, float), return_inverse=True)
        t = np.bincount(which, weights=seconds) / np.bincount(which)
        rows = np.stack([np.ones(len(sizes)), sizes], axis=1) / t[:, None]
        self.alpha, self.beta = np.linalg.lstsq(
            rows, np.ones(len(t)), rcond=None
        )[0]

    def predict(self, m):
        """Return the seconds that a message of m bytes takes."""
        return self.alpha + self.beta * m
