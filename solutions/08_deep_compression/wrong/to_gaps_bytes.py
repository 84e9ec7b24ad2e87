"""Fails gaps-check: codes are cut to a byte."""


def to_gaps(codes: np.ndarray, bits: int) -> tuple[list[int], list[int]]:
    """Return the zeros skipped before each symbol, and the symbols."""
    codes = codes.astype(np.uint8)
    most, gaps, symbols, before = 2**bits - 1, [], [], -1
    for place in np.flatnonzero(codes).tolist():
        fillers, gap = divmod(place - before - 1, most + 1)
        gaps += [most] * fillers + [gap]
        symbols += [0] * fillers + [int(codes[place])]
        before = place
    return gaps, symbols
