"""Fails backward-check: adds to what an earlier call has left."""


def backpropagate(root):
    order = topological_order(root)
    for node in order:
        if node.grad is None:
            node.grad = np.zeros_like(node.value)
    root.grad = np.ones_like(root.value)
    for node in reversed(order):
        if node.back is not None:
            for parent, share in zip(node.parents, node.back(node.grad)):
                parent.grad = parent.grad + share
