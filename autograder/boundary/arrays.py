"""NumPy arrays on their way: what comes in, dtypes, shapes and bytes, an opponent has sent."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.boundary.frames import MAX_BLOCK, WireError

__all__ = [
    "MAX_VALUES",
    "PLAIN_DTYPES",
    "holds_constants",
    "is_plain",
    "read_array",
    "read_constants",
    "read_dtype",
    "read_elements",
    "read_scalar",
    "read_shape",
    "write_array",
]

MAX_VALUES = 1_000_000
PLAIN_DTYPES = "biufcSUMm"
_MAX_DIMENSIONS = 32
_CONSTANTS = {bool, int, float, complex, str, bytes, type(None), Fraction, Decimal}
"""What an array of dtype object may hold to travel, by exact class."""


def read_dtype(text: Any) -> np.dtype[Any]:
    """Return the dtype of this name; WireError if its numbers are not plain."""
    dtype = np.dtype(text) if isinstance(text, str) and len(text) < 40 else None
    if dtype is None or dtype.kind not in PLAIN_DTYPES or dtype.hasobject or dtype.names or dtype.subdtype:
        raise WireError("a dtype that is not plain")
    return dtype


def read_elements(data: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return an array of these bytes; WireError if there are not as many as its shape needs."""
    if len(data) != dtype.itemsize * math.prod(shape):
        raise WireError("an array whose size does not fit its shape")
    if not data:  # no elements, or texts of length 0, for which there is a limit too
        return np.zeros(shape if math.prod(shape) <= MAX_VALUES else (0,), dtype)
    return np.frombuffer(data, dtype).reshape(shape)


def read_shape(sizes: Any) -> tuple[int, ...]:
    """Return a shape; WireError if it is not one."""
    if not isinstance(sizes, list) or len(sizes) > _MAX_DIMENSIONS:
        raise WireError("invalid shape")
    if any(type(size) is not int or not 0 <= size <= MAX_BLOCK * 8 for size in sizes):
        raise WireError("invalid shape")
    return tuple(sizes)


def is_plain(value: Any) -> bool:
    """Whether the elements of an array or scalar travel as bytes."""
    return value.dtype.kind in PLAIN_DTYPES and not value.dtype.hasobject


def holds_constants(value: np.ndarray[Any, Any]) -> bool:
    """Whether these are objects of Python, each a plain number, text or None: of exactly these classes."""
    return value.dtype == object and value.size <= MAX_VALUES and all(type(item) in _CONSTANTS for item in value.flat)


def read_constants(items: list[Any], sizes: Any) -> np.ndarray[Any, Any]:
    """Return an array of such objects; WireError if one is something else: NumPy would ask it to compute."""
    shape = read_shape(sizes)
    if len(items) != math.prod(shape) or any(type(item) not in _CONSTANTS for item in items):
        raise WireError("an array of objects that are no constants")
    array = np.empty(shape, object)
    for place, item in zip(np.ndindex(shape), items, strict=True):
        array[place] = item
    return array


def write_array(value: Any, put: Callable[[bytes], list[int]]) -> dict[str, Any]:
    """Return the JSON for an array of plain elements, which `put` appends to the block; its order in memory is kept."""
    turned = value.flags.f_contiguous and not value.flags.c_contiguous
    data = put((value.T if turned else value).tobytes())
    return {"t": "array", "d": value.dtype.str, "s": list(value.shape), "b": data, "f": turned}


def read_array(value: dict[str, Any], get: Callable[[Any], bytes], *, writable: bool) -> np.ndarray[Any, Any]:
    """Return the array of such JSON, in memory of its own, whose elements `get` takes from the block.

    writable: whether the code at this end may write to it. As long as there is a view of it, it is there itself.
    """
    dtype, shape = read_dtype(value["d"]), read_shape(value["s"])
    turned = value["f"] is True
    array = read_elements(get(value["b"]), dtype, shape[::-1] if turned else shape)
    array = array.T if turned else array
    array = array.copy(order="K")
    array.flags.writeable = writable
    return array


def read_scalar(value: dict[str, Any], get: Callable[[Any], bytes]) -> Any:
    """Return the scalar of {"d": dtype, "b": place}."""
    dtype = read_dtype(value["d"])
    return read_elements(get(value["b"])[: dtype.itemsize], dtype, ())[()]
