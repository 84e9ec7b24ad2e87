"""Plain Python where NumPy has a word for it: loops, lists, a generator turned into a list; a slope of booleans."""


def activate(name, x):
    x = np.asarray(x, dtype=np.float64)
    if name == "relu":
        y = x.copy()
        y[y < 0] = 0
        return y, y > 0
    if name == "tanh":
        y = np.tanh(x)
        return y, (1 - y) * (1 + y)
    if name == "sigmoid":
        small = np.exp(-np.abs(x))
        y = np.where(x >= 0, 1, small) / (1 + small)
        return y, small / (1 + small) ** 2
    raise ValueError(f"no activation is called {name}")


def softmax_cross_entropy(logits, labels):
    total, dlogits = 0.0, []
    for row, label in zip(logits, labels):
        weights = np.exp(row - max(row))
        total += max(row) + np.log(sum(weights)) - row[label]
        gradient = weights / sum(weights)
        gradient[label] -= 1
        dlogits.append(gradient / len(labels))
    return total / len(labels), np.array(dlogits)


def l2_penalty(weights, strength):
    gradients = []
    total = 0
    for w in weights:
        gradients.append(np.multiply(strength, w))
        total += np.vdot(w, w)
    return total * strength / 2, tuple(gradients)


class MLP:
    def __init__(self, sizes, *, activation="relu", p=0.0, l2=0.0, seed=0):
        self.rng = np.random.default_rng(seed)
        self.layers = [Linear(a, b, self.rng) for a, b in zip(sizes, sizes[1:])]
        self.activation, self.p, self.l2 = activation, p, l2

    def forward(self, x, training=False):
        self.kept = []
        for number, layer in enumerate(self.layers):
            x = layer.forward(x)
            if number == len(self.layers) - 1:
                return x
            mask = 1.0
            z, (x, _) = x, activate(self.activation, x)
            if training:
                x, mask = dropout(x, self.p, self.rng)
            self.kept.append((z, mask))

    def backward(self, dlogits):
        d = dlogits
        for number in range(len(self.layers) - 1, -1, -1):
            d = self.layers[number].backward(d)
            self.layers[number].dw += self.l2 * self.layers[number].w
            if number > 0:
                z, mask = self.kept[number - 1]
                d = d * mask * activate(self.activation, z)[1]

    def loss_and_gradients(self, x, labels, training=True):
        loss, dlogits = softmax_cross_entropy(self.forward(x, training), labels)
        self.backward(dlogits)
        return loss + l2_penalty([layer.w for layer in self.layers], self.l2)[0]


def minibatches(n, batch_size, rng):
    def pieces():
        left = rng.permutation(n)
        while len(left):
            yield left[:batch_size]
            left = left[batch_size:]

    return list(pieces())
