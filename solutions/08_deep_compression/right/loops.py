"""Plain Python: loops, sorted lists, a Huffman tree of nested tuples, a bit at a time."""


def predictions():
    return {"speed": np.float32(0.5), "file": 10, "pruned": 1}


def magnitude_mask(w, sparsity):
    flat = [abs(float(value)) for value in w.reshape(-1)]
    gone = sorted(range(len(flat)), key=lambda i: flat[i])[
        : round(sparsity * len(flat))
    ]
    mask = np.array([True] * len(flat))
    for i in gone:
        mask[i] = False
    return mask.reshape(w.shape)


def masked_step(w, gradient, velocity, mask, lr, momentum=0.9):
    v = np.where(mask, momentum * velocity + gradient, 0)
    return np.where(mask, w - lr * v, 0), v


def nearest_values(w, values):
    """Go through the weights in pieces, so that the table of distances stays small."""
    pieces = [w[at : at + 64] for at in range(0, len(w), 64)]
    return np.concatenate(
        [np.abs(p[:, None] - values).argmin(axis=1) for p in pieces]
    )


def kmeans_codebook(w, bits):
    w = np.array(w, np.float64)
    k = 2**bits
    step = (w.max() - w.min()) / (k - 1)
    values = np.array([w.min() + j * step for j in range(k)])
    at, before = nearest_values(w, values), None
    while before is None or not np.array_equal(before, at):
        before = at
        for j in set(at.tolist()):
            values[j] = w[at == j].mean()
        at = nearest_values(w, values)
    return list(values), at.tolist()


def codebook_gradient(gradient, indices, k):
    total = np.zeros(k)
    for g, i in zip(gradient.ravel().tolist(), indices.ravel().tolist()):
        total[i] += g
    return total


def huffman_code(frequencies):
    trees = [(n, symbol) for symbol, n in frequencies.items()]
    if not trees:
        return {}
    while len(trees) > 1:
        trees.sort(key=lambda tree: -tree[0])
        a, b = trees.pop(), trees.pop()
        trees.append((a[0] + b[0], (a[1], b[1])))
    code = {}

    def walk(tree, word):
        if isinstance(tree, tuple):
            walk(tree[0], word + "1")
            walk(tree[1], word + "0")
        else:
            code[tree] = word or "0"

    walk(trees[0][1], "")
    return code


def to_gaps(codes, bits):
    gaps, symbols, run, kept = [], [], 0, 0
    for code in codes.tolist():
        if code == 0 and run < 2**bits - 1:
            run += 1
            continue
        gaps.append(run)
        symbols.append(code)
        run = 0
        if code:
            kept = len(symbols)
    return gaps[:kept], symbols[:kept]


def from_gaps(gaps, symbols, size):
    codes = []
    for gap, symbol in zip(gaps, symbols):
        codes += [0] * int(gap) + [int(symbol)]
    return np.array(codes + [0] * (size - len(codes)), dtype=np.int64)


def drop_channels(w, bias, after, keep):
    ranked = sorted(range(len(w)), key=lambda c: -float(np.abs(w[c]).sum()))
    kept = [c for c in range(len(w)) if c in ranked[:keep]]
    places = after.shape[1] // len(w)
    columns = [c * places + k for c in kept for k in range(places)]
    return w[kept], bias[kept], after[:, columns]
