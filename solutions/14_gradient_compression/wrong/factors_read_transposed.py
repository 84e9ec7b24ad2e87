"""Fails factors-check: returns the transpose."""


def from_factors(data):
    batch, n, k = struct.unpack("<III", data[:12])
    values = np.frombuffer(data[12:], "<f4").astype(np.float32)
    if batch * (n + k) >= n * k:
        return values.reshape(n, k)
    x, dy = values[: batch * n], values[batch * n :]
    return dy.reshape(batch, k).T @ x.reshape(batch, n)
