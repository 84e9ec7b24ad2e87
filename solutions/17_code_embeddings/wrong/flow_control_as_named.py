"""Fails flow-graph-check: control rows stand in the order in which br names the blocks, twice for the same block."""

import re

import numpy as np


def flow_graph(statements) -> tuple[np.ndarray, np.ndarray]:
    """Return the data and the control edges, (m, 2) each."""
    defined = {r: i for i, (_, r, _) in enumerate(statements) if r}
    first = {}
    for i, (block, _, _) in enumerate(statements):
        first.setdefault(block, i)
    data, control = set(), []
    for i, (_, _, operation) in enumerate(statements):
        for name in re.findall(r"%[\w.]+", operation):
            if name in defined:
                data.add((defined[name], i))
        if operation.startswith("br "):
            names = re.findall(r"label %([\w.]+)", operation)
            control.extend((i, first[name]) for name in names)
    return tuple(
        np.array(e, np.int64).reshape(-1, 2) for e in (sorted(data), control)
    )
