"""Fails gaps-check: fillers for the zeros after the last weight."""


def to_gaps(codes, bits):
    gaps, symbols, run = [], [], 0
    for code in codes.tolist():
        if code == 0 and run < 2**bits - 1:
            run += 1
            continue
        gaps.append(run)
        symbols.append(code)
        run = 0
    return gaps, symbols
