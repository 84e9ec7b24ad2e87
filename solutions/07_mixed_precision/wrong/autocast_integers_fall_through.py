"""Fails compute-dtype-check: does not expect that only integers come in."""


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
    if torch.float64 in floating:
        return torch.float64
    if op in products:
        return half
    if op in wide:
        return torch.float32
    return max(floating, key=lambda d: d.itemsize)
