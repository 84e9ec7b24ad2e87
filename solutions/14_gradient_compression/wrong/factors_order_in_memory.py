"""Fails factors-check: writes numbers as they stand in memory."""


def factors(x, dy):
    (batch, n), k = x.shape, dy.shape[1]
    parts = (x, dy) if batch * (n + k) < n * k else (x.T @ dy,)
    head = struct.pack("<III", batch, n, k)
    return head + b"".join(
        part.astype("<f4").tobytes(order="A") for part in parts
    )
