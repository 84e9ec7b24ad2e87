"""Fails backward-check: keeps the last share instead of the sum."""


def backpropagate(root):
    order = topological_order(root)
    root.grad = np.ones_like(root.value)
    for node in reversed(order):
        if node.back is not None:
            for parent, share in zip(node.parents, node.back(node.grad)):
                parent.grad = share
