"""Fails gaps-check, format-check: skips one full gap, then trusts that the rest fits."""


def to_gaps(codes, bits):
    gaps, symbols, after = [], [], 0
    for place in np.flatnonzero(codes).tolist():
        if place - after > 2**bits - 1:
            gaps.append(2**bits - 1)
            symbols.append(0)
            after += 2**bits
        gaps.append(place - after)
        symbols.append(int(codes[place]))
        after = place + 1
    return gaps, symbols
