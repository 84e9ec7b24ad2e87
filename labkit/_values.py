"""Reads what a student's function returned, by the built-in types' own methods, and puts it into words.

A class of the student's may define `__eq__`, `__array__`, `__float__` or `__repr__`; none of them is asked. Where a
grader keeps the student's objects in another process, it says how to read them (`adopt`).
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

__all__ = [
    "Array",
    "NotNumbers",
    "Remote",
    "adopt",
    "describe",
    "digits",
    "dtype_name",
    "is_tensor",
    "items",
    "local",
    "numbers",
    "plain",
    "remotes",
    "short",
]

Array = np.ndarray[Any, Any]

_CONTAINERS: tuple[Any, ...] = (list, tuple, dict, set, frozenset)
_SCALARS: dict[Any, Any] = {
    int: int.__int__,
    float: float.__float__,
    complex: complex.__complex__,
    str: str.__str__,
    bytes: bytes.__bytes__,
}
_TENSORS = (("tensorflow", "Tensor"), ("tensorflow", "Variable"), ("keras", "Variable"))


class NotNumbers(TypeError):
    """A value is no number and holds none; the message says what it is."""


class Remote(Protocol):
    """A grader that keeps the student's objects in another process; in a notebook there is none."""

    def is_remote(self, value: Any) -> bool:
        """Whether this stands for an object of the student's."""

    def value(self, value: Any) -> Any:
        """Return what the object holds, as a plain value, array or tensor; itself if it holds none."""

    def type_name(self, value: Any) -> str:
        """Return the name of its class."""

    def operators(self) -> AbstractContextManager[None]:
        """Let operators of the student's classes take values of the test's while this is open."""

    def share(self, value: Any) -> None:
        """Let in-place changes of this argument in the student's process reach the test's own."""

    def forget_changes(self, value: Any) -> None:
        """Begin to watch an argument."""

    def was_changed(self, value: Any) -> bool:
        """Whether the student's code has changed it since."""

    def now(self, value: Any) -> Any:
        """Return what came of an earlier call as it is now, anew; the value itself if it is no such thing."""

    def common(self, one: Any, other: Any) -> bool:
        """Whether what came of a call is, or lies in the memory of, an argument or what came of another call."""


remotes: list[Remote] = []
"""The grader that this process tests for, if any."""


def adopt(remote: Remote) -> None:
    """Read the student's objects by this grader from now on."""
    remotes[:] = [remote]


# --------------------------------------------------------------------------------------------------------------- values
def local(value: Any) -> Any:
    """Return what an object of the student's process holds; everything else as it is."""
    return next((remote.value(value) for remote in remotes if remote.is_remote(value)), value)


def plain(value: Any) -> Any:
    """Return NumPy's numbers, and subclasses of built-in types, as the built-in value that they hold."""
    value = local(value)
    kind = type(value)
    if kind is bool:
        return value
    if issubclass(kind, np.generic):
        return np.asarray(value).item()
    for base, read in _SCALARS.items():
        if issubclass(kind, base):
            return read(value)
    for base in _CONTAINERS:
        if issubclass(kind, base):
            return base(items(value))
    return value


def items(value: Any) -> Iterable[Any]:
    """Return the items of a built-in container, or of a subclass that would have us believe otherwise."""
    kind = type(value)
    if issubclass(kind, dict):
        return dict.items(value)
    return next(base.__iter__(value) for base in (list, tuple, range, set, frozenset) if issubclass(kind, base))


def numbers(value: Any) -> Array:
    """Return a number, nested lists of them, an array or a tensor as a NumPy array; raise NotNumbers for all else."""
    try:
        array = np.asarray(_nested(value))
    except ValueError:
        raise NotNumbers(f"{describe(value)}, whose entries differ in shape") from None
    if array.dtype.kind not in "biufc":
        raise NotNumbers(describe(value))
    return array


def _nested(value: Any) -> Any:
    """Return what NumPy may read without asking any method of the student's."""
    value = local(value)
    kind = type(value)
    if issubclass(kind, np.ndarray | np.generic):
        return np.asarray(value)
    if kind is bool:
        return value
    for number in (int, float, complex):
        if issubclass(kind, number):  # of a subclass its number, whatever it defines
            return _SCALARS[number](value)
    if kind in {Fraction, Decimal}:
        return _as_float(value)
    if issubclass(kind, list | tuple | range):
        try:
            return [_nested(item) for item in items(value)]
        except NotNumbers:
            raise NotNumbers(describe(value)) from None
    if is_tensor(value):
        return _host(value)
    raise NotNumbers(describe(value))


def _as_float(value: Fraction | Decimal) -> float:
    try:
        return float(value)
    except (OverflowError, ValueError):  # beyond every float; a Decimal that signals
        raise NotNumbers(describe(value)) from None


def is_tensor(value: object) -> bool:
    """Whether this is a tensor of a framework that is loaded; no framework is imported here."""
    kind = type(value)
    torch = sys.modules.get("torch")
    if torch and kind in {torch.Tensor, torch.nn.Parameter}:
        return True
    known = [getattr(sys.modules.get(module), name, None) for module, name in _TENSORS]
    return any(isinstance(base, type) and issubclass(kind, base) for base in known)


def _host(tensor: Any) -> Array:
    """Return a tensor's numbers; bfloat16 and the 8-bit floats, which NumPy does not know, as float32."""
    try:
        if hasattr(tensor, "detach"):
            narrow = dtype_name(tensor).startswith(("bfloat16", "float8"))
            return np.asarray((tensor.float() if narrow else tensor).numpy(force=True))
        array = np.asarray(tensor.numpy())
        return array.astype(np.float32) if array.dtype.kind == "V" else array
    except Exception as error:  # sparse, quantised, symbolic, on the meta device: each framework says it its own way
        raise NotNumbers(f"a tensor that cannot be read ({str(error).partition('. ')[0]})") from error


def dtype_name(value: Any) -> str:
    """Return the name of an array's or tensor's dtype, "float32"; empty for anything else, whatever it says of itself.

    Numbers whose bytes stand in the order of another machine have a dtype of their own, which is said.
    """
    if not issubclass(type(value), np.ndarray | np.generic) and not is_tensor(value):
        return ""
    dtype = value.dtype
    swapped = isinstance(dtype, np.dtype) and not dtype.isnative
    return str(getattr(dtype, "name", dtype)).removeprefix("torch.") + (", bytes swapped" if swapped else "")


# ---------------------------------------------------------------------------------------------------------------- words
def describe(value: object) -> str:
    """Return what a value is, in words for a student."""
    value = plain(value)
    kind = type(value)
    if value is None:
        return "None"
    if issubclass(kind, np.ndarray):
        array = np.asarray(value)
        if array.dtype.kind == "O" and array.shape == ():  # what came is no array: None, for example
            return describe(array.item()) if type(array.item()) in {type(None), bool, *_SCALARS} else "a single object"
        return f"an array of shape {array.shape} and dtype {array.dtype}"
    if kind is bytes:
        return short(value)
    if kind in {bool, range, *_SCALARS, *_CONTAINERS}:
        return f"the {kind.__name__} {short(value)}"
    return f"a value of type {_type_name(value)}"


def _type_name(value: object) -> str:
    names = [remote.type_name(value) for remote in remotes if remote.is_remote(value)]
    return (names or [type(value).__name__])[0][:60]


def short(value: object) -> str:
    """Return the value's text, cut to about a line."""
    text = " ".join(_SHORT.repr(plain(value)).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def digits(*values: object) -> list[str]:
    """Return the values' texts with as many digits as it takes to tell them apart."""
    found = [plain(value) for value in values]
    for precision in (6, 9):
        texts = [f"{v:.{precision}g}" if isinstance(v, float | complex) else short(v) for v in found]
        if len(set(texts)) == len(texts):
            return texts
    return [short(value) for value in found]


class _Short(reprlib.Repr):
    """Names what is not built in by its type, so that neither an address nor a long text gets in."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = 60
        self.maxlevel = 3

    def repr_int(self, x: int, level: int) -> str:
        return super().repr_int(x, level) if x.bit_length() < 4096 else f"<{x.bit_length()} bits>"

    def repr_instance(self, x: Any, level: int) -> str:
        value = plain(x)
        if value is None or isinstance(value, bool | float | complex):
            return repr(value)
        if isinstance(value, np.ndarray):
            return f"array of shape {np.shape(x)}"
        if type(value) is bytes:
            return _hex(value)
        if isinstance(value, type):
            return value.__name__[:60]
        kind = type(value)
        return str(value) if kind.__module__ == "torch" and kind.__name__ == "dtype" else f"<{_type_name(value)}>"


def _hex(value: bytes) -> str:
    if not value:
        return "no bytes"
    if len(value) <= 16:
        return f"bytes {value.hex(' ')}"
    return f"{len(value)} bytes {value[:16].hex(' ')} ..."


_SHORT = _Short()
