"""Fails backward-check: starts from the mean of root's entries instead of their sum."""


def backpropagate(root):
    order = topological_order(root)
    for node in order:
        node.grad = np.zeros_like(node.value)
    root.grad = np.ones_like(root.value) / root.value.size
    for node in reversed(order):
        if node.back is not None:
            for parent, share in zip(node.parents, node.back(node.grad)):
                parent.grad = parent.grad + share
