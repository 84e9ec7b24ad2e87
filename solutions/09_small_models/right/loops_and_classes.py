"""Loops over channels and axes, an autograd function, NumPy's own distances."""


def predictions():
    return {"faster": np.float64(1), "bits": np.int64(4), "smaller": 3}


def fold_batchnorm(w, gamma, beta, mean, var, eps):
    deviation = (var + eps) ** 0.5
    rows = [w[i] * (gamma[i] / deviation[i]) for i in range(len(w))]
    bias = beta - gamma * mean / deviation
    return torch.stack(rows).type_as(w), bias.type_as(w)


def calibrate(values, bits=8, percentile=100.0):
    v = np.asarray(values, np.float64).ravel()
    hi = max(np.percentile(v, percentile), 0)
    lo = min(np.percentile(v, 100 - percentile), 0)
    if hi == lo:
        return np.float32(1), -(2 ** (bits - 1))
    scale = (hi - lo) / (2**bits - 1)
    return scale, np.int64(np.rint(-(2 ** (bits - 1)) - lo / scale))


def int8_conv(q, zero, w, bias, m, k, zero_out):
    (n, _, h, width), (o, _, r, _) = q.shape, w.shape
    e = r // 2
    around = ((0, 0), (0, 0), (e, e), (e, e))
    wide = np.pad(q, around, constant_values=zero).astype(np.int32) - zero
    a = np.zeros((n, o, h, width), np.int64) + bias[:, None, None]
    for y in range(r):
        for x in range(r):
            part = wide[:, :, y : y + h, x : x + width]
            a += np.einsum(
                "nchw,oc->nohw", part, w[:, :, y, x].astype(np.int32)
            )
    half = np.left_shift(1, k - 1)
    y = np.right_shift(
        a * m[:, None, None] + half[:, None, None], k[:, None, None]
    )
    return np.minimum(np.maximum(y + zero_out, -128), 127).astype("int8")


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, zero, bits):
        q = (x / scale).round() + zero
        cut = q.clamp(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        ctx.save_for_backward(cut == q)
        return ((cut - zero) * scale).type_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.saved_tensors[0], None, None, None


def fake_quantize(x, scale, zero, bits):
    return Rounded.apply(x, scale, zero, bits)


def prune_channels(w1, per_channel, w2, keep):
    sums = w1.abs().sum(dim=(1, 2, 3))
    kept, _ = sums.topk(keep).indices.sort()
    parts = tuple(v.index_select(0, kept) for v in per_channel)
    return w1.index_select(0, kept), parts, w2.index_select(1, kept)


def distillation_loss(logits, teacher, labels, temperature, alpha):
    soft = functional.kl_div(
        functional.log_softmax(logits / temperature, dim=-1),
        functional.log_softmax(teacher.detach() / temperature, dim=-1),
        reduction="batchmean",
        log_target=True,
    )
    picked = functional.log_softmax(logits, dim=-1)[range(len(labels)), labels]
    return (
        alpha * temperature * temperature * soft - (1 - alpha) * picked.mean()
    )


def synthetic(x, p, s, draw):
    near = []
    for i in range(len(x)):
        away = ((x - x[i]) ** 2).reshape(len(x), -1).sum(axis=1)
        away[i] = np.inf
        near.append(x[away.argmin()])
    changes = draw.random(x.shape) < p
    noise = draw.normal(0.0, 1.0, x.shape)
    new = x.astype(float)
    new[changes] = (np.array(near) + abs(x - np.array(near)) * noise / s)[
        changes
    ]
    return new


def contract(x, factors):
    for axis, factor in enumerate(factors):
        x = torch.tensordot(x, factor, dims=([1], [1]))
    return x
