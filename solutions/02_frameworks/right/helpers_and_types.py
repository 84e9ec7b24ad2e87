"""Helpers of its own, other types that hold the same values, prints and a warning on the way: none of it costs anything."""

import warnings


def predictions():
    warnings.warn("guessing", stacklevel=2)
    return {
        "frozen base": np.float64(0.75),
        "from scratch": 0,
        "compiled, 1,000 numbers": 2,
        "compiled, 1,000,000 numbers": np.float32(0.25),
    }


def unbroadcast(gradient, shape):
    print("summing", gradient.shape, "to", shape)
    if gradient.shape == shape:
        return gradient
    if gradient.ndim > len(shape):
        return unbroadcast(gradient.sum(axis=0), shape)
    axis = next(
        k
        for k, (long, short) in enumerate(zip(gradient.shape, shape))
        if long != short
    )
    return unbroadcast(gradient.sum(axis=axis, keepdims=True), shape)


def relu(a):
    mask = (a.value > 0).astype(np.float64)
    return Node(a.value * mask, (a,), "relu", lambda g: (np.multiply(g, mask),))


def topological_order(root, seen=None):
    seen = {} if seen is None else seen
    for parent in root.parents:
        if parent not in seen:
            topological_order(parent, seen)
    seen[root] = True
    return list(seen)


def backpropagate(root):
    order = topological_order(root)
    for node in order:
        node.grad = 1.0 * (node is root) * np.ones(np.shape(node.value))
    for node in order[::-1]:
        shares = () if node.back is None else node.back(node.grad.copy())
        for parent, share in zip(node.parents, shares):
            parent.grad += share  # an array of its own, made above


class Layer(nn.Linear):
    def __init__(self, w, b):
        super().__init__(*w.shape)
        self.load_state_dict(
            {
                "weight": torch.tensor(w.T).float(),
                "bias": torch.tensor(b).float(),
            }
        )


class TorchNetwork(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.layers = nn.ModuleList(Layer(w, b) for w, b in weights)

    def forward(self, x):
        for number, layer in enumerate(self.layers):
            x = layer(x.clamp(min=0) if number else x)
        return x


def keras_network(weights):
    import keras

    model = keras.Sequential()
    model.add(keras.Input(shape=(weights[0][0].shape[0],), dtype="float32"))
    *hidden, last = [np.shape(b)[0] for _, b in weights]
    for width in hidden:
        model.add(
            keras.layers.Dense(int(width), activation=keras.activations.relu)
        )
    model.add(keras.layers.Dense(int(last), activation="linear"))
    model.set_weights([np.float32(array) for pair in weights for array in pair])
    return model


def readers_of(graph):
    found = {}
    for name, _, inputs, _ in graph:
        for i in inputs:
            found.setdefault(i, set()).add(name)
    return found


def plan_buffers(graph):
    readers, sizes = readers_of(graph), {step[0]: step[3] for step in graph}
    plan, free, number = {}, [], 0
    for name, kind, inputs, size in graph:
        if kind == "input":
            continue
        over = []
        for i in dict.fromkeys(inputs):
            readers[i].discard(name)
            if not readers[i] and i in plan:
                over.append((sizes[i], plan[i]))
        if is_elementwise(kind):
            free, over = free + over, []
        fitting = [entry for entry in free if entry[0] == size]
        if fitting:
            free.remove(fitting[0])
            plan[name] = fitting[0][1]
        else:
            plan[name] = number
            number += 1
        free += over
    return plan


def finetune(base, head, images, labels, **options):
    base.eval().requires_grad_(False)
    seen = images
    with torch.no_grad():
        for layer in base:
            seen = layer(seen)
    train(head, seen, labels, **options)
    model = nn.Sequential(base, head)
    model.train(False)
    return model
