"""Fails factors-check: divides the product by the batch."""


def factors(x, dy):
    (batch, n), k = x.shape, dy.shape[1]
    parts = (x, dy) if batch * (n + k) < n * k else (x.T @ dy / max(batch, 1),)
    head = struct.pack("<III", batch, n, k)
    return head + b"".join(part.astype("<f4").tobytes() for part in parts)
