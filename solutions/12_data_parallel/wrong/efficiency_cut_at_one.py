"""Fails efficiency-check: hides what is above 100 %."""


def efficiency(devices, images, seconds):
    each = (
        np.asarray(images, float)
        / np.asarray(seconds, float)
        / np.asarray(devices, float)
    )
    return np.minimum(each / each[0], 1.0).tolist()
