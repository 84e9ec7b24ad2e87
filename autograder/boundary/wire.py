"""How values travel between the two processes: JSON for the structure, raw bytes for arrays, and nothing that can run.

In the JSON, numbers, texts, true, false, null and arrays stand for themselves; every other value is an object with its
kind under "t". Bytes and array elements lie in the block of bytes beside it; the JSON holds offset and length.

By value travel, of exactly these types: None, bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset,
slice, range, Ellipsis; NumPy arrays, scalars and dtypes of plain kinds; what `tensors` knows of torch and tensorflow.
Whatever else there is, subclasses included, is a reference that the owner of the object keeps: see `References`.

What is decoded comes from an opponent. Sizes, depth and the number of values are limited, lengths are checked against
what is there, and every failure is a WireError.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from autograder.boundary import tensors
from autograder.boundary.frames import MAX_BLOCK, WireError

__all__ = ["Codec", "References"]

_MAX_DEPTH = 50
_MAX_VALUES = 1_000_000
_MAX_INT_BITS = 1 << 16
_SAFE_INT = 1 << 53
_PLAIN_DTYPES = "biufcSUMm"
_MAX_DIMENSIONS = 32
_SEQUENCES: dict[str, Callable[[list[Any]], Any]] = {"tuple": tuple, "set": set, "frozenset": frozenset}


class References(Protocol):
    """What a codec asks about values that do not travel, or not alone.

    Attributes:
        graphs_stay: this end keeps tensors that require gradients, and collects gradients for those that come.
        leaves: the tensors that collect gradients at the other end.
    """

    graphs_stay: bool
    leaves: tensors.Leaves

    def refer(self, value: Any, encode: Callable[[Any], Any]) -> dict[str, Any]:
        """Return the JSON object that stands for value at the other end; WireError if nothing can."""

    def resolve(self, reference: dict[str, Any], decode: Callable[[Any], Any]) -> Any:
        """Return what a JSON object of a kind that the codec does not know stands for; WireError if nothing."""


class Codec:
    """Turns values into one message's JSON and block (`encode`, then `block`), or back (`decode` with the block).

    Attributes:
        mutable: the lists, dictionaries, sets, arrays and tensors that were encoded or decoded, in the same order at
            both ends: so one end can tell the other which of them were changed.
    """

    def __init__(self, references: References, block: bytes = b"", *, writable: bool = False) -> None:
        """Hold the block that came; writable: decoded arrays may be changed, at the cost of a copy."""
        self._references = references
        self._received = block
        self._writable = writable
        self._pieces: list[bytes] = []
        self._size = 0
        self._values = 0
        self.mutable: list[Any] = []

    @property
    def block(self) -> bytes:
        """The bytes of all that was encoded."""
        return b"".join(self._pieces)

    # -------------------------------------------------------------------------------------------------------- outwards
    def encode(self, value: Any, depth: int = 0) -> Any:
        """Return the JSON for a value; WireError if it is too large or too deep."""
        self._count(depth)
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if -_SAFE_INT < value < _SAFE_INT else _large(value)
        if kind is float:
            return value if math.isfinite(value) else {"t": "float", "v": repr(value)}
        if kind is list:
            self.mutable.append(value)
            return [self.encode(item, depth + 1) for item in value]
        if (write := _WRITERS.get(kind)) is not None:
            return write(self, value, depth)
        if issubclass(kind, np.generic):
            return self._scalar(value)
        if issubclass(kind, np.dtype):
            return (
                {"t": "dtype", "d": value.str}
                if value.kind in _PLAIN_DTYPES
                else self._references.refer(value, self.encode)
            )
        return self._tensor(value) if tensors.travels(value) else self._references.refer(value, self.encode)

    def put(self, data: bytes) -> list[int]:
        """Append bytes to the block; return offset and length."""
        if self._size + len(data) > MAX_BLOCK:
            raise WireError(f"more than {MAX_BLOCK >> 20} MiB of data")
        self._pieces.append(data)
        self._size += len(data)
        return [self._size - len(data), len(data)]

    def _count(self, depth: int) -> None:
        self._values += 1
        if depth > _MAX_DEPTH:
            raise WireError(f"nested more than {_MAX_DEPTH} deep")
        if self._values > _MAX_VALUES:
            raise WireError(f"more than {_MAX_VALUES:,} values")

    def _sequence(self, value: Any, depth: int) -> Any:
        kind = type(value).__name__
        if kind == "set":
            self.mutable.append(value)
        return {"t": kind, "v": [self.encode(item, depth + 1) for item in value]}

    def _dictionary(self, value: Any, depth: int) -> Any:
        self.mutable.append(value)
        pairs = [[self.encode(key, depth + 1), self.encode(item, depth + 1)] for key, item in value.items()]
        return {"t": "dict", "v": pairs}

    def _array(self, value: Any, _depth: int) -> Any:
        if value.dtype.kind not in _PLAIN_DTYPES or value.dtype.hasobject:
            return self._references.refer(value, self.encode)
        self.mutable.append(value)
        turned = value.flags.f_contiguous and not value.flags.c_contiguous
        data = self.put((value.T if turned else value).tobytes())
        return {"t": "array", "d": value.dtype.str, "s": list(value.shape), "b": data, "f": turned}

    def _scalar(self, value: Any) -> Any:
        if value.dtype.kind not in _PLAIN_DTYPES:
            return self._references.refer(value, self.encode)
        return {"t": "scalar", "d": value.dtype.str, "b": self.put(value.tobytes())}

    def _tensor(self, value: Any) -> Any:
        collects = getattr(value, "requires_grad", False)
        if collects and self._references.graphs_stay:
            return self._references.refer(value, self.encode)
        self.mutable.append(value)
        written = tensors.write(value, self.put)
        return written | {"g": self._references.leaves.number(value)} if collects else written

    # --------------------------------------------------------------------------------------------------------- inwards
    def decode(self, value: Any, depth: int = 0) -> Any:
        """Return the value for this JSON; WireError if it is not of the format."""
        self._count(depth)
        if isinstance(value, list):
            items: list[Any] = []
            self.mutable.append(items)
            items.extend(self.decode(item, depth + 1) for item in value)
            return items
        if not isinstance(value, dict):
            return value
        kind = value.get("t")
        try:
            if isinstance(kind, str) and (read := _READERS.get(kind)) is not None:
                return read(self, value, depth)
            return self._references.resolve(value, self.decode)
        except (ArithmeticError, AttributeError, KeyError, LookupError, MemoryError, TypeError, ValueError) as error:
            raise WireError(f"a malformed value of kind {str(kind)[:40]!r}") from error

    def get(self, place: Any) -> bytes:
        """Return the bytes at [offset, length] of the block that came."""
        offset, length = place
        if type(offset) is not int or type(length) is not int or offset < 0 or length < 0:
            raise WireError("a place in the block that is none")
        if offset + length > len(self._received):
            raise WireError("a place beyond the block")
        return self._received[offset : offset + length]

    def _read_sequence(self, value: dict[str, Any], depth: int) -> Any:
        kind = value["t"]
        place = len(self.mutable)
        items = _SEQUENCES[kind](self._items(value["v"], depth + 1))
        if kind == "set":
            self.mutable.insert(place, items)
        return items

    def _read_dictionary(self, value: dict[str, Any], depth: int) -> Any:
        found: dict[Any, Any] = {}
        self.mutable.append(found)
        for key, item in value["v"]:
            name = self.decode(key, depth + 1)
            found[name] = self.decode(item, depth + 1)
        return found

    def _items(self, values: Any, depth: int) -> list[Any]:
        if not isinstance(values, list):
            raise WireError("a sequence that is none")
        return [self.decode(item, depth) for item in values]

    def _read_array(self, value: dict[str, Any], _depth: int) -> Any:
        dtype, shape = _dtype(value["d"]), _shape(value["s"])
        turned = value["f"] is True
        array = _elements(self.get(value["b"]), dtype, shape[::-1] if turned else shape)
        array = array.T if turned else array
        array = array.copy(order="K") if self._writable else array
        self.mutable.append(array)
        return array

    def _read_scalar(self, value: dict[str, Any], _depth: int) -> Any:
        dtype = _dtype(value["d"])
        return _elements(self.get(value["b"])[: dtype.itemsize], dtype, ())[()]

    def _read_tensor(self, value: dict[str, Any], _depth: int) -> Any:
        tensor = tensors.read(value, _shape(value["s"]), self.get(value["b"]))
        if self._references.graphs_stay and type(value.get("g")) is int:
            tensor = self._references.leaves.keep(value["g"], tensor.requires_grad_())
        self.mutable.append(tensor)
        return tensor


def _large(value: int) -> dict[str, Any]:
    if value.bit_length() > _MAX_INT_BITS:
        raise WireError(f"an integer of {value.bit_length():,} bits")
    return {"t": "int", "v": hex(value)}


def _read_large(_codec: Codec, value: dict[str, Any], _depth: int) -> int:
    text = value["v"]
    if len(text) > _MAX_INT_BITS // 4 + 3:
        raise WireError("an integer that is too long")
    return int(text, 16)


def _dtype(text: Any) -> np.dtype[Any]:
    dtype = np.dtype(text) if isinstance(text, str) and len(text) < 40 else None
    if dtype is None or dtype.kind not in _PLAIN_DTYPES or dtype.hasobject or dtype.names or dtype.subdtype:
        raise WireError("a dtype that is not plain")
    return dtype


def _elements(data: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    if len(data) != dtype.itemsize * math.prod(shape):
        raise WireError("an array whose size does not fit its shape")
    if not data:  # no elements, or texts of length 0, for which there is a limit too
        return np.zeros(shape if math.prod(shape) <= _MAX_VALUES else (0,), dtype)
    return np.frombuffer(data, dtype).reshape(shape)


def _shape(sizes: Any) -> tuple[int, ...]:
    if not isinstance(sizes, list) or len(sizes) > _MAX_DIMENSIONS:
        raise WireError("a shape that is none")
    if any(type(size) is not int or not 0 <= size <= MAX_BLOCK * 8 for size in sizes):
        raise WireError("a shape that is none")
    return tuple(sizes)


def _read_number(_codec: Codec, value: dict[str, Any], _depth: int) -> float:
    return float(value["v"])


_WRITERS: dict[type, Callable[[Codec, Any, int], Any]] = {
    complex: lambda codec, z, depth: {"t": "complex", "v": [codec.encode(x, depth + 1) for x in (z.real, z.imag)]},
    bytes: lambda codec, data, depth: {"t": "bytes", "b": codec.put(data)},
    tuple: Codec._sequence,
    set: Codec._sequence,
    frozenset: Codec._sequence,
    dict: Codec._dictionary,
    slice: lambda codec, s, depth: {"t": "slice", "v": [codec.encode(x, depth + 1) for x in (s.start, s.stop, s.step)]},
    range: lambda codec, r, depth: {"t": "range", "v": [codec.encode(x, depth + 1) for x in (r.start, r.stop, r.step)]},
    type(...): lambda codec, value, depth: {"t": "ellipsis"},
    np.ndarray: Codec._array,
}

_READERS: dict[str, Callable[[Codec, dict[str, Any], int], Any]] = {
    "int": _read_large,
    "float": _read_number,
    "complex": lambda codec, value, depth: complex(*codec._items(value["v"], depth + 1)),
    "bytes": lambda codec, value, depth: codec.get(value["b"]),
    "tuple": Codec._read_sequence,
    "set": Codec._read_sequence,
    "frozenset": Codec._read_sequence,
    "dict": Codec._read_dictionary,
    "slice": lambda codec, value, depth: slice(*codec._items(value["v"], depth + 1)),
    "range": lambda codec, value, depth: range(*codec._items(value["v"], depth + 1)),
    "ellipsis": lambda codec, value, depth: ...,
    "array": Codec._read_array,
    "scalar": Codec._read_scalar,
    "dtype": lambda codec, value, depth: _dtype(value["d"]),
    "tensor": Codec._read_tensor,
    "framework": lambda codec, value, depth: tensors.read_constant(value),
}
