"""Fails compute-dtype-check: casts float64 like anything else."""


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
    if not floating:
        return widest
    if op in products:
        return half
    return torch.float32 if op in wide else widest
