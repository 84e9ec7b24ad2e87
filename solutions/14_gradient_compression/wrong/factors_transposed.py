"""Fails factors-check: sends the product's transpose."""


def factors(x, dy):
    (batch, n), k = x.shape, dy.shape[1]
    parts = (x, dy) if batch * (n + k) < n * k else (dy.T @ x,)
    head = struct.pack("<III", batch, n, k)
    return head + b"".join(part.astype("<f4").tobytes() for part in parts)
