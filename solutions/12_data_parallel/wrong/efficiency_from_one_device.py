"""Fails efficiency-check: takes the first entry for a single device."""


def efficiency(devices, images, seconds):
    rate = np.asarray(images, float) / np.asarray(seconds, float)
    return (rate / rate[0] / np.asarray(devices)).tolist()
