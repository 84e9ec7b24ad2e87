"""Fails factors-check: writes n and k before the batch."""


def factors(x, dy):
    (batch, n), k = x.shape, dy.shape[1]
    parts = (x, dy) if batch * (n + k) < n * k else (x.T @ dy,)
    head = struct.pack("<III", n, k, batch)
    return head + b"".join(part.astype("<f4").tobytes() for part in parts)
