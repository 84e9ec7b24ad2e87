"""Fails compute-dtype-check: plays it safe: whatever is no product computes in float32."""


def compute_dtype(op, dtypes, half=torch.float16):
    products = {"linear", "matmul", "bmm", "conv2d"}
    wide = {
        "sum",
        "norm",
        "cumsum",
        "layer_norm",
        "exp",
        "log",
        "pow",
        "softmax",
        "log_softmax",
    }
    wide |= {"cross_entropy", "mse_loss"}
    floating = [d for d in dtypes if d.is_floating_point]
    widest = functools.reduce(torch.promote_types, floating or dtypes)
    if widest == torch.float64 or not floating:
        return widest
    return half if op in products else torch.float32
