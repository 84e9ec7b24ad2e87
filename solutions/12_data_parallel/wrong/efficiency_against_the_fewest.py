"""Fails efficiency-check: takes the entry with the fewest devices for the reference."""


def efficiency(devices, images, seconds):
    each = (
        np.asarray(images, float)
        / np.asarray(seconds, float)
        / np.asarray(devices, float)
    )
    return (each / each[int(np.argmin(devices))]).tolist()
