"""Fails factors-check: always sends the product."""


def factors(x, dy):
    (batch, n), k = x.shape, dy.shape[1]
    parts = (x, dy) if False else (x.T @ dy,)
    head = struct.pack("<III", batch, n, k)
    return head + b"".join(part.astype("<f4").tobytes() for part in parts)
