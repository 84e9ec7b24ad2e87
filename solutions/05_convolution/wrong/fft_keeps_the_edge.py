"""Fails conv-fft-check: returns the results that the edge touches, too."""


def conv_fft(
    x,
    weights,
    forward=np.fft.rfft2,
    inverse=np.fft.irfft2,
):
    size = x.shape[2:]
    images = forward(x, size).transpose(2, 3, 0, 1)
    kernels = forward(weights, size).conj().transpose(2, 3, 1, 0)
    spectra = (images @ kernels).transpose(2, 3, 0, 1)
    y = inverse(spectra, size)
    return y.astype(x.dtype)
