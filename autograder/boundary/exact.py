"""Values of the standard library that travel as data: exact numbers and dates.

Each kind is rebuilt by its own constructor from numbers and short texts. Expressions of sympy do not travel: their
operators and methods evaluate texts (see `evaluation`).
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Container
from decimal import Decimal
from fractions import Fraction
from typing import Any

from autograder.boundary.frames import WireError

__all__ = ["BY_PYTHON", "KINDS", "TYPES", "adds_nothing", "constant", "large", "read_large", "read_type"]

_MAX_INT_BITS = 1 << 16
_MAX_TEXT = 1000
_MAX_WORD = 40
_MAX_EXPONENT = 10_000


def _decimal(text: str) -> Decimal:
    if len(text) > _MAX_TEXT:
        raise ValueError("a number that is too long")
    number = Decimal(text)
    if number.is_finite() and abs(number.adjusted()) > _MAX_EXPONENT:
        raise ValueError("a number that is too large")
    return number


def _fraction(parts: list[Any]) -> Fraction:
    if not all(type(part) is int for part in parts):  # of a text such as 1e3000000000 it would make the number
        raise ValueError("a fraction that is not made of two integers")
    return Fraction(*parts)


def _time(kind: type[datetime.datetime | datetime.date | datetime.time]) -> Callable[[list[Any]], Any]:
    return lambda parts: kind.fromisoformat(parts[0])


KINDS: dict[type, tuple[str, Callable[[Any], list[Any]], Callable[[list[Any]], Any]]] = {
    Fraction: ("fraction", lambda x: [x.numerator, x.denominator], _fraction),
    Decimal: ("decimal", lambda x: [str(x)], lambda parts: _decimal(*parts)),
    datetime.datetime: ("datetime", lambda x: [x.isoformat()], _time(datetime.datetime)),
    datetime.date: ("date", lambda x: [x.isoformat()], _time(datetime.date)),
    datetime.time: ("time", lambda x: [x.isoformat()], _time(datetime.time)),
    datetime.timedelta: (
        "timedelta",
        lambda x: [x.days, x.seconds, x.microseconds],
        lambda parts: datetime.timedelta(*parts),
    ),
}
"""By exact type: the kind's name, its parts (numbers and texts), and how it is made of them."""

TYPES: dict[type, str] = {
    kind: f"{kind.__module__}.{kind.__name__}"
    for kind in (bool, bytes, complex, dict, float, frozenset, int, list, set, str, tuple, Decimal, Fraction)
}
"""Classes of plain values, which travel by name."""
_BY_NAME = {name: kind for kind, name in TYPES.items()}


def read_type(name: Any) -> type:
    """Return the class of this name; KeyError if it is not in the table."""
    return _BY_NAME[name]


def large(value: int) -> dict[str, Any]:
    """Return the JSON for an integer that JSON does not hold exactly; WireError if it is too long."""
    if value.bit_length() > _MAX_INT_BITS:
        raise WireError(f"an integer of {value.bit_length():,} bits")
    return {"t": "int", "v": hex(value)}


def constant(value: Any) -> Any:
    """Return a value of JSON that stands for itself; a short word as the one text that Python keeps of it.

    Python does so with constants in code, and `operation is "add"` is true in a notebook.
    """
    if type(value) is not str or len(value) > _MAX_WORD or not value.isascii():
        return value
    return sys.intern(value) if value.isidentifier() or value.isalnum() else value


def read_large(text: str) -> int:
    """Return the integer of such JSON."""
    if len(text) > _MAX_INT_BITS // 4 + 3:
        raise WireError("an integer that is too long")
    return int(text, 16)


BY_PYTHON = {"__annotations__", "__firstlineno__", "__static_attributes__"}
"""What Python itself notes of a class, from 3.13 on in any case."""
_EMPTY_BODY = BY_PYTHON | {"__module__", "__doc__", "__dict__", "__weakref__", "__qualname__", "__abstractmethods__",
                           "_abc_impl"}  # fmt: skip
"""What a class has of its own where nothing stands in its body."""


def adds_nothing(kind: type, to: Container[type] = TYPES) -> bool:
    """Whether a class is one of these under another name: derived from one alone, with nothing in its body."""
    own = vars(kind).keys() - _EMPTY_BODY
    if len(kind.__bases__) != 1 or kind.__bases__[0] not in to:
        return False
    return not own or (own == {"__slots__"} and vars(kind)["__slots__"] == ())
