"""Earns nothing of gaps-check, fails format-check: stores every cell, with gaps of 0."""


def to_gaps(codes, bits):
    return [0] * len(codes), [int(code) for code in codes]


def from_gaps(gaps, symbols, size):
    return np.array(symbols, np.int64)
