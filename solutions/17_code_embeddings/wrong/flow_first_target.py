"""Fails flow-graph-check: only the first target of a branch."""


def flow_graph(statements) -> tuple[np.ndarray, np.ndarray]:
    defined = {s[1]: i for i, s in enumerate(statements) if s[1]}
    first = {}
    for i, (block, _, _) in enumerate(statements):
        first.setdefault(f"%{block}", i)
    data, control = set(), set()
    for i, (_, _, operation) in enumerate(statements):
        names = re.findall(r"%[\w.]+", operation)
        data.update((defined[name], i) for name in names if name in defined)
        if operation.startswith("br "):
            control.update(
                (i, first[n]) for n in names[-2:-1] or names if n in first
            )
    return tuple(
        np.array(sorted(edges), np.int64).reshape(-1, 2)
        for edges in (data, control)
    )
