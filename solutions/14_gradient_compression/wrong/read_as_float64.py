"""Fails message-check, sparse-all-reduce-check: returns a vector of float64."""


def from_bytes(data):
    n, k = struct.unpack("<II", data[:8])
    if k == n:
        return np.frombuffer(data[8:], "<f4").astype(float)
    x = np.zeros(n)
    x[np.frombuffer(data[8 : 8 + 4 * k], "<u4")] = np.frombuffer(
        data[8 + 4 * k :], "<f4"
    )
    return x
