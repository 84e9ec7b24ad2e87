"""Fails backward-check: takes two nodes with the same value for one."""


def topological_order(root):
    order, seen = [], set()

    def visit(node):
        key = node.value.tobytes()
        if key not in seen:
            seen.add(key)
            for parent in node.parents:
                visit(parent)
            order.append(node)

    visit(root)
    return order
