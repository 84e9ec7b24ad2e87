"""Draw grey 28 x 28 images of letters and digits from the fonts that come with matplotlib."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FONTS", "SIDE", "Warp", "generate", "prototypes"]

# Fonts whose glyphs for A-Z and 0-9 are just those. Left out: symbol and size variants that lack them (STIXNonUni*,
# STIXSiz*, DejaVu*Display), and fonts that draw something else at those codes (cmex10, cmsy10, cmmi10, LastResortHE).
FONTS = (
    *(f"DejaVuSans{style}" for style in ("", "-Bold", "-Oblique", "-BoldOblique")),
    *(f"DejaVuSansMono{style}" for style in ("", "-Bold", "-Oblique", "-BoldOblique")),
    *(f"DejaVuSerif{style}" for style in ("", "-Bold", "-Italic", "-BoldItalic")),
    *(f"STIXGeneral{style}" for style in ("", "Bol", "Italic", "BolIta")),
    *(f"cm{style}10" for style in ("r", "b", "ss", "ti", "tt")),
)
SIDE = 28  # pixels of an image's side
_GRID = 2  # prototype pixels for each pixel of an image
_BOX = 18  # pixels of a glyph's longer side before it is scaled
_KNOTS = 4  # knots a side of the elastic displacement
_CHUNK = 256  # images warped at once, so that what they need fits in the cache


@dataclass(frozen=True)
class Warp:
    """How far an image departs from its font; the first four are limits of uniform draws, the last two deviations."""

    rotation_deg: float = 12.0
    scale: tuple[float, float] = (0.9, 1.25)
    shift_px: float = 2.0  # in each direction
    shear: float = 0.2  # pixels to the side for each pixel up
    elastic: float = 0.03  # of a smooth displacement, in image sides
    noise: float = 0.2  # of grey values in [0, 1]


def generate(
    alphabet: str, *, per_class: int, seed: int | np.random.SeedSequence, warp: Warp | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return n = per_class * len(alphabet) shuffled images, uint8 (n, 28, 28), and their labels, int64 (n,).

    A label is a position in `alphabet`; an image's font is drawn at random. The same arguments give the same bytes as
    long as NumPy and matplotlib (and its FreeType) stay the same.
    """
    warp = warp or Warp()
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(alphabet)), per_class))
    fonts = rng.integers(len(FONTS), size=labels.size)
    maps = _maps(warp, labels.size, rng)
    glyphs = prototypes(alphabet)
    images = np.empty((labels.size, SIDE, SIDE), np.uint8)
    for start in range(0, labels.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        grey = _sample(glyphs, labels[part] * len(FONTS) + fonts[part], maps[part] @ _basis())
        grey += np.float32(255 * warp.noise) * rng.standard_normal(grey.shape, np.float32)
        images[part] = np.rint(grey.clip(0, 255)).reshape(-1, SIDE, SIDE)
    return images, labels


def prototypes(alphabet: str) -> NDArray[np.uint8]:
    """Return each character in each font, centred, uint8 of shape (len(alphabet), len(FONTS), 56, 56)."""
    from matplotlib import get_data_path
    from matplotlib.ft2font import FT2Font

    side = SIDE * _GRID
    glyphs = np.zeros((len(alphabet), len(FONTS), side, side), np.uint8)
    for column, name in enumerate(FONTS):
        font = FT2Font(str(Path(get_data_path(), "fonts", "ttf", f"{name}.ttf")))
        for row, character in enumerate(alphabet):
            ink = _render(font, character)
            top, left = (side - ink.shape[0]) // 2, (side - ink.shape[1]) // 2
            glyphs[row, column, top : top + ink.shape[0], left : left + ink.shape[1]] = ink
    return glyphs


def _render(font: Any, character: str) -> NDArray[np.uint8]:
    """Return one glyph's ink with a longer side of `_BOX * _GRID` pixels; hints would bend the outline at that size."""
    from matplotlib.ft2font import LoadFlags

    font.set_size(100, 72)
    outline = font.load_char(ord(character), flags=LoadFlags.NO_HINTING)
    points_per_em = 100 * 64 * _BOX * _GRID / max(outline.width, outline.height)  # outlines count 1/64 pixels
    font.set_size(points_per_em, 72)
    font.set_text(character, 0, flags=LoadFlags.NO_HINTING)
    font.draw_glyphs_to_bitmap(antialiased=True)
    return np.array(font.get_image(), np.uint8)


def _maps(warp: Warp, n: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Return what takes `_basis` to the row and column in the prototype, shape (n, 2, 3 + knots)."""
    angle = np.deg2rad(rng.uniform(-warp.rotation_deg, warp.rotation_deg, n))
    zoom = _GRID / rng.uniform(*warp.scale, n)
    shear = rng.uniform(-warp.shear, warp.shear, n)
    shift = rng.uniform(-warp.shift_px, warp.shift_px, (n, 2, 1))
    cos, sin = np.cos(angle), np.sin(angle)
    # Image to prototype, so the inverse: rotate back, shear back, then zoom.
    linear = np.array([[cos, -sin], [sin + shear * cos, cos - shear * sin]]).transpose(2, 0, 1) * zoom[:, None, None]
    offset = (SIDE * _GRID - 1) / 2 - linear @ shift
    knots = warp.elastic * SIDE * _GRID * rng.standard_normal((n, 2, _KNOTS**2))
    return np.concatenate([linear, offset, knots], axis=2).astype(np.float32)


def _basis() -> NDArray[np.float32]:
    """Return centred row, column and 1, then a tent function for each knot, at each pixel, shape (3 + knots, 784)."""
    pixel = np.arange(SIDE) - (SIDE - 1) / 2
    rows, columns = (axis.ravel() for axis in np.meshgrid(pixel, pixel, indexing="ij"))
    place = np.linspace(0, _KNOTS - 1, SIDE)
    tent = np.clip(1 - abs(place - np.arange(_KNOTS)[:, None]), 0, None)
    return np.concatenate([[rows, columns, np.ones(SIDE**2)], np.kron(tent, tent)]).astype(np.float32)


def _sample(glyphs: NDArray[np.uint8], which: NDArray[np.int64], at: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return grey values, shape (n, 784), of glyph `which[i]` at coordinates `at[i]` between its pixels (bilinear)."""
    side = glyphs.shape[-1]
    at = at.clip(0, side - 1.001)  # the border of a prototype is empty: what lies outside of it is paper
    corner = at.astype(np.int32)
    down, right = (at - corner).transpose(1, 0, 2)
    base = which[:, None] * side**2 + corner[:, 0] * side + corner[:, 1]
    pixels = glyphs.ravel()
    upper = pixels[base] * (1 - right) + pixels[base + 1] * right
    lower = pixels[base + side] * (1 - right) + pixels[base + side + 1] * right
    grey: NDArray[np.float32] = upper * (1 - down) + lower * down
    return grey
