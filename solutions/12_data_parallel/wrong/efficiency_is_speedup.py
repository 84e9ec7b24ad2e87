"""Fails efficiency-check: returns the speed-up, not divided by the devices."""


def efficiency(devices, images, seconds):
    rate = np.asarray(images, float) / np.asarray(seconds, float)
    return (rate / rate[0]).tolist()
