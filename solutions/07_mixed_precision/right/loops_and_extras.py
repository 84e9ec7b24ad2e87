"""Loops and counters, tensors changed in place, NumPy numbers, helpers, and a warning printed on the way."""

import math
import warnings


def _share(lost, total):
    return lost / total if total else 0.0


def underflow_fraction(gradients, scale=1.0):
    lost = total = 0
    for g in gradients:
        for value in g.flatten().tolist():
            if value != 0.0:
                total += 1
                lost += (
                    float(torch.tensor(value * scale).to(torch.float16)) == 0.0
                )
    return _share(lost, total)


class DynamicLossScaler:
    def unscale(self, gradients):
        wide = []
        found = False
        for g in gradients:
            copy = g.to(torch.float32, copy=True)
            found = found or any(
                not math.isfinite(value) for value in copy.flatten().tolist()
            )
            copy *= 1.0 / self.scale
            wide.append(copy)
        return wide, found

    def update(self, found_inf):
        self.good_steps = 0 if found_inf else self.good_steps + 1
        if found_inf:
            self.scale = (
                self.scale * 0.5
                if self.scale * 0.5 > self.lowest
                else self.lowest
            )
        elif self.good_steps >= self.growth_interval:
            self.good_steps = 0
            self.scale = (
                self.scale * 2.0
                if self.scale * 2.0 < self.highest
                else self.highest
            )


class MasterWeightSGD:
    def __init__(self, weights, lr, momentum=0.9, dtype=torch.float16):
        self.lr, self.momentum, self.dtype = lr, momentum, dtype
        self.master, self.velocity = [], []
        for w in weights:
            self.master.append(torch.tensor(w.tolist(), dtype=torch.float32))
            self.velocity.append(torch.zeros(w.shape))

    def step(self, gradients):
        for w, v, g in zip(self.master, self.velocity, gradients):
            v.mul_(self.momentum)
            v.add_(g.to(torch.float32))
            w.add_(v, alpha=-self.lr)
        return [torch.clone(w).type(self.dtype) for w in self.master]


def mean_and_variance(x):
    means, variances = [], []
    for row in x.double():
        means.append(row.sum() / len(row))
        variances.append(((row - means[-1]) ** 2).sum() / len(row))
    return torch.stack(means).float()[:, None], torch.stack(variances).float()[
        :, None
    ]


def predictions():
    warnings.warn("guessing", stacklevel=2)
    return {
        "all bfloat16": -1,
        "updates lost": torch.tensor(0.5).item(),
        "gradients lost": 1,
    }


def compute_dtype(op, dtypes, half=torch.float16):
    widest = None
    for dtype in dtypes:
        if dtype == torch.float64:
            return dtype
        if dtype.is_floating_point:
            widest = (
                dtype if widest is None or widest == dtype else torch.float32
            )
    if widest is None:
        return max(dtypes, key=lambda d: d.itemsize)
    if op in ["linear", "matmul", "bmm", "conv2d"]:
        return half
    if op in ("sum", "norm", "cumsum", "layer_norm", "exp", "log", "pow"):
        return torch.float32
    if "softmax" in op or op == "cross_entropy" or op.endswith("_loss"):
        return torch.float32
    return widest


def train_step(net, optimizer, scaler, images, labels, dtype, max_norm=1.0):
    for p in net.parameters():
        p.grad = None
    if dtype == torch.float32:
        log_p = nn.functional.log_softmax(net(images), dim=1)
    else:
        with torch.autocast("cpu", dtype=dtype):
            logits = net(images)
        log_p = nn.functional.log_softmax(logits.float(), dim=1)
    loss = -log_p[torch.arange(len(labels)), labels].mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    total = torch.sqrt(sum((p.grad**2).sum() for p in net.parameters()))
    if total > max_norm:
        for p in net.parameters():
            p.grad *= max_norm / total
    scaler.step(optimizer)
    scaler.update()
    return float(loss)


def keras_model(policy):
    import keras

    inputs = keras.Input(shape=(64,))
    hidden = keras.layers.Dense(128, dtype=keras.DTypePolicy(policy))(inputs)
    hidden = keras.layers.Activation("relu", dtype=policy)(hidden)
    return keras.Model(
        inputs, keras.layers.Dense(10, dtype="float32", name="logits")(hidden)
    )
