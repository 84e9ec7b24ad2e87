"""Fails multiplications-and-workspace-check: transforms kernels for each tile again."""


def multiplications_and_workspace(algorithm, shape):
    n, c, h, w, k, r, s = shape
    rows, columns = h - r + 1, w - s + 1

    def by_spectra(n, h, w):
        each, many = h * (w // 2 + 1), n * c + k * c + n * k
        transforms = many * h * w * math.log2(h * w)
        return 4 * n * k * c * each + transforms, 8 * many * each

    if algorithm == "direct":
        return n * k * c * rows * columns * r * s, 0
    if algorithm == "im2col":
        seen = n * c * r * s * rows * columns
        return k * seen, 4 * seen
    if algorithm == "FFT":
        return by_spectra(n, h, w)
    if algorithm == "FFT tiles":
        tiles = math.ceil(rows / (17 - r)) * math.ceil(columns / (17 - s))
        return by_spectra(n * tiles, 16, 16)
    m = int(algorithm[2])
    tiles = n * math.ceil(rows / m) * math.ceil(columns / m)
    entries = tiles * c + tiles * k * c + tiles * k
    return tiles * k * c * (m + 2) ** 2, 4 * entries * (m + 2) ** 2
