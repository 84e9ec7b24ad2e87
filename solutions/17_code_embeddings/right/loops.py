"""The same written another way: searches, loops, other containers of numbers."""

from collections import deque


def predictions():
    return {"rows": 1, "graph": np.float32(0.5), "bag": 2 / 3}


def parse(text):
    found, block = [], None
    for line in text.split("\n"):
        if line[:7] == "define ":
            block = ""
        elif line[:1] == "}":
            block = None
        elif block is not None:
            code = re.sub(";.*", "", line).strip()
            label = re.fullmatch(r"([\w.]+):", code)
            if label:
                block = label[1]
            elif code:
                named = re.fullmatch(r"(%[\w.]+) = (.*)", code)
                found.append(
                    (block, *(named.groups() if named else ("", code)))
                )
    return found


def flow_graph(statements):
    n = len(statements)
    data, control = np.zeros((n, n), bool), np.zeros((n, n), bool)
    blocks = [s[0] for s in statements]
    for to, (_, _, operation) in enumerate(statements):
        words = re.split(r"[^%\w.]+", operation)
        for at, (_, result, _) in enumerate(statements):
            data[at, to] = bool(result) and result in words
        if words[0] == "br":
            for name in re.findall(r"label %([\w.]+)", operation):
                control[to, blocks.index(name)] = True
    return [np.argwhere(data), np.argwhere(control)]


def normalise(statement):
    words = re.split(r"([\s,()\[\]]+)", statement[2])
    if len(words) > 4 and words[-3] == "align" and words[-4].startswith(","):
        words = words[:-4]
    kinds = []
    for word in words:
        if word.startswith("%"):
            kinds.append("<%ID>")
        elif re.fullmatch(r"-?\d+", word):
            kinds.append("<INT>")
        elif re.fullmatch(r"-?\d+\.\d+(e[+-]?\d+)?|0xH?[0-9A-F]+", word):
            kinds.append("<FLOAT>")
        else:
            kinds.append(word)
    return ("<%ID> = " if statement[1] else "") + "".join(kinds)


def skipgram_pairs(edges, codes, width):
    beside = [set() for _ in codes]
    for a, b in edges.tolist():
        beside[a].add(b)
        beside[b].add(a)
    rows = []
    for i in range(len(codes)):
        away, queue = {i: 0}, deque([i])
        while queue:
            at = queue.popleft()
            if away[at] == width:
                continue
            for to in beside[at]:
                if to not in away:
                    away[to] = away[at] + 1
                    queue.append(to)
        rows += [(codes[i], codes[j]) for j in sorted(away) if j != i]
    return np.array(rows, dtype=np.int64).reshape(len(rows), 2)


def negative_sampling(centre, others):
    b, contexts, _ = others.shape
    loss, d_centre, d_others = (
        0.0,
        np.zeros(centre.shape),
        np.zeros(others.shape),
    )
    for k in range(contexts):
        u = others[:, k]
        scores = (centre * u).sum(axis=1) * (-1 if k else 1)
        tail = np.exp(-np.abs(scores))
        loss += np.sum(np.log1p(tail) + np.maximum(-scores, 0))
        slope = np.where(scores > 0, tail, 1) / (1 + tail) * (1 if k else -1)
        d_centre += slope[:, None] * u / b
        d_others[:, k] = slope[:, None] * centre / b
    return [np.float64(loss / b), d_centre, d_others]


def analogy(vectors, a, b, c):
    q = vectors[b] - vectors[a] + vectors[c]
    best, found = None, None
    for x in range(len(vectors)):
        if x in {a, b, c}:
            continue
        length = np.sqrt(np.dot(vectors[x], vectors[x]) * np.dot(q, q))
        cosine = np.dot(vectors[x], q) / length if length > 0 else 0.0
        if best is None or cosine > best:
            best, found = cosine, x
    return found


def split_by_program(owners, n_test, seed):
    number = {}
    numbers = [number.setdefault(owner, len(number)) for owner in owners]
    order = np.random.default_rng(seed).permutation(len(number))
    train, test = [], []
    for row, mine in enumerate(numbers):
        (test if mine in order[:n_test] else train).append(row)
    return [np.array(train, dtype=np.int64), np.array(test, dtype=np.int64)]


def lstm_mean(x, lengths, w_x, w_h, b):
    units, found = w_h.shape[1], []
    for rows, length in zip(x, lengths, strict=True):
        h = c = torch.zeros(units, dtype=x.dtype)
        states = []
        for t in range(int(length)):
            z = w_x @ rows[t] + w_h @ h + b
            gates = torch.sigmoid(z)
            c = c * gates[units : 2 * units]
            c = c + gates[:units] * torch.tanh(z[2 * units : 3 * units])
            h = gates[3 * units :] * torch.tanh(c)
            states.append(h)
        found.append(torch.stack(states).mean(0))
    return torch.stack(found)
