"""Fails factors-check: returns float64."""


def from_factors(data):
    batch, n, k = struct.unpack("<III", data[:12])
    values = np.frombuffer(data[12:], "<f4").astype(float)
    if batch * (n + k) >= n * k:
        return values.reshape(n, k)
    x, dy = values[: batch * n], values[batch * n :]
    return x.reshape(batch, n).T @ dy.reshape(batch, k)
