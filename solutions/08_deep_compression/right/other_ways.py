"""Other library calls: argpartition, add.at, packbits, arrays for lists; a prefix code from lengths alone."""

from itertools import accumulate


def magnitude_mask(w, sparsity):
    gone = round(sparsity * w.size)
    order = np.abs(w).ravel().argsort(kind="stable")
    rank = np.empty(w.size, int)
    rank[order] = np.arange(w.size)
    return rank.reshape(w.shape) >= gone


def masked_step(w, gradient, velocity, mask, lr, momentum=0.9):
    new_v, new_w = np.zeros(np.shape(velocity)), np.zeros(np.shape(w))
    new_v[mask] = momentum * velocity[mask] + gradient[mask]
    new_w[mask] = w[mask] - lr * new_v[mask]
    return new_w, new_v


def kmeans_codebook(w, bits):
    order = np.argsort(w)
    rising = np.asarray(w, np.float64)[order]
    sums = np.concatenate([[0.0], np.cumsum(rising)])
    values, old = np.linspace(rising[0], rising[-1], 1 << bits), None
    while True:
        inner = np.searchsorted(
            rising, (values[1:] + values[:-1]) / 2, side="right"
        )
        edges = np.concatenate([[0], inner, [len(rising)]])
        if old is not None and np.array_equal(edges, old):
            break
        old = edges
        count = np.diff(edges)
        values = np.divide(
            np.diff(sums[edges]), count, out=values.copy(), where=count > 0
        )
    indices = np.empty(len(rising), np.int64)
    indices[order] = np.repeat(np.arange(len(values)), np.diff(edges))
    return values, indices


def codebook_gradient(gradient, indices, k):
    total = np.zeros(k, np.float64)
    np.add.at(total, indices, gradient)
    return total


def huffman_code(frequencies):
    """Find lengths by merging groups of symbols, then number the words in order of length."""
    lengths = dict.fromkeys(frequencies, 0)
    groups = [(n, [symbol]) for symbol, n in frequencies.items()]
    while len(groups) > 1:
        groups.sort(key=lambda group: group[0])
        (n0, first), (n1, second) = groups[:2]
        for symbol in first + second:
            lengths[symbol] += 1
        groups[:2] = [(n0 + n1, first + second)]
    ordered = sorted(lengths, key=lambda symbol: (lengths[symbol], symbol))
    steps = [0.5 ** max(1, lengths[symbol]) for symbol in ordered]
    starts = [0.0, *accumulate(steps)]
    return {
        symbol: format(int(start * 2 ** max(1, lengths[symbol])), "b").zfill(
            max(1, lengths[symbol])
        )
        for symbol, start in zip(ordered, starts)
    }


def to_gaps(codes, bits):
    places = np.flatnonzero(codes)
    zeros = np.diff(np.concatenate([[-1], places])) - 1
    fillers, rest = zeros >> bits, zeros & (2**bits - 1)
    ends = np.cumsum(fillers + 1) - 1
    gaps = np.full(len(places) + fillers.sum(), 2**bits - 1)
    symbols = np.zeros(len(gaps), np.int64)
    gaps[ends], symbols[ends] = rest, np.asarray(codes)[places]
    return gaps.tolist(), symbols.tolist()


def from_gaps(gaps, symbols, size):
    codes = np.zeros(size, np.uint64)
    codes[np.cumsum(np.asarray(gaps, dtype=np.int64) + 1) - 1] = symbols
    return codes


def drop_channels(w, bias, after, keep):
    sums = np.linalg.norm(w.reshape(len(w), -1), ord=1, axis=1)
    stays = sums >= np.partition(sums, -keep)[-keep]
    if after.ndim == 2:
        columns = np.repeat(stays, after.shape[1] // len(w))
        return [w[stays], bias[stays], np.compress(columns, after, axis=1)]
    return [w[stays], bias[stays], np.compress(stays, after, axis=1)]
