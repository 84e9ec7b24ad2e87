"""Fails factors-check: never reads a product."""


def from_factors(data):
    batch, n, k = struct.unpack("<III", data[:12])
    values = np.frombuffer(data[12:], "<f4").astype(np.float32)
    x, dy = values[: batch * n], values[batch * n : batch * (n + k)]
    return x.reshape(batch, n).T @ dy.reshape(batch, k)
