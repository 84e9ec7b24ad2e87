"""Fails operators-check: sets entries of the gradient that arrived to 0."""


def relu(a):
    y = np.maximum(a.value, 0.0)

    def back(g):
        g[y <= 0] = 0.0
        return (g,)

    return Node(y, (a,), "relu", back)
