"""Fails compute-dtype-check: treats the third class like products, so relu of float32 becomes 16 bits wide."""


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
    products.add(op)
    if torch.float64 in dtypes:
        return torch.float64
    floating = [d for d in dtypes if d.is_floating_point]
    if not floating:
        return functools.reduce(torch.promote_types, dtypes)
    return (
        torch.float32 if op in wide else half if op in products else dtypes[0]
    )
