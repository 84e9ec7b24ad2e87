"""Fails conv-fft-check: fills images up to powers of two."""


def conv_fft(
    x,
    weights,
    forward=np.fft.rfft2,
    inverse=np.fft.irfft2,
):
    size = tuple(1 << (side - 1).bit_length() for side in x.shape[2:])
    r, s = weights.shape[2:]
    images = forward(x, size).transpose(2, 3, 0, 1)
    kernels = forward(weights, size).conj().transpose(2, 3, 1, 0)
    spectra = (images @ kernels).transpose(2, 3, 0, 1)
    h, w = x.shape[2:]
    y = inverse(spectra, size)[:, :, : h - r + 1, : w - s + 1]
    return y.astype(x.dtype)
