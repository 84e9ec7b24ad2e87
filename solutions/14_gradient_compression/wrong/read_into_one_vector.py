"""Fails message-check: writes each vector into the same array."""


def from_bytes(data, found={}):
    n, k = struct.unpack("<II", data[:8])
    x = found.setdefault(n, np.zeros(n, np.float32))
    x[:] = 0
    if k == n:
        x[:] = np.frombuffer(data[8:], "<f4")
    else:
        x[np.frombuffer(data[8 : 8 + 4 * k], "<u4")] = np.frombuffer(
            data[8 + 4 * k :], "<f4"
        )
    return x
