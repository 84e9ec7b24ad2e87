"""Fails backward-check: appends a node before its parents."""


def topological_order(root):
    order, seen = [], set()

    def visit(node):
        if id(node) not in seen:
            seen.add(id(node))
            order.append(node)
            for parent in node.parents:
                visit(parent)

    visit(root)
    return order
