"""Fails efficiency-check: divides the caller's numbers of images."""


def efficiency(devices, images, seconds):
    each = np.asarray(images, float)
    each /= np.asarray(seconds, float)
    each /= np.asarray(devices, float)
    return (each / each[0]).tolist()
