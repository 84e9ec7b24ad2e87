"""Operators of a stand-in: done on the trusted side with values, or by the student's object, or refused.

See operations for when. The functions here are methods of proxy.Proxy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

from autograder.boundary.handles import (
    EXACT,
    INSTEAD,
    StandIn,
    ask,
    believe,
    class_name,
    exact,
    handle_of,
    is_made,
    is_object,
    is_remote_tensor,
    items_anew,
    peer_of,
    plain,
    refusal,
    unasked,
)
from autograder.boundary.operations import BINARY, COMPARISONS, IN_PLACE, OF_TUPLES, OPERATIONS, UNARY

__all__ = ["METHODS"]


def _operator(operation: str) -> Callable[..., Any]:
    """Values are computed with here; what the student's operator makes of a value of the test's is read by name."""

    def method(self: StandIn, other: Any, *more: Any) -> Any:
        peer = peer_of(self)
        if not peer.trusted:
            return ask(self, operation, other, *more)
        if is_remote_tensor(type(other)):
            return NotImplemented
        theirs = is_object(other)
        if theirs and (operation in _overridden(self) or f"r{operation}" in _overridden(other)):
            mine, yours = self, other
        else:
            mine, yours = plain(self), plain(other)
        if not is_object(mine) and not is_object(yours):
            return OPERATIONS[operation](mine, yours, *more)
        return _done_there(self, operation, other, *more)

    return method


def _in_place(operation: str) -> Callable[..., Any]:
    """What a value becomes is computed with here; the student's object changes itself, and says what it is then."""

    def method(self: StandIn, other: Any) -> Any:
        if not peer_of(self).trusted:
            return ask(self, operation, other)
        if is_remote_tensor(type(other)) or not is_object(plain(self)):
            return NotImplemented
        return _done_there(self, operation, other)

    return method


def _done_there(self: StandIn, operation: str, other: Any, *more: Any) -> Any:
    """Return what the student's operator makes of two objects of the student's, or of one and a value of the test's."""
    theirs = is_object(other)
    if not (theirs or peer_of(self).operators):
        raise refusal(self, f"{class_name(self)} {operation} a value of the test: {_ASK_FOR_IT}")
    believe(self, f"__{operation}__")
    result = ask(self, operation, other, *more)
    return result if theirs and not (is_made(self) or is_made(other)) else _by_name_only(self, operation, result)


_ASK_FOR_IT = "if the operator is what is tested, say so by `with check.operators():`"


def _by_name_only(proxy: StandIn, operation: str, result: Any) -> StandIn:
    if not is_object(result):
        raise refusal(
            proxy, f"{class_name(proxy)} {operation} gives a plain value, made of the test's: use a check instead"
        )
    object.__setattr__(result, "_boundary_made", True)
    return cast("StandIn", result)


def _comparison(operation: str) -> Callable[..., Any]:
    """Values are compared here; an object that holds none is equal to itself, and compared with nothing else."""

    def method(self: StandIn, other: Any) -> Any:
        peer = peer_of(self)
        if not peer.trusted:
            return ask(self, operation, other)
        mine, yours = plain(self), plain(other)
        if not is_object(mine) and not is_object(yours):
            unasked(self, operation)
            return OPERATIONS[operation](mine, yours)
        if operation in {"eq", "ne"} and (self is other or other is None):
            return _with_itself_or_none(self, operation, other)
        if peer.operators and is_object(other) and not (is_made(self) or is_made(other)):
            return exact(ask(self, operation, other), bool, operation)
        raise refusal(self, f"{class_name(self)} holds no value that could be compared{INSTEAD}")

    return method


def _with_itself_or_none(self: StandIn, operation: str, other: Any) -> bool:
    """Return whether it is itself, or None, unless its class says that of None, or raises an error at the question."""
    same = (self is other) == (operation == "eq")
    if not {f"__{operation}__", "__eq__"} & type(self)._boundary_own:
        return same
    believe(self, f"__{operation}__")
    said = ask(self, operation, other)
    if type(said) is not bool or said is same:
        return same
    if other is None:
        raise refusal(self, f"{class_name(self)} says that it is None, which a test may wait for")
    return said


_ITERATORS = {"enumerate", "filter", "generator", "map", "zip", "list_iterator", "tuple_iterator", "set_iterator",
              "dict_keyiterator", "reversed", "list_reverseiterator", "range_iterator"}  # fmt: skip
"""Built-in classes without a `__contains__` of their own: `in` goes through the items."""


def _contains(self: StandIn, item: Any) -> bool:
    peer = peer_of(self)
    if peer.trusted:
        mine, yours = plain(self), plain(item)
        if not is_object(mine) and not is_object(yours):
            unasked(self, "contains")
            return yours in mine
        if not is_object(yours) and class_name(self) in _ITERATORS:
            return any(plain(found) is yours or plain(found) == yours for found in ask(self, "iter"))
        if not is_object(item) and not peer.operators:
            raise refusal(self, f"`in` {class_name(self)} would be told what is expected: {_ASK_FOR_IT}")
    return cast("bool", exact(ask(self, "contains", item), bool, "contains"))


_TEXTS = {"str", "bytes"}
_READ_ANEW = {"list", "set", "frozenset"}
"""Classes whose objects' items are read here, of derived ones too: one value answers all, until something is done."""
_MOST_READ_ANEW = 500
"""Of more items each is asked for, which is the class's word: to read all after each call would take too long."""


def _overridden(self: StandIn) -> frozenset[str]:
    """Return the operators that a class derived from one of plain values overrides: `abs` of a vector, `+` of two.

    They are asked for where they are told nothing of the test's: with one operand, or two of the student's.
    """
    return cast("frozenset[str]", object.__getattribute__(self, "_boundary_overrides"))


def _items(self: StandIn, operation: str) -> Any:
    """Return the items of a tuple, asked for once: they stay; of a list or a set as they are now.

    None for all else, and if its class overrides this. Of a text all is read, whatever its class says.
    """
    value = object.__getattribute__(self, "_boundary_value")
    if value in _TEXTS and peer_of(self).trusted:
        own = plain(self)
        return own if type(own) in (str, bytes) else None
    known = object.__getattribute__(self, "_boundary_items")
    if known is None and value == "tuple" and peer_of(self).trusted:
        own = plain(self)
        known = own if type(own) is tuple else None
        object.__setattr__(self, "_boundary_items", known)
    if value in _READ_ANEW and peer_of(self).trusted and operation not in _overridden(self):
        known = items_anew(self, _MOST_READ_ANEW, each=operation == "iter")
    return None if operation in _overridden(self) else known


def _unary(operation: str) -> Callable[..., Any]:
    def method(self: StandIn, *arguments: Any) -> Any:
        if not peer_of(self).trusted:
            value = ask(self, operation, *arguments)
        elif operation not in _overridden(self) and not is_object(own := plain(self)):
            unasked(self, operation)
            return OPERATIONS[operation](own, *arguments)
        else:
            if operation == "bool" and _goes_through_items(self):
                return True
            believe(self, f"__{operation}__")
            value = ask(self, operation, *arguments)
            value = _by_name_only(self, operation, value) if is_made(self) else value
        return exact(value, EXACT[operation], operation) if operation in EXACT else value

    return method


def _goes_through_items(self: StandIn) -> bool:
    """Whether this is said to be an iterator of Python's own: its items, given once, are all that it says."""
    return class_name(self) in _ITERATORS and bool(object.__getattribute__(self, "_boundary_builtin"))


def _gone_through(self: StandIn) -> Iterator[Any]:
    """Yield the items of a list as Python does, which looks at each time how many there are."""
    place = 0
    while type(own := plain(self)) is list and place < len(own):
        yield own[place]
        place += 1


_BELIEVED = {"getitem", "iter", "len"}
"""What a class may answer as it likes, where of a value it is known."""


def _method(operation: str) -> Callable[..., Any]:
    def method(self: StandIn, *arguments: Any) -> Any:
        if is_made(self) and operation not in {"getitem", "setitem", "delitem"}:
            raise refusal(self, f"{class_name(self)} was made of the test's value{INSTEAD}")
        if operation in OF_TUPLES and (own := _items(self, operation)) is not None:
            return (
                _gone_through(self)
                if operation == "iter" and type(own) is list
                else OPERATIONS[operation](own, *arguments)
            )
        if peer_of(self).trusted and operation in _BELIEVED and not (operation == "iter" and _goes_through_items(self)):
            believe(self, f"__{operation}__")
        if operation == "iter" and peer_of(self).trusted:
            return _counted(self, peer_of(self).lengths.of(handle_of(self)), ask(self, operation))
        if operation == "next" and peer_of(self).trusted:
            return _next(self)
        value = ask(self, operation, *arguments)
        if operation == "len":
            _note_length(self, exact(value, int, operation))
        return value

    return method


_OVER = "over"


def _next(iterator: StandIn) -> Any:
    """Return the next item of the student's iterator; note if there never was one. One of Python's own ends once."""
    begun = object.__getattribute__(iterator, "_boundary_begun")
    if begun is _OVER:
        raise StopIteration
    try:
        item = ask(iterator, "next")
    except StopIteration:
        peer_of(iterator).empty |= not begun
        object.__setattr__(iterator, "_boundary_begun", _OVER if _goes_through_items(iterator) else begun)
        raise
    object.__setattr__(iterator, "_boundary_begun", True)
    return item


def _counted(of: StandIn, length: int | None, iterator: Any) -> Any:
    """Return an iterator over an object of the student's that notes how many items it has.

    One with a class of its own stays that: a test may ask for its attributes.
    """
    if length is None and (handle_of(iterator) == handle_of(of) or class_name(iterator) not in _ITERATORS):
        return iterator
    return _whole(of, length or 0, iterator)


def _whole(of: StandIn, length: int, iterator: Any) -> Iterator[Any]:
    """Yield the items of what has had so many, or says so; ValueError if it ends sooner: a test relies on it."""
    number = 0
    for item in iterator:
        number += 1
        yield item
    if number < length:
        raise ValueError(f"it ended after {number} of the {length} items that it had, or that its length says")
    _note_length(of, number)


def _note_length(of: StandIn, length: int) -> None:
    """Remember what a container has said of its length, until something may have changed that."""
    peer = peer_of(of)
    peer.lengths.note(handle_of(of), length, peer.asked)


def _methods() -> dict[str, Callable[..., Any]]:
    found = {f"__{name}__": _operator(name) for name in BINARY}
    found |= {f"__r{name}__": _operator(f"r{name}") for name in BINARY}
    found |= {f"__{name}__": _in_place(name) for name in IN_PLACE}
    found |= {f"__{name}__": _comparison(name) for name in COMPARISONS}
    found |= {f"__{name}__": _unary(name) for name in UNARY}
    found |= {f"__{name}__": _method(name) for name in ("len", "iter", "next", "reversed")}
    found |= {f"__{name}__": _method(name) for name in ("getitem", "setitem", "delitem")}
    return found | {"__contains__": _contains}


METHODS = _methods()
"""All special methods of a stand-in that are operators, by name."""
