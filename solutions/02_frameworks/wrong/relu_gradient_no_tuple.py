"""Fails operators-check: returns the gradient itself and no tuple."""


def relu(a):
    y = np.maximum(a.value, 0.0)
    return Node(y, (a,), "relu", lambda g: g * (y > 0))
