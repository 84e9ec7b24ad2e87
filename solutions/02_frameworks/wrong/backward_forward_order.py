"""Fails backward-check: walks from the inputs to the root."""


def backpropagate(root):
    order = topological_order(root)
    for node in order:
        node.grad = np.zeros_like(node.value)
    root.grad = np.ones_like(root.value)
    for node in order:
        if node.back is not None:
            for parent, share in zip(node.parents, node.back(node.grad)):
                parent.grad = parent.grad + share
