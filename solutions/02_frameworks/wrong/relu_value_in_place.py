"""Fails operators-check: rectifies the value of its parent."""


def relu(a):
    a.value[a.value < 0] = 0.0
    return Node(a.value, (a,), "relu", lambda g: (g * (a.value > 0),))
