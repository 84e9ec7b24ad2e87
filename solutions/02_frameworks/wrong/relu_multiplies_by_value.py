"""Fails operators-check: multiplies the gradient by the value instead of by 1 or 0."""


def relu(a):
    y = np.maximum(a.value, 0.0)
    return Node(y, (a,), "relu", lambda g: (g * y,))
