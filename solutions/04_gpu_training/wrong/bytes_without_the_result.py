"""Fails flops-and-bytes-check: forgets that the result is written."""


def flops_and_bytes(op, a, b, backward=False, itemsize=4):
    if op == "multiply":
        y, each = a, 1
    elif op == "matmul":
        y, each = (a[0], b[1]), 2 * a[1]
    elif op == "conv":
        y = (a[0], b[0], a[2] - b[2] + 1, a[3] - b[3] + 1)
        each = 2 * b[1] * b[2] * b[3]
    else:
        raise ValueError(op)
    times = 2 if backward else 1
    moved = math.prod(a) + math.prod(b)
    return times * each * math.prod(y), times * moved * itemsize
