"""Fails conv-fft-check: lets the inverse guess the width."""


def conv_fft(
    x,
    weights,
    forward=np.fft.rfft2,
    inverse=np.fft.irfft2,
):
    size, (r, s) = x.shape[2:], weights.shape[2:]
    images = forward(x, size).transpose(2, 3, 0, 1)
    kernels = forward(weights, size).conj().transpose(2, 3, 1, 0)
    spectra = (images @ kernels).transpose(2, 3, 0, 1)
    y = inverse(spectra, None)[:, :, : size[0] - r + 1, : size[1] - s + 1]
    return y.astype(x.dtype)
