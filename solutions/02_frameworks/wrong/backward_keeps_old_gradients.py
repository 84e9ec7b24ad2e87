"""Fails backward-check: takes a root that has a gradient from another call for one that is done."""


def backpropagate(root):
    if root.grad is not None:
        return
    order = topological_order(root)
    for node in order:
        node.grad = np.zeros_like(node.value)
    root.grad = np.ones_like(root.value)
    for node in reversed(order):
        if node.back is not None:
            for parent, share in zip(node.parents, node.back(node.grad)):
                parent.grad = parent.grad + share
