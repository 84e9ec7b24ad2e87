"""How values travel between the two processes: JSON for the structure, raw bytes for arrays, and nothing that can run.

In the JSON, numbers, texts, true, false, null and arrays stand for themselves; every other value is an object with its
kind under "t". Bytes and array elements lie in the block of bytes beside it; the JSON holds offset and length.

By value travel, of exactly these types: None, bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset,
slice, range, Ellipsis; NumPy arrays, scalars and dtypes of plain kinds; what `tensors` knows of torch and tensorflow;
what `exact` knows of fractions, decimals, dates and classes of plain values, and `containers` of those of collections.
A list, dictionary or array that a message holds twice is one at the other end too.
Whatever else there is, subclasses included, is a reference that the owner of the object keeps: see `References`.

What is decoded comes from an opponent. Sizes, depth and the number of values are limited, lengths are checked against
what is there, and every failure is a WireError.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from autograder.boundary import arrays, containers, derived, exact, tensors
from autograder.boundary.arrays import MAX_VALUES
from autograder.boundary.frames import MAX_BLOCK, WireError
from autograder.boundary.handles import is_stand_in
from autograder.boundary.kinds import ALIASED, READERS, WRITERS
from autograder.boundary.sets import set_in_order

__all__ = ["Codec", "References"]

_MAX_DEPTH, _SAFE_INT = 50, 1 << 53
_PLAIN = {bool, float, int, str, type(None)}
_KINDS_OF_ARRAY = {np.ma.MaskedArray, np.memmap}
"""NumPy's own classes whose arrays travel as plain ones; of masked arrays those in which nothing is masked."""
_SEQUENCES: dict[str, Callable[[list[Any]], Any]] = {"tuple": tuple, "set": set_in_order, "frozenset": frozenset}


class References(Protocol):
    """What a codec asks about values that do not travel, or not alone.

    graphs_stay: whether this end keeps tensors that require gradients, and collects gradients for those that come.
    leaves: the tensors that collect gradients at the other end.
    """

    graphs_stay: bool
    leaves: tensors.Leaves

    def place_of(self, value: Any) -> tuple[Any, ...] | None:
        """Return where the other end has this very object; None if it has none, or has copies."""

    def own_at(self, place: Any, value: Any) -> Any:
        """Return the object of this end at such a place, of which the other end says that it is as this value."""

    def refer(self, value: Any, encode: Callable[[Any], Any]) -> dict[str, Any]:
        """Return the JSON object that stands for value at the other end; WireError if nothing can."""

    def resolve(self, reference: dict[str, Any], decode: Callable[[Any], Any]) -> Any:
        """Return what a JSON object of a kind that the codec does not know stands for; WireError if nothing."""


_VALUE_BYTES = 64
"""What a value takes beside the bytes in the block, about."""


class Codec:
    """Turns values into one message's JSON and block (`encode`, then `block`), or back (`decode` with the block).

    Attributes:
        mutable: the lists, dictionaries, sets, arrays and tensors that were encoded or decoded, in the same order at
            both ends: so one end can tell the other which of them were changed.
    """

    def __init__(self, references: References, block: bytes = b"", *, writable: bool = False) -> None:
        """Hold the block that came; writable: decoded arrays may be changed, at the cost of a copy."""
        self._references = references
        self.students = references.graphs_stay  # whether this is the student's end
        self._received = block
        self._writable = writable
        self._pieces: list[bytes] = []
        self._size = 0
        self._values = 0
        self.mutable: list[Any] = []
        self._written: dict[int, int] = {}
        self._spans: dict[int, int] = {}  # how many values the object at a place holds: each mention of it counts

    @property
    def size(self) -> int:
        """About how many bytes what was encoded or decoded takes."""
        return self._size + len(self._received) + _VALUE_BYTES * self._values

    @property
    def block(self) -> bytes:
        """The bytes of all that was encoded."""
        return b"".join(self._pieces)

    # -------------------------------------------------------------------------------------------------------- outwards
    def encode(self, value: Any, depth: int = 0) -> Any:
        """Return the JSON for a value; WireError if it is too large or too deep."""
        place = None if type(value) in _PLAIN else self._references.place_of(value)
        found = self._encoded(value, depth)
        return found if place is None else {"t": "known", "at": place, "v": found}

    def _encoded(self, value: Any, depth: int) -> Any:
        self._count(depth)
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if -_SAFE_INT < value < _SAFE_INT else exact.large(value)
        if kind is float:
            return value if math.isfinite(value) else {"t": "float", "v": repr(value)}
        if kind in ALIASED:
            return self._once(value, kind, depth)
        if (write := WRITERS.get(kind)) is not None:
            return write(self, value, depth)
        if is_stand_in(value):  # before anything asks for its class, which it would have to ask for in turn
            return self.refer(value)
        if issubclass(kind, np.generic):
            return self._scalar(value)
        if issubclass(kind, np.dtype):
            plain = value.kind in arrays.PLAIN_DTYPES
            return {"t": "dtype", "d": value.str} if plain else self.refer(value)
        if tensors.travels(value) or (not self._references.graphs_stay and tensors.is_parameter(value)):
            return self._tensor(value)
        if kind in _KINDS_OF_ARRAY and not np.ma.is_masked(value):
            return self.array(np.asarray(value), depth)
        if issubclass(kind, type) and (name := derived.name_of(value)):
            return {"t": "type", "v": name}
        return self._derived(value, kind, depth)

    def _derived(self, value: Any, kind: type, depth: int) -> Any:
        """Return the JSON for an object of a class of the student's, or of the test's."""
        if (found := derived.write(self, value, depth, students=self.students)) is not None:
            return found
        if issubclass(kind, tuple) and (named := containers.write_named(value, self._references, self.encode)):
            return named | {"v": [self.encode(item, depth + 1) for item in tuple.__iter__(value)]}
        return self.refer(value)

    def encode_as(self, value: Any, kind: type, depth: int) -> Any:
        """Return the JSON for a value as for one of this class, which it is derived from."""
        found = WRITERS[kind](self, value, depth) if kind in derived.CONTAINERS else self.encode(value, depth)
        self._written.pop(id(value), None)  # it may be there for this only, and another one at its place next
        return found

    def put(self, data: bytes) -> list[int]:
        """Append bytes to the block; return offset and length."""
        if self._size + len(data) > MAX_BLOCK:
            raise WireError(f"more than {MAX_BLOCK >> 20} MiB of data")
        self._pieces.append(data)
        self._size += len(data)
        return [self._size - len(data), len(data)]

    def refer(self, value: Any) -> Any:
        """Return the JSON for an object that stays at this end."""
        return self._references.refer(value, self.encode)

    def _once(self, value: Any, kind: type, depth: int) -> Any:
        """Return the JSON for what can be changed; of the second mention in a message, the place of the first.

        `[row] * 3` holds one row three times, also at the other end.
        """
        if (place := self._written.get(id(value))) is not None:
            self._count(depth, self._spans[place])
            return {"t": "same", "n": place}
        place, before = len(self.mutable), self._values
        if kind is list:
            self.mutable.append(value)
        found = [self.encode(x, depth + 1) for x in value] if kind is list else WRITERS[kind](self, value, depth)
        if len(self.mutable) > place and self.mutable[place] is value:  # which keeps it, and so its id, alive
            self._written[id(value)], self._spans[place] = place, self._values - before + 1
        return found

    def read_known(self, value: dict[str, Any], depth: int) -> Any:
        """Return this end's own object, with what the other end's holds now."""
        start, found = len(self.mutable), self.decode(value["v"], depth)
        own = self._references.own_at(tuple(value["at"]), found)
        self.mutable[start:] = [own if one is found else one for one in self.mutable[start:]]
        return own

    def read_same(self, value: dict[str, Any], depth: int) -> Any:
        if type(place := value["n"]) is not int or place not in self._spans:
            raise WireError("the same as nothing")
        self._count(depth, self._spans[place])
        return self.mutable[place]

    def _count(self, depth: int, values: int = 1) -> None:
        self._values += values
        if depth > _MAX_DEPTH:
            raise WireError(f"nested more than {_MAX_DEPTH} deep")
        if self._values > MAX_VALUES:
            raise WireError(f"more than {MAX_VALUES:,} values")

    def sequence(self, value: Any, depth: int) -> Any:
        kind = type(value).__name__
        if kind == "set":
            self.mutable.append(value)
        return {"t": kind, "v": [self.encode(item, depth + 1) for item in value]}

    def dictionary(self, value: Any, depth: int) -> Any:
        self.mutable.append(value)
        pairs = [[self.encode(key, depth + 1), self.encode(item, depth + 1)] for key, item in value.items()]
        return {"t": "dict", "v": pairs}

    def array(self, value: Any, depth: int) -> Any:
        if self._references.graphs_stay and arrays.holds_constants(value):  # an answer's: of the test's it would copy
            items = [self.encode(item, depth + 1) for item in value.flat]
            return {"t": "objects", "s": list(value.shape), "v": items}
        if not arrays.is_plain(value):
            return self.refer(value)
        self.mutable.append(value)
        return arrays.write_array(value, self.put)

    def _scalar(self, value: Any) -> Any:
        if not arrays.is_plain(value):
            return self.refer(value)
        return {"t": "scalar", "d": value.dtype.str, "b": self.put(value.tobytes())}

    def _tensor(self, value: Any) -> Any:
        collects = getattr(value, "requires_grad", False)
        if collects and self._references.graphs_stay:
            return self.refer(value)
        written = tensors.write(value, self.put)
        if written["t"] == "tensor":  # not a dtype, a device or a shape
            self.mutable.append(value)
        return written | {"g": self._references.leaves.number(value)} if collects else written

    # --------------------------------------------------------------------------------------------------------- inwards
    def decode(self, value: Any, depth: int = 0) -> Any:
        """Return the value for this JSON; WireError if it is not of the format."""
        self._count(depth)
        place, before = len(self.mutable), self._values
        found = self._decoded(value, depth)
        if len(self.mutable) > place:
            self._spans[place] = self._values - before + 1
        return found

    def _decoded(self, value: Any, depth: int) -> Any:
        if isinstance(value, list):
            items: list[Any] = []
            self.mutable.append(items)
            items.extend(self.decode(item, depth + 1) for item in value)
            return items
        if not isinstance(value, dict):
            return exact.constant(value)
        kind = value.get("t")
        try:
            if isinstance(kind, str) and (read := READERS.get(kind)) is not None:
                return read(self, value, depth)
            return self._references.resolve(value, self.decode)
        except (ArithmeticError, AttributeError, KeyError, LookupError, MemoryError, TypeError, ValueError) as error:
            raise WireError(f"a malformed value of kind {str(kind)[:40]!r}") from error

    def get(self, place: Any) -> bytes:
        """Return the bytes at [offset, length] of the block that came."""
        offset, length = place
        if type(offset) is not int or type(length) is not int or offset < 0 or length < 0:
            raise WireError("invalid place in the block")
        if offset + length > len(self._received):
            raise WireError("a place beyond the block")
        return self._received[offset : offset + length]

    def read_sequence(self, value: dict[str, Any], depth: int) -> Any:
        kind, place = value["t"], len(self.mutable)
        items = _SEQUENCES[kind](self.items(value["v"], depth + 1))
        if kind == "set":
            self.mutable.insert(place, items)
        return items

    def read_dictionary(self, value: dict[str, Any], depth: int) -> Any:
        found: dict[Any, Any] = {}
        self.mutable.append(found)
        for key, item in value["v"]:
            name = self.decode(key, depth + 1)
            found[name] = self.decode(item, depth + 1)
        return found

    def made_again(self, reference: Any) -> Any:
        """Return a class of named tuples; in the trusted process one of the test's, that adds nothing to these."""
        found = self.decode(reference)
        if not self._references.graphs_stay and (type(found) is not type or containers.fields_of(found) is None):
            raise WireError("no named tuple of the test's")
        return found

    def items(self, values: Any, depth: int) -> list[Any]:
        if not isinstance(values, list):
            raise WireError("invalid sequence")
        return [self.decode(item, depth) for item in values]

    def read_array(self, value: dict[str, Any], _depth: int) -> Any:
        self.mutable.append(array := arrays.read_array(value, self.get, writable=self._writable))
        return array

    def read_tensor(self, value: dict[str, Any], _depth: int) -> Any:
        tensor = tensors.read(value, arrays.read_shape(value["s"]), self.get(value["b"]))
        if self._references.graphs_stay and type(value.get("g")) is int:
            tensor = self._references.leaves.keep(value["g"], tensor.requires_grad_())
        self.mutable.append(tensor)
        return tensor
