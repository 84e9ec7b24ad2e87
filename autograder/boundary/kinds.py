"""How each kind of value is written and read by a codec, which holds the block and goes through what is inside.

Of exactly these classes; see `wire` for what the rest is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.boundary import arrays, containers, derived, exact, tensors
from autograder.boundary.student_values import CHANGING

__all__ = ["ALIASED", "READERS", "WRITERS"]


def _read_number(_codec: Any, value: dict[str, Any], _depth: int) -> float:
    return float(value["v"])


_BY_PARTS = CHANGING - {list, dict, set}
"""Of those that are written by their parts: what can be changed in place, which the other end is asked about."""
ALIASED = {list, dict, np.ndarray}
WRITERS: dict[type, Callable[[Any, Any, int], Any]] = {
    complex: lambda codec, z, depth: {"t": "complex", "v": [codec.encode(x, depth + 1) for x in (z.real, z.imag)]},
    bytes: lambda codec, data, depth: {"t": "bytes", "b": codec.put(data)},
    tuple: lambda codec, value, depth: codec.sequence(value, depth),
    set: lambda codec, value, depth: codec.sequence(value, depth),
    frozenset: lambda codec, value, depth: codec.sequence(value, depth),
    dict: lambda codec, value, depth: codec.dictionary(value, depth),
    slice: lambda codec, s, depth: {"t": "slice", "v": [codec.encode(x, depth + 1) for x in (s.start, s.stop, s.step)]},
    range: lambda codec, r, depth: {"t": "range", "v": [codec.encode(x, depth + 1) for x in (r.start, r.stop, r.step)]},
    type(...): lambda codec, value, depth: {"t": "ellipsis"},
    np.ndarray: lambda codec, value, depth: codec.array(value, depth),
}


def _exact_writer(kind: type, name: str, parts: Callable[[Any], list[Any]]) -> Callable[[Any, Any, int], Any]:
    def write(codec: Any, value: Any, depth: int) -> Any:
        try:
            found = parts(value)
        except KeyError:
            return codec.refer(value)
        written = {"t": name, "v": [codec.encode(part, depth + 1) for part in found]}
        if kind in _BY_PARTS:
            codec.mutable.append(value)
        return written

    return write


def _exact_reader(make: Callable[[list[Any]], Any]) -> Callable[[Any, dict[str, Any], int], Any]:
    def read(codec: Any, value: dict[str, Any], depth: int) -> Any:
        found = make(codec.items(value["v"], depth + 1))
        if type(found) in _BY_PARTS:
            codec.mutable.append(found)
        return found

    return read


_EXACT = exact.KINDS | containers.KINDS
WRITERS.update({kind: _exact_writer(kind, name, parts) for kind, (name, parts, _) in _EXACT.items()})

READERS: dict[str, Callable[[Any, dict[str, Any], int], Any]] = {
    "int": lambda codec, value, depth: exact.read_large(value["v"]),
    "float": _read_number,
    "complex": lambda codec, value, depth: complex(*codec.items(value["v"], depth + 1)),
    "bytes": lambda codec, value, depth: codec.get(value["b"]),
    "tuple": lambda codec, value, depth: codec.read_sequence(value, depth),
    "set": lambda codec, value, depth: codec.read_sequence(value, depth),
    "frozenset": lambda codec, value, depth: codec.read_sequence(value, depth),
    "dict": lambda codec, value, depth: codec.read_dictionary(value, depth),
    "slice": lambda codec, value, depth: slice(*codec.items(value["v"], depth + 1)),
    "range": lambda codec, value, depth: range(*codec.items(value["v"], depth + 1)),
    "ellipsis": lambda codec, value, depth: ...,
    "array": lambda codec, value, depth: codec.read_array(value, depth),
    "objects": lambda codec, value, depth: arrays.read_constants(codec.items(value["v"], depth + 1), value["s"]),
    "scalar": lambda codec, value, depth: arrays.read_scalar(value, codec.get),
    "dtype": lambda codec, value, depth: arrays.read_dtype(value["d"]),
    "tensor": lambda codec, value, depth: codec.read_tensor(value, depth),
    "same": lambda codec, value, depth: codec.read_same(value, depth),
    "derived": lambda codec, value, depth: derived.read(codec, value, depth, students=codec.students),
    "known": lambda codec, value, depth: codec.read_known(value, depth),
    "framework": lambda codec, value, depth: tensors.read_constant(value),
    "type": lambda codec, value, depth: derived.read_type(value["v"]),
    "named": lambda codec, value, depth: containers.read_named(value, students=codec.students)(
        *codec.items(value["v"], depth + 1)
    ),
    "again": lambda codec, value, depth: containers.remade(
        codec.made_again(value["k"]), codec.items(value["v"], depth + 1)
    ),
    **{name: _exact_reader(make) for name, _, make in _EXACT.values()},
}
