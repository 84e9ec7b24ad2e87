"""A stand-in for an object of the other process, as the rest of the boundary sees it: its handle, and its value."""

from __future__ import annotations

import copy
import time
import types
import weakref
from typing import TYPE_CHECKING, Any, ClassVar, cast

if TYPE_CHECKING:
    from autograder.boundary.peer import Peer

__all__ = [
    "EXACT",
    "FRESH_S",
    "FUNCTIONS",
    "INSTEAD",
    "Bare",
    "Method",
    "StandIn",
    "ask",
    "believe",
    "class_name",
    "exact",
    "handle_of",
    "is_made",
    "is_object",
    "is_remote_tensor",
    "is_stand_in",
    "items_anew",
    "module_name",
    "peer_of",
    "plain",
    "plain_all",
    "refusal",
    "stands",
    "unasked",
]

FUNCTIONS: weakref.WeakKeyDictionary[types.FunctionType, StandIn] = weakref.WeakKeyDictionary()
"""In the student's process: functions that stand for those of the test's, see functions."""
FRESH_S = 1.0
"""For so long what was read of the student's process stands, if nothing is done there."""
INSTEAD = ": read a value from it by name"
"""How a refusal ends."""


EXACT = {
    **{"bool": bool, "int": int, "float": float, "complex": complex, "index": int, "str": str, "repr": str},
    **{"bytes": bytes, "format": str, "hash": int},
}
"""What Python itself demands of these methods; a stand-in must not be able to raise an error of the interpreter."""


class StandIn:
    """Base class of what stands for an object of the other process: where that lies, and what was said about it."""

    _boundary_own: ClassVar[frozenset[str]] = frozenset()
    """Of the special methods that every object has, those that its class has of its own; see shapes."""
    __slots__ = (
        "__weakref__",
        "_boundary_begun",
        "_boundary_builtin",
        "_boundary_class",
        "_boundary_handle",
        "_boundary_hashes",
        "_boundary_items",
        "_boundary_made",
        "_boundary_module",
        "_boundary_name",
        "_boundary_overrides",
        "_boundary_peer",
        "_boundary_read",
        "_boundary_signature",
        "_boundary_unasked",
        "_boundary_value",
    )


class Bare:
    """An object of the other end of which only the handle is known."""

    def __init__(self, handle: int) -> None:
        self.handle = handle


class Method:
    """A method of an object of the student's, which compares; see proxy.Predicate."""

    method: Any


def handle_of(value: Any) -> int | None:
    """Return the handle of a stand-in; None for everything else."""
    kind = type(value)
    if issubclass(kind, StandIn):
        return cast("int", object.__getattribute__(value, "_boundary_handle"))
    if kind is Bare:
        return cast("int", value.handle)
    if issubclass(kind, Method):
        return handle_of(value.method)
    if kind is types.FunctionType:
        return handle_of(FUNCTIONS.get(value))
    return cast("int", value.handle()) if is_remote_tensor(kind) else None


def is_object(value: Any) -> bool:
    """Whether this is a stand-in; of what `plain` returns, one that holds no value."""
    return issubclass(type(value), StandIn)


def is_stand_in(value: Any) -> bool:
    """Whether this stands for an object of the other end."""
    return issubclass(type(value), StandIn | Method) or is_remote_tensor(type(value))


def peer_of(value: StandIn) -> Peer:
    """Return the end that this proxy asks."""
    return cast("Peer", object.__getattribute__(value, "_boundary_peer"))


def class_name(value: Any) -> str:
    """Return the name of the object's class."""
    if issubclass(type(value), StandIn):
        return cast("str", object.__getattribute__(value, "_boundary_name"))
    return "method" if issubclass(type(value), Method) else "Tensor"


def module_name(value: Any) -> str:
    """Return the name of the module that this stands for; empty for everything else."""
    return cast("str", object.__getattribute__(value, "_boundary_module")) if issubclass(type(value), StandIn) else ""


def plain(value: Any) -> Any:
    """Return the plain value that an object of the student's holds; the object if it holds none, and all else as is."""
    kind = type(value)
    if issubclass(kind, Method):
        return value.method
    if issubclass(kind, StandIn):
        return value if is_made(value) else _held(value)
    return value.held() if is_remote_tensor(kind) else value


def stands(peer: Peer, turn: int, until_s: float) -> bool:
    """Whether what was read at a turn of the student's process still stands: nothing was done there, nor is it late."""
    return turn == peer.turn and time.monotonic() <= until_s


def _held(value: StandIn) -> Any:
    """Return what the object holds: as it was read before, as long as nothing has run that may have changed it.

    So it does not answer one question by one value and the next by another. A thread of the student's may change it.
    If it is another although nothing was done that is meant to change it, or shorter, this is its class's word.
    """
    peer = peer_of(value)
    turn, done, until_s, found = object.__getattribute__(value, "_boundary_read")
    if peer.trusted and stands(peer, turn, until_s):
        return found
    from autograder.boundary.exchanges import alike  # which needs what is here

    again = peer.ask("value", value)
    shorter = type(again) is type(found) and type(again) in {list, set, frozenset, dict} and len(again) < len(found)
    if peer.trusted and (shorter or (done == peer.done and not alike(found, again))):
        believe(value, "each reading")
    object.__setattr__(value, "_boundary_read", (peer.turn, peer.done, time.monotonic() + FRESH_S, again))
    return again


def items_anew(value: StandIn, most: int, *, each: bool) -> Any:
    """Return the items of a list or a set as they are now; None if it is none, or has more than so many to be read.

    each: all of them are gone through, and read again and again while calls go on. Else what still stands is given.
    """
    turn, _, until_s, found = object.__getattribute__(value, "_boundary_read")
    if _many(found, most) and (each or not stands(peer_of(value), turn, until_s)):
        return None
    own = plain(value)
    return own if type(own) in _ITEMS and not (each and _many(own, most)) else None


_ITEMS = {list, set, frozenset}


def _many(found: Any, most: int) -> bool:
    return type(found) in _ITEMS and len(found) > most


def plain_all(value: Any) -> Any:
    """Return arguments with the values of the student's objects in their places; TypeError for one that holds none.

    In lists, tuples and dictionaries, and in those of derived classes, named tuples too.
    """
    kind = type(value)
    if kind in {list, tuple}:
        return kind(plain_all(item) for item in value)
    if kind is dict:
        return {key: plain_all(item) for key, item in value.items()}
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return tuple.__new__(kind, map(plain_all, value))
    if issubclass(kind, list | dict):
        found = copy.copy(value)
        for key, item in [*found.items()] if issubclass(kind, dict) else enumerate(value):
            found[key] = plain_all(item)
        return found
    found = plain(value)
    if found is not value and issubclass(type(found), list | tuple | dict):  # and in it others
        return plain_all(found)
    if issubclass(type(found), StandIn):
        raise refusal(found, f"{class_name(found)} holds no value to compute with{INSTEAD}")
    return found


def refusal(proxy: StandIn, text: str, kind: type[Exception] = TypeError) -> Exception:
    """Return the error of what a stand-in does not do, and note it: the test may wait for such an error."""
    peer_of(proxy).refused = True
    return kind(text)


def exact(value: Any, kind: type, operation: str) -> Any:
    """Return what a special method has given; TypeError if it is of another class than Python demands."""
    if type(value) is not kind:
        raise TypeError(f"__{operation}__ returned no {kind.__name__}")
    return value


def believe(proxy: StandIn, asked: str) -> None:
    """Note that only the class of the student's object says what it answers to this: a method, an operator."""
    peer_of(proxy).believed.add(asked)


def is_remote_tensor(kind: type) -> bool:
    """Whether this is the class of tensors whose graph lies in the student's process: see graph."""
    return kind.__name__ == "RemoteTensor" and kind.__module__ == "autograder.boundary.graph"


def unasked(proxy: StandIn, operation: str) -> None:
    """Note that the value was asked, where the class of its object, derived from one of values, has this of its own."""
    if operation in object.__getattribute__(proxy, "_boundary_unasked"):
        believe(proxy, f"__{operation}__")


def is_made(proxy: StandIn) -> bool:
    """Whether an operator of the student's made the object out of a value of the test's."""
    return cast("bool", object.__getattribute__(proxy, "_boundary_made"))


def ask(proxy: StandIn, operation: str, *arguments: Any) -> Any:
    """Ask the other end to do something with the object."""
    return peer_of(proxy).ask(operation, proxy, arguments)
