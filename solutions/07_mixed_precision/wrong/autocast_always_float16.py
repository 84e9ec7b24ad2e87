"""Fails compute-dtype-check: returns float16 for products also where bfloat16 was asked for."""


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
    if torch.float64 in dtypes:
        return torch.float64
    floating = [d for d in dtypes if d.is_floating_point]
    widest = functools.reduce(torch.promote_types, floating or dtypes)
    if not floating:
        return widest
    if op in products:
        return torch.float16
    return torch.float32 if op in wide else widest
