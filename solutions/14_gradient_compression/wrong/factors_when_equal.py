"""Fails factors-check: sends factors where both are equally long."""


def factors(x, dy):
    (batch, n), k = x.shape, dy.shape[1]
    parts = (x, dy) if batch * (n + k) <= n * k else (x.T @ dy,)
    head = struct.pack("<III", batch, n, k)
    return head + b"".join(part.astype("<f4").tobytes() for part in parts)
