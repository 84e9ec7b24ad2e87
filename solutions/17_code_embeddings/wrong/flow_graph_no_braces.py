"""Fails flow-graph-check: names beside braces and angle brackets are not seen."""


def flow_graph(statements) -> tuple[np.ndarray, np.ndarray]:
    """Return the data and the control edges, (m, 2) each."""
    defined = {r: i for i, (_, r, _) in enumerate(statements) if r}
    begin = {}
    for i, (block, _, _) in enumerate(statements):
        begin.setdefault(block, i)
    data, control = set(), set()
    for i, (_, _, op) in enumerate(statements):
        names = re.split(r"[ ,()\[\]]+", op)
        data |= {(defined[n], i) for n in names if n in defined}
        if op.split()[0] == "br":
            labels = re.findall(r"label %([A-Za-z0-9._]+)", op)
            control |= {(i, begin[n]) for n in labels}
    return tuple(
        np.array(sorted(e), np.int64).reshape(-1, 2) for e in (data, control)
    )
