"""Other library calls: counting with sum, foreach and lerp-free updates, var_mean, dictionaries, a Keras model unbuilt as yet."""


def underflow_fraction(gradients, scale=1.0):
    before = sum(int(g.count_nonzero()) for g in gradients)
    after = sum(
        int((scale * g).to(torch.float16).count_nonzero()) for g in gradients
    )
    return (before - after) / max(before, 1)


class DynamicLossScaler:
    def __init__(
        self, scale=2.0**16, growth_interval=50, lowest=1.0, highest=2.0**40
    ):
        self.scale, self.growth_interval = scale, growth_interval
        self.lowest, self.highest = lowest, highest
        self.good_steps = 0

    def unscale(self, gradients):
        unscaled = tuple(
            torch.div(g.to(dtype=torch.float32), self.scale) for g in gradients
        )
        total = torch.stack([g.abs().sum() for g in unscaled]).sum()
        return unscaled, not torch.isfinite(total).item()

    def update(self, found_inf):
        if not found_inf:
            self.good_steps = (self.good_steps + 1) % self.growth_interval
            grow = self.good_steps == 0
        factor = 0.5 if found_inf else 2.0 if grow else 1.0
        self.scale = min(max(self.scale * factor, self.lowest), self.highest)
        if found_inf:
            self.good_steps = 0


class MasterWeightSGD:
    def __init__(self, weights, lr, momentum=0.9, dtype=torch.float16):
        self.lr, self.momentum, self.dtype = lr, momentum, dtype
        self.master = [
            torch.nn.Parameter(w.detach().clone().float()) for w in weights
        ]
        self.velocity = [0.0 * w.detach() for w in self.master]

    def step(self, gradients):
        with torch.no_grad():
            wide = [g.float() for g in gradients]
            self.velocity = [
                self.momentum * v + g for v, g in zip(self.velocity, wide)
            ]
            torch._foreach_add_(self.master, self.velocity, alpha=-self.lr)
            return [w.to(self.dtype, copy=True) for w in self.master]


def mean_and_variance(x):
    variance, mean = torch.var_mean(
        x.to(torch.float32), dim=-1, keepdim=True, unbiased=False
    )
    return mean, variance


CLASSES = {
    **dict.fromkeys(("linear", "matmul", "bmm", "conv2d"), "narrow"),
    **dict.fromkeys(
        ("sum", "norm", "cumsum", "layer_norm", "exp", "log", "pow"), "wide"
    ),
    **dict.fromkeys(
        ("softmax", "log_softmax", "cross_entropy", "mse_loss"), "wide"
    ),
}


def compute_dtype(op, dtypes, half=torch.float16):
    numbers = [torch.zeros((), dtype=d) for d in dtypes if d.is_floating_point]
    if not numbers:
        return sum(torch.zeros(1, dtype=d) for d in dtypes).dtype
    widest = sum(numbers[1:], numbers[0]).dtype
    kind = CLASSES.get(op, "rest") if widest != torch.float64 else "rest"
    return {"narrow": half, "wide": torch.float32, "rest": widest}[kind]


def train_step(net, optimizer, scaler, images, labels, dtype, max_norm=1.0):
    net.train()
    context = torch.autocast(
        device_type="cpu", dtype=dtype, enabled=dtype is not torch.float32
    )
    with context:
        logits = net(images)
        loss = nn.CrossEntropyLoss()(logits, labels)
    optimizer.zero_grad(set_to_none=False)
    scaled = scaler.scale(loss)
    scaled.backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(list(net.parameters()), max_norm=max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach().float()


def keras_model(policy):
    import keras

    model = keras.Sequential()
    model.add(keras.layers.Dense(128, "relu", dtype=policy))
    model.add(keras.layers.Dense(10, dtype="float32"))
    return model
