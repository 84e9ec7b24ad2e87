"""Fails factors-check: sends the factors of a large batch, too."""


def factors(x, dy):
    (batch, n), k = x.shape, dy.shape[1]
    parts = (x, dy) if True else (x.T @ dy,)
    head = struct.pack("<III", batch, n, k)
    return head + b"".join(part.astype("<f4").tobytes() for part in parts)
