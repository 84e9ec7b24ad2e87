"""Fails operators-check: multiplies entry by entry on the way back."""


def matmul(a, b):
    y = np.matmul(a.value, b.value)
    return Node(y, (a, b), "matmul", lambda g: (g * b.value, g * a.value))
