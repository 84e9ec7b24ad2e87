"""Fails flow-graph-check: a br gets control edges only; its condition's data edge is missing."""

import re

import numpy as np


def flow_graph(statements) -> tuple[np.ndarray, np.ndarray]:
    """Return the data and the control edges, (m, 2) each."""
    defined = {r: i for i, (_, r, _) in enumerate(statements) if r}
    first = {}
    for i, (block, _, _) in enumerate(statements):
        first.setdefault(block, i)
    data, control = set(), set()
    for i, (_, _, operation) in enumerate(statements):
        if operation.startswith("br "):
            for name in re.findall(r"label %([\w.]+)", operation):
                control.add((i, first[name]))
        else:
            for name in re.findall(r"%[\w.]+", operation):
                if name in defined:
                    data.add((defined[name], i))
    return tuple(
        np.array(sorted(e), np.int64).reshape(-1, 2) for e in (data, control)
    )
