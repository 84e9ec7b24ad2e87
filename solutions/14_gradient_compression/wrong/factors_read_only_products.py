"""Fails factors-check: never multiplies factors."""


def from_factors(data):
    _, n, k = struct.unpack("<III", data[:12])
    return np.frombuffer(data[12:], "<f4").astype(np.float32).reshape(n, k)
