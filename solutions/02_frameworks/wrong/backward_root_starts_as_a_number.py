"""Fails backward-check: the root's gradient is the number 1, and not an array of its shape."""


def backpropagate(root):
    order = topological_order(root)
    for node in order:
        node.grad = np.zeros_like(node.value)
    root.grad = np.array(1.0)
    for node in reversed(order):
        if node.back is not None:
            for parent, share in zip(
                node.parents, node.back(node.grad), strict=True
            ):
                parent.grad = parent.grad + share
