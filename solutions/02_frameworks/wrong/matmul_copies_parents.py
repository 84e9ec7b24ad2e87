"""Fails operators-check: records new nodes with the parents' values, which no gradient leads on from."""


def matmul(a, b):
    y = a.value @ b.value
    parents = Node(a.value), Node(b.value)
    return Node(y, parents, "matmul", lambda g: (g @ b.value.T, a.value.T @ g))
