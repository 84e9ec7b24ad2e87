"""Fails gaps-check, format-check: a gap may be as long as it likes."""


def to_gaps(codes, bits):
    gaps, symbols, after = [], [], 0
    for place in np.flatnonzero(codes).tolist():
        gaps.append(place - after)
        symbols.append(int(codes[place]))
        after = place + 1
    return gaps, symbols
