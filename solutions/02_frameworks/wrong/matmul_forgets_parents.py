"""Fails operators-check: records the value and the way back, but not where it came from."""


def matmul(a, b):
    y = a.value @ b.value
    return Node(y, (), "matmul", lambda g: (g @ b.value.T, a.value.T @ g))
