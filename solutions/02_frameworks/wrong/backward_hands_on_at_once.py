"""Fails backward-check: hands a share on as soon as it comes, once for each path."""


def backpropagate(root):
    for node in topological_order(root):
        node.grad = np.zeros_like(node.value)

    def send(node, gradient):
        node.grad = node.grad + gradient
        if node.back is not None:
            for parent, share in zip(node.parents, node.back(gradient)):
                send(parent, share)

    send(root, np.ones_like(root.value))
