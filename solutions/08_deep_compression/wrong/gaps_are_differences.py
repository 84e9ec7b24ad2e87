"""Fails gaps-check: distances between positions, 1 more than the zeros skipped."""


def to_gaps(codes, bits):
    gaps, symbols, before = [], [], 0
    for place in np.flatnonzero(codes).tolist():
        while place - before > 2**bits - 1:
            gaps.append(2**bits - 1)
            symbols.append(0)
            before += 2**bits - 1
        gaps.append(place - before)
        symbols.append(int(codes[place]))
        before = place
    return gaps, symbols


def from_gaps(gaps, symbols, size):
    codes = np.zeros(size, np.int64)
    codes[np.cumsum(np.array(gaps, int))] = symbols
    return codes
