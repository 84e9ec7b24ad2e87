"""Fails compute-dtype-check: leaves softmax and log_softmax in 16 bits."""


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
    wide -= {"softmax", "log_softmax"}
    floating = [d for d in dtypes if d.is_floating_point]
    widest = functools.reduce(torch.promote_types, floating or dtypes)
    if widest == torch.float64 or not floating:
        return widest
    if op in products:
        return half
    return torch.float32 if op in wide else widest
