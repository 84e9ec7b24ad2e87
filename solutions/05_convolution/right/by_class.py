"""A match statement on the class that the text names."""

import math


def multiplications_and_workspace(algorithm, shape):
    match shape:
        case Shape(n=n, c=c, h=h, w=w, k=k, r=r, s=s):
            rows, columns = h - r + 1, w - s + 1
        case _:
            raise TypeError(f"{shape!r} is no Shape")

    def spectra(images, height, width):
        points, arrays = (
            height * (width // 2 + 1),
            images * c + k * c + images * k,
        )
        transforms = arrays * height * width * math.log2(height * width)
        return 4 * images * k * c * points + transforms, 8 * arrays * points

    match algorithm:
        case "direct":
            return n * k * c * rows * columns * r * s, 0
        case "im2col":
            seen = n * c * r * s * rows * columns
            return k * seen, 4 * seen
        case "FFT":
            return spectra(n, h, w)
        case "FFT tiles":
            tiles = math.ceil(rows / (17 - r)) * math.ceil(columns / (17 - s))
            return spectra(n * tiles, 16, 16)
    m = 2 if algorithm == "F(2,3)" else 4
    tiles = n * math.ceil(rows / m) * math.ceil(columns / m)
    points = (m + 2) ** 2
    return tiles * k * c * points, 4 * points * (tiles * c + k * c + tiles * k)
