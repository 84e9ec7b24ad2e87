"""Fails backward-check: returns the ancestors only."""


def topological_order(root):
    order, seen = [], set()

    def visit(node):
        for parent in node.parents:
            if id(parent) not in seen:
                seen.add(id(parent))
                visit(parent)
                order.append(parent)

    visit(root)
    return order
