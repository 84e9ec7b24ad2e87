"""Fails backward-check: adds into the first share that came, which the other parent of an add may hold, too."""


def backpropagate(root):
    order = topological_order(root)
    for node in order:
        node.grad = None
    root.grad = np.ones_like(root.value)
    for node in reversed(order):
        if node.back is not None:
            for parent, share in zip(node.parents, node.back(node.grad)):
                if parent.grad is None:
                    parent.grad = share
                else:
                    parent.grad += share
