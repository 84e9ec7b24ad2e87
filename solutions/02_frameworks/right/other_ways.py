"""The same functions written another way: loops, an iterative walk, np.dot, functional Keras, features batch by batch."""


def unbroadcast(gradient, shape):
    padded = (1,) * (gradient.ndim - len(shape)) + tuple(shape)
    for axis in range(gradient.ndim):
        if padded[axis] == 1 and gradient.shape[axis] != 1:
            gradient = np.sum(gradient, axis=axis, keepdims=True)
    return gradient.reshape(shape)


def matmul(a, b):
    def back(g):
        return np.einsum("nm,km->nk", g, b.value), np.dot(
            np.transpose(a.value), g
        )

    return Node(np.dot(a.value, b.value), [a, b], op="matmul", back=back)


def relu(a):
    return Node(
        np.where(a.value > 0, a.value, 0),
        [a],
        "relu",
        lambda g: [np.where(a.value > 0, g, 0)],
    )


def topological_order(root):
    order, done, stack = [], set(), [(root, iter(root.parents))]
    begun = {root}
    while stack:
        node, parents = stack[-1]
        for parent in parents:
            if parent not in begun:
                begun.add(parent)
                stack.append((parent, iter(parent.parents)))
                break
        else:
            stack.pop()
            done.add(node)
            order.append(node)
    return order


def backpropagate(root):
    shares = {id(root): [np.ones(root.value.shape)]}
    for node in topological_order(root)[::-1]:
        node.grad = sum(shares.get(id(node), []), np.zeros(node.value.shape))
        if node.back:
            for parent, share in zip(node.parents, node.back(node.grad)):
                shares.setdefault(id(parent), []).append(share)


class TorchNetwork(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.layers = nn.ModuleList([self.linear(w, b) for w, b in weights])

    @staticmethod
    def linear(w, b):
        layer = nn.Linear(w.shape[0], w.shape[1], bias=True)
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(w).t())
            layer.bias.copy_(torch.from_numpy(b))
        return layer

    def forward(self, x):
        *hidden, last = self.layers
        for layer in hidden:
            x = nn.functional.relu(layer(x))
        return last(x)


def keras_network(weights):
    import keras

    layers = [keras.layers.Input(shape=(weights[0][0].shape[0],))]
    for w, b in weights[:-1]:
        layers += [keras.layers.Dense(len(b)), keras.layers.ReLU()]
    layers.append(keras.layers.Dense(len(weights[-1][1])))
    model = keras.Sequential(layers)
    dense = [layer for layer in model.layers if layer.weights]
    for layer, (w, b) in zip(dense, weights):
        layer.set_weights([w, b])
    return model


def fuse_elementwise(graph):
    steps = [
        (name, kind, list(inputs), size) for name, kind, inputs, size in graph
    ]

    def pair():
        for second, (_, kind, inputs, _) in enumerate(steps):
            for first, (name, earlier, _, _) in enumerate(steps):
                alike = is_elementwise(kind) and is_elementwise(earlier)
                if (
                    alike
                    and name in inputs
                    and sum(name in step[2] for step in steps) == 1
                ):
                    return first, second
        return None

    while found := pair():
        first, second = found
        name, earlier, before, _ = steps[first]
        last, kind, inputs, size = steps[second]
        merged = before + [i for i in inputs if i != name]
        merged = list(dict.fromkeys(merged))
        steps[second] = [last, f"{earlier}+{kind}", merged, size]
        del steps[first]
    return steps


def plan_buffers(graph):
    last = {}
    for step, (_, _, inputs, _) in enumerate(graph):
        for i in inputs:
            last[i] = step
    buffers, plan = [], {}
    for step, (name, kind, inputs, size) in enumerate(graph):
        if kind == "input":
            continue
        for number, (length, busy_until) in enumerate(buffers):
            if length == size and (
                busy_until < step
                or (busy_until == step and is_elementwise(kind))
            ):
                plan[name] = number
                break
        else:
            plan[name] = len(buffers)
            buffers.append(None)
        buffers[plan[name]] = (size, last.get(name, len(graph)))
    return plan


def train(model, images, labels, *, epochs, lr, batch_size=32, seed=0):
    source = torch.Generator()
    source.manual_seed(seed)
    adam = torch.optim.Adam(
        filter(lambda p: p.requires_grad, model.parameters()), lr=lr
    )
    model.train(True)
    history = np.zeros(epochs)
    for epoch in range(epochs):
        order = torch.randperm(images.shape[0], generator=source)
        pieces = [
            order[k : k + batch_size] for k in range(0, len(order), batch_size)
        ]
        for rows in pieces:
            loss = nn.CrossEntropyLoss()(model(images[rows]), labels[rows])
            model.zero_grad(set_to_none=False)
            loss.backward()
            adam.step()
            history[epoch] += float(loss.detach()) / len(pieces)
    return history.tolist()


def finetune(base, head, images, labels, *, epochs, lr, batch_size=32, seed=0):
    for p in base.parameters():
        p.requires_grad = False
    model = nn.Sequential(base, head)
    model.eval()
    with torch.inference_mode(False), torch.no_grad():
        features = torch.cat(
            [base(piece) for piece in images.split(batch_size)]
        )
    train(
        head,
        features,
        labels,
        epochs=epochs,
        lr=lr,
        batch_size=batch_size,
        seed=seed,
    )
    head.eval()
    return model
