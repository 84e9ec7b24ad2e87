"""Fails message-check, sparse-all-reduce-check: reads every message as a sparse one."""


def from_bytes(data):
    n, k = struct.unpack("<II", data[:8])
    x = np.zeros(n, np.float32)
    places = np.frombuffer(data[8 : 8 + 4 * k], "<u4")
    x[places[places < n]] = np.frombuffer(data[8 + 4 * k :], "<f4")[:k][
        : len(places[places < n])
    ]
    return x
