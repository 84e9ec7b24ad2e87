"""What stands for an object of the other process: what may be done to it is done there, see `operations`.

On the trusted side a value comes before everything else: an object that holds a number, a text, an array is read
first, and what is computed or compared with it is computed here. An object that holds no value is given nothing of the
test's to compute with, for it would be told what is expected and could then agree.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from autograder.boundary import stand_ins
from autograder.boundary.classes import DEFAULT, class_of, signature_of
from autograder.boundary.formatting import formatted
from autograder.boundary.functions import miss
from autograder.boundary.handles import (
    Bare,
    StandIn,
    ask,
    believe,
    class_name,
    exact,
    handle_of,
    is_made,
    is_object,
    peer_of,
    plain,
    plain_all,
    refusal,
    unasked,
)
from autograder.boundary.judging import Predicate
from autograder.boundary.operations import ARITHMETIC, OF_TUPLES, READ_BY_NAME, compares
from autograder.boundary.operators import METHODS
from autograder.boundary.shapes import OF_ALL, Shapes
from autograder.boundary.ufuncs import array_ufunc

if TYPE_CHECKING:
    from autograder.boundary.peer import Peer

__all__ = ["SHAPES", "Proxy", "compares", "is_special", "make", "reshaped"]

_READING = {
    "dict": frozenset({"copy", "get", "items", "keys", "values"}),
    "set": frozenset({"copy", "difference", "intersection", "symmetric_difference", "union"}),
    "frozenset": frozenset({"copy", "difference", "intersection", "symmetric_difference", "union"}),
    "list": frozenset({"copy", "count", "index"}),
    **{kind.__name__: frozenset(n for n in dir(kind) if n[0] != "_") for kind in (str, bytes, tuple, float, complex)},
    "int": frozenset(name for name in dir(int) if name[0] != "_"),
}
"""Methods of built-in classes that only read: of an object of a derived class they read its value, here."""

_COMPUTING = _READING["set"] - {"copy"}
"""Of these, methods that compute with what they are given, which may be what is expected: never the student's own."""

_VALUES = {bool, bytes, complex, dict, float, frozenset, int, list, set, str, tuple}
"""Classes of values that a stand-in has when its object, of a derived class, holds one."""

_CONTAINERS = {"dict", "frozenset", "list", "set", "tuple"}
_NUMBERS = {"builtins.complex", "builtins.float", "builtins.int", "decimal.Decimal", "fractions.Fraction"}
_OWN_OF_NUMBERS = frozenset({"invert", "neg", "pos", "repr", "str"})
_OWN_OF_CONTAINERS = _OWN_OF_NUMBERS | OF_TUPLES | {"abs", "bool"}
_OWN_OF_TEXTS = frozenset({"repr", "str"})
"""Operators of one operand that are the object's own if its class, derived from a built-in one, overrides them: the
length of a vector that is a named tuple. What a number or a text is, is read."""

_PATHS = {"Path", "PosixPath", "PurePath", "PurePosixPath", "PureWindowsPath"}

_NO_COPY = "an object of the tested code cannot be copied or pickled by a test"

_PROTOCOLS = {"_subtyp", "_typ"}
"""Names without underscores at their end by which pandas knows its own classes."""


class Proxy(StandIn):
    """Attributes are handed on, and what the special methods do that its objects' classes have: see shapes."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        peer = peer_of(self)
        if not peer.trusted:
            if name == "__signature__" and (known := object.__getattribute__(self, "_boundary_signature")) is not None:
                return known
            return ask(self, "getattr", name)
        if is_special(name):
            if name not in READ_BY_NAME or (text := _text(self, name)) is None:
                raise AttributeError(f"{name} of an object of the tested code is not to be seen by a test", name=name)
            return text
        reads = _READING.get(object.__getattribute__(self, "_boundary_value"), frozenset())
        own_method = f".{name}" in object.__getattribute__(self, "_boundary_overrides") and name not in _COMPUTING
        if name in reads and not own_method and not is_object(own := plain(self)):
            return _reading(getattr(own, name))
        if is_object(found := ask(self, "getattr", name)):
            believe(self, f".{name}")
        return Predicate(self, name, found) if compares(name) and is_object(found) else found

    def __setattr__(self, name: str, value: Any) -> None:
        _not_special(self, name)
        ask(self, "setattr", name, value)

    def __delattr__(self, name: str) -> None:
        _not_special(self, name)
        ask(self, "delattr", name)

    def __hash__(self) -> int:
        """Of the value, where it is a number, a text or a tuple underneath; one of the test's says it itself.

        One of the student's is the object's: two that its class takes for equal would be compared.
        """
        says, trusted = object.__getattribute__(self, "_boundary_hashes"), peer_of(self).trusted
        own = plain(self) if trusted and says == "value" else self
        if not is_object(own):
            unasked(self, "hash")
            return hash(own)
        if says is True and not trusted:
            return int(exact(ask(self, "hash"), int, "hash"))
        peer_of(self).hashed = True
        return hash((Proxy, handle_of(self)))

    def __instancecheck__(self, value: Any) -> bool:
        """A value of the test's is an instance of no class of the student's, who need not see it to say so."""
        known = getattr(value, "_boundary_origin", None) if isinstance(value, BaseException) else None
        if type(known) is int:
            value = Bare(known)
        if peer_of(self).trusted and handle_of(value) is None:
            of = getattr(type(value), "_boundary_class_handle", None)  # a value, of a class made here for the student's
            return of == handle_of(self) or (of is not None and bool(ask(self, "issubclass", Bare(of))))
        return bool(peer_of(self).ask("isinstance", self, [value]))

    def __subclasscheck__(self, value: Any) -> bool:
        if peer_of(self).trusted and not is_object(value):
            return False
        return bool(ask(self, "issubclass", value))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        own = plain(self)
        if is_object(own) and not is_made(self):
            own = ask(self, "array")
        if is_object(own) or type(array := np.asarray(own)) is not np.ndarray or array.dtype.hasobject:
            raise refusal(self, "this object holds no plain numbers")
        return np.array(array, dtype=dtype, copy=copy)

    __array_ufunc__ = array_ufunc

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not peer_of(self).trusted:
            return NotImplemented
        return function(*plain_all(args), **plain_all(kwargs))

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """torch computes here, with values that were read before."""
        return function(*plain_all(args), **plain_all(dict(kwargs or {})))

    def __fspath__(self) -> str:
        own = plain(self)
        if type(own) is not str:
            if class_name(self) not in _PATHS:
                raise refusal(self, f"expected a path, got an object of class {class_name(self)}")
            own = str(self)
        return own

    def __format__(self, spec: str) -> str:
        own = plain(self) if peer_of(self).trusted else self
        if is_object(own) and peer_of(self).trusted and not is_made(self):
            return formatted(self, spec)
        unasked(self, "format")
        shown = not spec and "str" in object.__getattribute__(self, "_boundary_overrides")  # as Python's own classes do
        return format(str(self) if is_object(own) or shown else own, spec)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The class of the value that the object holds, or of a framework: isinstance answers as it would there.

        Neither array nor tensor: libraries written in C take an object that says so for the memory of one.
        """
        peer = peer_of(self)
        own = plain(self) if peer.trusted else self
        known: type = object.__getattribute__(self, "_boundary_class")
        return type(own) if type(own) in _VALUES and not issubclass(known, type(own)) else known

    def __dir__(self) -> list[str]:
        if not peer_of(self).trusted:
            miss(self)
        return []

    def __deepcopy__(self, memo: Any) -> Any:
        """The value that it holds; for the student's code the object itself, as functions are that Python copies."""
        if not peer_of(self).trusted:
            return self
        if is_object(own := plain(self)):
            raise refusal(self, _NO_COPY)
        return copy.deepcopy(own)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """As above: `copy.copy` takes a text for the object itself. With `__copy__` tee() would make two of one."""
        if not peer_of(self).trusted:
            return class_name(self)
        if is_object(own := plain(self)):
            raise refusal(self, _NO_COPY)
        return (type(own), (own,)) if type(own) in _VALUES else (copy.deepcopy, (own,))


def _reading(method: Any) -> Any:
    """Return a method of a value, which reads what it is given of the student's, as the value was read."""
    return (lambda *args, **kwargs: method(*plain_all(args), **plain_all(kwargs))) if callable(method) else method


def make(peer: Peer, handle: int, description: Mapping[str, Any]) -> Proxy:
    """Return the proxy of an object that the other end keeps under this handle."""
    names = description.get("c")
    names = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    module = description.get("m")
    value = next((kind for kind in _READING if f"builtins.{kind}" in names), "")
    by_value = value in {"int", "float", "complex", "str", "bytes", "tuple", "frozenset"}
    hashes = "value" if by_value and peer.trusted else description.get("s")
    kind = SHAPES.derived(description.get("z"), hashed=hashes is not False)
    proxy: Any = object.__new__(kind) if peer.trusted else stand_ins.new(kind, description)
    said = frozenset(map(str, told)) if isinstance(told := description.get("o"), list) else frozenset()
    numbers = _OWN_OF_NUMBERS if _NUMBERS.intersection(names) else frozenset()
    own = _OWN_OF_CONTAINERS if value in _CONTAINERS else _OWN_OF_TEXTS if value == "str" else numbers
    asked_for = frozenset(name for name in said if name.startswith(".") or name in own | ARITHMETIC)
    known = {
        "peer": peer,
        "handle": handle,
        "made": False,
        "builtin": bool(names) and names[0].startswith("builtins."),
        "signature": signature_of(description["p"]) if not peer.trusted and "p" in description else None,
        "items": None,
        "read": (-1, -1, 0.0, None),
        "begun": False,
        "module": module if isinstance(module, str) else "",
        "name": names[0].rpartition(".")[2] if names else "object",
        "class": class_of(names, trusted=peer.trusted) or type(proxy),
        "value": value,
        "overrides": asked_for,
        "unasked": said - asked_for,
        "hashes": hashes,
    }
    for name, about in known.items():
        object.__setattr__(proxy, f"_boundary_{name}", about)
    return cast("Proxy", proxy)


def reshaped(known: Any, description: Mapping[str, Any]) -> Any:
    """Return a stand-in, which has from now on the special methods that its object's class has now."""
    kind = SHAPES.derived(description.get("z"), hashed=description.get("s") is not False)
    if type(known) is not kind:
        vars(object)["__class__"].__set__(known, kind)
    return known


def is_special(name: str) -> bool:
    """Whether the interpreter or a library looks this name up by itself: __array__, _repr_html_, _typ."""
    return (name.startswith("_") and name.endswith("_")) or name in _PROTOCOLS


def _text(proxy: Proxy, name: str) -> str | None:
    """Return an attribute that is a text, such as a function's name; None if it is anything else."""
    found = ask(proxy, "getattr", name)
    return found if type(found) is str else None


def _not_special(proxy: Proxy, name: str) -> None:
    if peer_of(proxy).trusted and is_special(name):
        raise AttributeError(f"{name} of an object of the tested code is not to be set by a test", name=name)


def _call(self: Proxy, *args: Any, **kwargs: Any) -> Any:
    if not peer_of(self).trusted:  # its signature there has no value of the test's for a default
        args = tuple(itertools.takewhile(lambda value: value is not DEFAULT, args))
        kwargs = {name: value for name, value in kwargs.items() if value is not DEFAULT}
    return peer_of(self).ask("call", self, args, kwargs)


def _enter(self: Proxy) -> Any:
    return ask(self, "enter")


def _exit(self: Proxy, kind: Any, error: Any, trace: Any) -> bool:
    """A student's context manager ends no error of a test, unless the test says that this is what it tests."""
    peer_of(self).withheld |= kind is not None and bool(error.args)
    ended = bool(ask(self, "exit", kind))
    return ended and (peer_of(self).operators or not peer_of(self).trusted)


for _name in OF_ALL & METHODS.keys():
    setattr(Proxy, _name, METHODS[_name])
SHAPES = Shapes(Proxy, {**METHODS, "__call__": _call, "__enter__": _enter, "__exit__": _exit})
"""The classes that stand-ins are of."""
# Found on the class, its own text would stand for that of every function of the student's.
setattr(Proxy, "__doc__", property(lambda proxy: _text(proxy, "__doc__")))  # noqa: B010
