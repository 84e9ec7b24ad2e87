"""Fails backward-check: lists nodes by their distance from root, which is no topological order."""


def topological_order(root):
    order, seen, waiting = [], {id(root)}, [root]
    while waiting:
        node = waiting.pop(0)
        order.append(node)
        for parent in node.parents:
            if id(parent) not in seen:
                seen.add(id(parent))
                waiting.append(parent)
    return order[::-1]
