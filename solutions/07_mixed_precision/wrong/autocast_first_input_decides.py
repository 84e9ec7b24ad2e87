"""Fails compute-dtype-check: takes the dtype of the first input where the widest is asked for."""


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
    if not floating:
        return functools.reduce(torch.promote_types, dtypes)
    if op in products:
        return half
    return torch.float32 if op in wide else floating[0]
