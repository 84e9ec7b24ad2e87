"""Fails gaps-check, format-check: from_gaps forgets the cell of each symbol."""


def from_gaps(gaps, symbols, size):
    codes, place = np.zeros(size, np.int64), 0
    for gap, symbol in zip(gaps, symbols):
        place += gap
        codes[min(place, size - 1)] = symbol
    return codes
