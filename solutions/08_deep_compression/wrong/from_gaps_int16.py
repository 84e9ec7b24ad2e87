"""Fails gaps-check: codes are cut to 16 bits."""


def from_gaps(gaps, symbols, size: int) -> np.ndarray:
    """Return the codes, shape (size,), of these gaps and symbols."""
    codes = np.zeros(size, np.int16)
    at = -1
    for gap, symbol in zip(gaps, symbols, strict=True):
        at += gap + 1
        codes[at] = symbol
    return codes
