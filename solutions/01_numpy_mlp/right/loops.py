"""Plain Python where NumPy has a word for it: loops, lists, a generator turned into a list, numbers of other types."""


def activate(name, x):
    x = np.asarray(x, dtype=np.float64)
    y = np.empty_like(x)
    slope = np.empty_like(x)
    for index in np.ndindex(x.shape):
        value = float(x[index])
        if name == "relu":
            y[index], slope[index] = max(value, 0), value > 0
        elif name == "tanh":
            y[index] = np.tanh(value)
            slope[index] = 1 - y[index] ** 2
        elif name == "sigmoid":
            small = np.exp(-abs(value))
            y[index] = 1 / (1 + small) if value >= 0 else small / (1 + small)
            slope[index] = y[index] * (1 - y[index])
        else:
            raise ValueError(f"no activation is called {name}")
    return y, slope


def softmax_cross_entropy(logits, labels):
    total, dlogits = 0.0, np.zeros(logits.shape)
    for i, row in enumerate(logits):
        weights = [np.exp(z - max(row)) for z in row]
        total += max(row) + np.log(sum(weights)) - row[labels[i]]
        for j, weight in enumerate(weights):
            dlogits[i, j] = (weight / sum(weights) - (j == labels[i])) / len(logits)
    return total / len(logits), dlogits


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
