"""Fails operators-check: lets the gradient through at 0."""


def relu(a):
    y = np.maximum(a.value, 0.0)
    return Node(y, (a,), "relu", lambda g: (g * (a.value >= 0),))
