"""Fails operators-check: returns the gradients in the wrong order."""


def matmul(a, b):
    y = a.value @ b.value
    return Node(y, (a, b), "matmul", lambda g: (a.value.T @ g, g @ b.value.T))
