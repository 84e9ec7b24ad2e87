"""Fails compute-dtype-check: the widest input is sought from `half` on: relu of bfloat16 under autocast to float16 becomes float32."""


def compute_dtype(
    op: str, dtypes: list[torch.dtype], half=torch.float16
) -> torch.dtype:
    narrow = {"linear", "matmul", "bmm", "conv2d"}
    wide = {"sum", "norm", "cumsum", "layer_norm", "exp", "log", "pow"}
    wide |= {"softmax", "log_softmax", "cross_entropy", "mse_loss"}
    floats = [d for d in dtypes if d.is_floating_point]
    if not floats:
        return functools.reduce(torch.promote_types, dtypes)
    if torch.float64 in floats:
        return torch.float64
    if op in narrow:
        return half
    if op in wide:
        return torch.float32
    widest = half
    for dtype in floats:
        widest = torch.promote_types(widest, dtype)
    return widest
