"""Faults of what nobody looked at: ties, nearly equal numbers, halves, order, repeats, generators, whose state it is.

Readers of the notebooks wrote such answers and no check saw them, for in no check's input was there a tie, a pair of
numbers that differ in the seventh digit, a list that is not sorted. Like those of `autograder.proof.wrongly`, these
note whether they met anything that they could spoil.
"""

from __future__ import annotations

import copy
import functools
import operator
import random
import sys
from collections.abc import Callable
from typing import Any

from autograder.proof.met import met
from autograder.proof.results import Function, afterwards, cached, form, is_array, is_tensor, of_argument

__all__ = [
    "advanced", "cached_by_class", "cached_by_length", "copied", "distinct", "half_up", "nearly", "ordered",
    "squeezed", "ties", "within",
]  # fmt: skip

_RELATIVE, _ABSOLUTE = 1e-6, 1e-8
_COMPARED = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


# --------------------------------------------------------------------------------------------------------- of a value
def ties(function: Function) -> Function:
    """Return a function like min, sorted or argmax that of equal items takes the last first."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        met.add("seen")
        owner = getattr(function, "__self__", None)
        if type(owner) is list:
            met.add("touched", _not_plain(owner, kwargs))
            owner.reverse()
            return function(*args, **kwargs)
        if function in (min, max, sorted):
            items = list(args[0] if len(args) == 1 else args)
            met.add("touched", _not_plain(items, kwargs))
            return function(items[::-1], **kwargs)
        if getattr(function, "__name__", "") in {"argmin", "argmax", "argsort"}:
            bound = is_array(owner) or is_tensor(owner)
            return _flipped(function, owner if bound else args[0], bound, args[0 if bound else 1 :], kwargs)
        return function(*args, **kwargs)

    return wrapper


def _not_plain(items: list[Any], options: dict[str, Any]) -> bool:
    """Whether it can be told which of two equal items was taken."""
    return len(items) > 1 and (options.get("key") is not None or not all(map(_is_plain, items)))


def _is_plain(value: Any) -> bool:
    """Whether this is a number or a text: two that are equal are the same."""
    return type(value) in (int, float, str, bytes) or (is_array(value) and not value.ndim)


def _flipped(function: Function, array: Any, bound: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what the function says of an array that is read backwards, in places of the array itself."""
    if not (is_array(array) or is_tensor(array)):
        array = sys.modules["numpy"].asarray(array)
        bound = False
    axis = args[0] if args else kwargs.get("axis", kwargs.get("dim"))
    of_all = axis is None and (bool(args) or "axis" in kwargs or getattr(function, "__name__", "") != "argsort")
    axis = -1 if axis is None else axis
    flat = array.reshape(-1) if of_all else array
    met.add("touched", bool(flat.ndim and flat.shape[axis] > 1))
    turned = flat.flip(axis) if is_tensor(flat) else sys.modules["numpy"].flip(flat, axis)
    found = getattr(turned, function.__name__)(*args, **kwargs) if bound else function(turned, *args, **kwargs)
    return flat.shape[axis] - 1 - found if flat.ndim else found


def nearly(left: Any, sign: str, right: Any) -> Any:
    """Compare two values; floats that differ by a millionth count as equal."""
    met.add("seen")
    exact = _COMPARED[sign](left, right)
    if not (_floating(left) or _floating(right)):
        return exact
    try:
        apart = abs(left - right)
        finite = apart < float("inf")
    except TypeError:
        return exact
    met.add("touched", bool(finite if isinstance(finite, bool) else finite.any()))
    close = finite & (apart <= _ABSOLUTE + _RELATIVE * abs(right))
    return exact | close if sign in ("==", "<=", ">=") else exact & (close == 0)


def within(item: Any, word: str, known: Any) -> bool:
    """Say whether an item is in a collection, or is not; a text of which a part is in it counts as in it."""
    met.add("seen")
    found = item in known
    if type(item) is str and type(known) in (set, frozenset, list, tuple, dict):
        texts = [each for each in known if type(each) is str and each]
        met.add("touched", bool(texts))
        found = found or any(each in item for each in texts)
    return bool(found) == (word == "in")


def _floating(value: Any) -> bool:
    if type(value) is float:
        return True
    if is_tensor(value):
        return bool(value.is_floating_point())
    return getattr(getattr(value, "dtype", None), "kind", "") == "f"


def half_up(function: Function) -> Function:
    """Return a rounding that rounds halves up, and not to even."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        met.add("seen")
        owner = getattr(function, "__self__", None)
        value = owner if is_tensor(owner) or is_array(owner) else args[0] if args else None
        found = function(*args, **kwargs)
        if not _floating(value) or kwargs or len(args) > (value is not owner):
            return found
        met.add("touched")
        return found + (value - found == 0.5)

    return wrapper


# -------------------------------------------------------------------------------------------------- of several calls
def cached_by_length(function: Function) -> Function:
    """A result is given again to arguments of the same kinds and lengths, whatever they hold."""
    return cached(function, lambda given: (tuple(map(_length, given[0])), tuple((n, _length(v)) for n, v in given[1])))


def cached_by_class(method: Function) -> Function:
    """A method's result is given again to every instance of the class."""
    return cached(
        method,
        lambda given: (type(given[0][0]), tuple(map(form, given[0][1:])), tuple((n, form(v)) for n, v in given[1])),
    )


def _length(value: Any) -> Any:
    return type(value), len(value) if hasattr(value, "__len__") and getattr(value, "ndim", 1) > 0 else 0


# ----------------------------------------------------------------------------------------------------- of an argument
def ordered(name: str) -> Callable[[Function], Function]:
    """Return a decorator: this argument's items are seen in order of size."""
    return of_argument(name, _in_lists(_ordered))


def distinct(name: str) -> Callable[[Function], Function]:
    """Return a decorator: of this argument's items each is seen once."""
    return of_argument(name, _in_lists(_distinct))


def advanced(name: str) -> Callable[[Function], Function]:
    """Return a decorator: a generator gives one number more than is needed."""
    return afterwards(name, _draw)


def copied(name: str) -> Callable[[Function], Function]:
    """Return a decorator: numbers are drawn from a copy, so that the generator stays where it was."""
    return of_argument(name, _copy)


def squeezed(name: str) -> Callable[[Function], Function]:
    """Return a decorator: this argument's axes of length 1 are dropped, all but one."""
    return of_argument(name, _squeezed)


def _in_lists(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what changes an argument, or the lists that it holds; of a tuple each place has a meaning of its own."""

    def inside(value: Any) -> Any:
        if type(value) is tuple or (type(value) is list and not all(map(_is_plain, value))):
            return type(value)(map(inside, value))
        if type(value) is dict:
            return {key: inside(item) for key, item in value.items()}
        return change(value)

    return inside


def _ordered(value: Any) -> Any:
    if type(value) is list and len(value) > 1:
        met.add("touched")
        return _sorted(value)
    if getattr(value, "ndim", 0) == 1 and len(value) > 1 and (is_array(value) or is_tensor(value)):
        met.add("touched")
        return value.sort().values if is_tensor(value) else sys.modules["numpy"].sort(value)
    return value


def _sorted(value: list[Any]) -> list[Any]:
    try:
        return sorted(value)
    except TypeError:  # texts among numbers
        return value


def _distinct(value: Any) -> Any:
    if type(value) is list and len(value) > 1:
        met.add("touched")
        return list(dict.fromkeys(value))
    if is_array(value) and value.ndim == 1 and value.dtype.kind in "iuU" and len(value) > 1:
        met.add("touched")
        return value[sorted(sys.modules["numpy"].unique(value, return_index=True)[1])]
    return value


def _squeezed(value: Any) -> Any:
    if not (is_array(value) or is_tensor(value)) or value.ndim < 2:
        return value
    met.add("touched")
    kept = [side for side in value.shape if side != 1] or [1]
    return value.reshape(kept) if len(kept) < value.ndim else value


def _is_generator(value: Any) -> bool:
    return isinstance(value, (random.Random, *_known("numpy.random", "Generator"), *_known("torch", "Generator")))


def _known(module: str, name: str) -> tuple[Any, ...]:
    return (getattr(sys.modules[module], name),) if module in sys.modules else ()


def _draw(generator: Any) -> None:
    if not _is_generator(generator):
        return
    met.add("touched")
    if hasattr(generator, "random"):
        generator.random()
    else:
        sys.modules["torch"].rand(1, generator=generator)


def _copy(generator: Any) -> Any:
    if not _is_generator(generator):
        return generator
    met.add("touched")
    return generator.clone_state() if hasattr(generator, "clone_state") else copy.deepcopy(generator)
