"""Fails operators-check: multiplies by the factors as they are; equal square shapes hide it."""


def matmul(a, b):
    y = a.value @ b.value
    return Node(y, (a, b), "matmul", lambda g: (g @ b.value, a.value @ g))
