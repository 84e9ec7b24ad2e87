"""The same functions written another way: einsum, boolean masks, a flat loop, in-place memory, an iterator."""

import itertools


def activate(name, x):
    x = np.asarray(x, dtype=np.float64)
    functions = {
        "relu": lambda v: (v * (v > 0), 1.0 * (v > 0)),
        "tanh": lambda v: (np.tanh(v), np.cosh(np.clip(v, -300, 300)) ** -2.0),
        "sigmoid": lambda v: (
            np.exp(-np.logaddexp(0, -v)),
            np.exp(-np.logaddexp(0, -v) - np.logaddexp(0, v)),
        ),
    }
    if name not in functions:
        raise ValueError(f"{name} is not one of {sorted(functions)}")
    return functions[name](x)


def softmax_cross_entropy(logits, labels):
    n, k = logits.shape
    target = np.eye(k)[labels]
    top = logits.max(axis=1)
    log_z = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
    loss = (log_z - (target * logits).sum(axis=1)).sum() / n
    return loss, (np.exp(logits - log_z[:, None]) - target) / n


def numeric_gradient(f, x, step=1e-5):
    x = np.asarray(x, dtype=float)
    moves = np.eye(x.size).reshape(x.size, *x.shape) * step
    return np.array(
        [(f(x + e) - f(x - e)) / (2 * step) for e in moves]
    ).reshape(x.shape)


class Linear:
    def __init__(self, n_in, n_out, rng):
        self.w = rng.normal(0.0, np.sqrt(2.0 / n_in), size=(n_in, n_out))
        self.b = np.zeros(n_out)

    def forward(self, x):
        self.x = np.array(x)
        return np.einsum("ni,io->no", x, self.w) + self.b[None, :]

    def backward(self, dy):
        self.dw = np.einsum("ni,no->io", self.x, dy)
        self.db = np.ones(len(dy)) @ dy
        return np.einsum("no,io->ni", dy, self.w)


def l2_penalty(weights, strength):
    flat = (
        np.concatenate([np.ravel(w) for w in weights])
        if weights
        else np.zeros(0)
    )
    return strength * (flat @ flat) / 2, [w * strength for w in weights]


def dropout(x, p, rng):
    keep = ~(rng.random(x.shape) < p)
    mask = np.where(keep, 1 / (1 - p), 0.0)
    return np.where(keep, x / (1 - p), 0.0), mask


class MLP:
    def __init__(self, sizes, *, activation="relu", p=0.0, l2=0.0, seed=0):
        self.rng = np.random.default_rng(seed)
        self.layers = [
            Linear(*pair, self.rng) for pair in itertools.pairwise(sizes)
        ]
        self.activation, self.p, self.l2 = activation, p, l2

    def forward(self, x, training=False):
        self.back = []
        *hidden, last = self.layers
        for layer in hidden:
            x, factor = activate(self.activation, layer.forward(x))
            if training and self.p > 0:
                x, mask = dropout(x, self.p, self.rng)
                factor = factor * mask
            self.back.append((layer, factor))
        return last.forward(x)

    def backward(self, dlogits):
        d = self.layers[-1].backward(dlogits)
        while self.back:
            layer, factor = self.back.pop()
            d = layer.backward(d * factor)
        for layer in self.layers:
            layer.dw += self.l2 * layer.w

    def loss_and_gradients(self, x, labels, training=True):
        loss, dlogits = softmax_cross_entropy(self.forward(x, training), labels)
        self.backward(dlogits)
        return loss + l2_penalty([layer.w for layer in self.layers], self.l2)[0]


def momentum_step(w, g, v, lr, momentum=0.9):
    new = np.multiply(v, momentum)
    new += g
    return w - lr * new, new


def adam_step(w, g, m, v, t, lr, beta1=0.9, beta2=0.999, eps=1e-8):
    m = m + (1 - beta1) * (g - m)
    v = v + (1 - beta2) * (g * g - v)
    rate = lr * np.sqrt(1 - beta2**t) / (1 - beta1**t)
    return w - rate * m / (np.sqrt(v) + eps * np.sqrt(1 - beta2**t)), m, v


def minibatches(n, batch_size, rng):
    order = rng.permutation(n)
    return np.split(order, range(batch_size, n, batch_size))


def fit(
    model,
    x,
    labels,
    *,
    epochs,
    lr,
    batch_size=32,
    optimizer="adam",
    seed=0,
    validation=None,
):
    rng, state, steps = np.random.default_rng(seed), {}, itertools.count(1)
    loss, scores = [], []
    while len(loss) < epochs:
        total = [
            (
                model.loss_and_gradients(x[b], labels[b]),
                update(model, optimizer, lr, next(steps), state),
            )[0]
            for b in minibatches(len(x), batch_size, rng)
        ]
        loss.append(sum(total) / len(total))
        if validation:
            scores.append(accuracy(model, *validation))
    return {"loss": loss, "validation": scores}
