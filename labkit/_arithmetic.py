"""What a function on arrays multiplies and keeps: numbers that note their products, and bytes that are held."""

from __future__ import annotations

import math
import tracemalloc
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["irfft2", "multiplications", "rfft2", "workspace"]

_FREE = (0, 1, -1)  # no multiplier is needed for these


class _Noted:
    """A number that notes its products in a tally which it hands on to whatever is computed from it."""

    __slots__ = ("tally", "value")

    def __init__(self, value: Any, tally: Counter[str]) -> None:
        self.value = value
        self.tally = tally

    def __add__(self, other: Any) -> _Noted:
        if isinstance(other, np.ndarray):
            return NotImplemented  # NumPy then asks each of its entries
        return _Noted(self.value + _value(other), self.tally)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> _Noted:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, _Noted):
            self.tally["products"] += _parts(self.value) * _parts(other.value)
        elif other not in _FREE:
            self.tally["by constants"] += _parts(self.value) * _parts(other)
        return _Noted(self.value * _value(other), self.tally)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> _Noted:
        return NotImplemented if isinstance(other, _Noted) else self * (1 / other)

    def __neg__(self) -> _Noted:
        return _Noted(-self.value, self.tally)

    def __pos__(self) -> _Noted:
        return self

    def conjugate(self) -> _Noted:
        return _Noted(self.value.conjugate(), self.tally)

    def __float__(self) -> float:
        return float(self.value)

    def __complex__(self) -> complex:
        return complex(self.value)


def multiplications(fn: Callable[..., Any], x: Any, w: Any, *args: Any, **kwargs: Any) -> dict[str, int]:
    """Run fn(x, w, *args, **kwargs) on arrays, x and w, whose numbers note every multiplication; return how many:

    products: of a number that comes of x or w with another such. by constants: with any other number than 0, 1 and -1.
    in transforms: inside `rfft2` and `irfft2` of this module, by the rule that they state.

    All are multiplications of real numbers: a product of two complex ones is four, of a real and a complex one two.
    The arrays are of dtype object, as large as x and w; np.fft does not take them, nor does PyTorch. A number that is
    written into an array of another dtype is no longer followed.
    """
    tally: Counter[str] = Counter({"products": 0, "by constants": 0, "in transforms": 0})
    fn(_noted(x, tally), _noted(w, tally), *args, **kwargs)
    return dict(tally)


def rfft2(a: Any, s: tuple[int, int] | None = None) -> NDArray[Any]:
    """Return np.fft.rfft2(a, s), over the last two axes. A transform of N real numbers counts N log2 N multiplications.

    That is half of what the radix-2 algorithm takes for N complex numbers: N/2 log2 N products of complex numbers.
    """
    return _transformed(np.fft.rfft2, a, s, float)


def irfft2(a: Any, s: tuple[int, int] | None = None) -> NDArray[Any]:
    """Return np.fft.irfft2(a, s), over the last two axes; counted as `rfft2` is, N the numbers that come out."""
    return _transformed(np.fft.irfft2, a, s, complex)


def workspace(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> int:
    """Run fn(*args, **kwargs) twice and return the most bytes that it held at a time, beyond arguments and result.

    Counted is what Python and NumPy allocate; memory that a library takes for itself is not. The first run is for
    what only first runs need.
    """
    fn(*args, **kwargs)
    running = tracemalloc.is_tracing()
    if not running:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        result = fn(*args, **kwargs)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        if not running:
            tracemalloc.stop()
    return max(0, peak - before - int(getattr(result, "nbytes", 0)))


def _transformed(fn: Callable[..., Any], a: Any, s: tuple[int, int] | None, kind: type) -> NDArray[Any]:
    a = np.asarray(a)
    first = next((number for number in a.flat if isinstance(number, _Noted)), None) if a.dtype == object else None
    if first is None:
        return np.asarray(fn(a, s))
    plain = np.array([kind(number) for number in a.flat]).reshape(a.shape)
    found = np.asarray(fn(plain, s))
    height, width = (found if kind is complex else plain).shape[-2:] if s is None else s
    transforms = math.prod(a.shape[:-2])
    first.tally["in transforms"] += round(transforms * height * width * math.log2(max(height * width, 1)))
    return _noted(found, first.tally)


def _noted(array: Any, tally: Counter[str]) -> NDArray[Any]:
    array = np.asarray(array)
    noted = np.empty(array.shape, object)
    noted.reshape(-1)[:] = [_Noted(number, tally) for number in array.reshape(-1).tolist()]
    return noted


def _value(number: Any) -> Any:
    return number.value if isinstance(number, _Noted) else number


def _parts(number: Any) -> int:
    """Return how many real numbers a number has."""
    return 2 if isinstance(number, complex) else 1
