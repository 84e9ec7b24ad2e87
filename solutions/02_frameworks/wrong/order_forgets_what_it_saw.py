"""Fails backward-check: visits a node once for each path to it."""


def topological_order(root):
    order = []
    for parent in root.parents:
        order += topological_order(parent)
    return [*order, root]
