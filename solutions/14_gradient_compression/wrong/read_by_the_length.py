"""Fails message-check, sparse-all-reduce-check: takes a long message for a dense one."""


def from_bytes(data):
    n, k = struct.unpack("<II", data[:8])
    if len(data) >= 8 + 2 * n:
        return np.frombuffer(data[8 : 8 + 4 * n], "<f4").astype(np.float32)
    x = np.zeros(n, np.float32)
    x[np.frombuffer(data[8 : 8 + 4 * k], "<u4")] = np.frombuffer(
        data[8 + 4 * k :], "<f4"
    )
    return x
