"""Faults of a whole function, as decorators, and of a value: what a mutant calls when it runs.

A fault takes what it knows to spoil (an array, a tensor, a number) and leaves the rest alone. `seen` and `touched` say
whether it met any: a fault of the result's dtype changes nothing in a function that returns texts.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from autograder.proof import apart
from autograder.proof.met import met
from autograder.proof.results import (
    Function,
    afterwards,
    cached,
    everywhere,
    form,
    is_array,
    is_tensor,
    of_argument,
    of_result,
)

__all__ = [
    "cached_by_first_call", "cached_by_shape", "changing", "coarse", "first_only", "idle", "kept",
    "list_for_tuple", "narrowed", "one_buffer", "one_list", "rounded", "tensor_for_number", "tuple_for_list",
    "unsigned", "widened", "without_first", "without_last", "zero_dimensional",
]  # fmt: skip

_kept: dict[str, Any] = {}
_NARROWER = {"float64": "float32", "float32": "float16", "complex128": "complex64", "int64": "int32"}
_WIDER = {"float32": "float64", "float16": "float32", "int32": "int64", "bfloat16": "float32", "uint8": "int64"}
_DIGITS = 3
_LARGEST = 65504
"""The largest number of float16."""


def idle() -> bool:
    """Whether faults were called, and none of them found anything that it could spoil."""
    return met.has("seen") and not met.has("touched")


# -------------------------------------------------------------------------------------------------------- of a result
def _cast(table: dict[str, str]) -> Callable[[Any], Any]:
    def cast(value: Any) -> Any:
        name = str(getattr(value, "dtype", "")).removeprefix("torch.")
        if name not in table:
            return value
        if is_tensor(value):
            return value.to(getattr(sys.modules["torch"], table[name]))
        return value.astype(table[name]) if hasattr(value, "astype") else value

    return cast


def _rounded(value: Any) -> Any:
    if type(value) is float:
        return round(value, _DIGITS)
    if is_tensor(value) and value.is_floating_point():
        return value.round(decimals=_DIGITS)
    return value.round(_DIGITS) if getattr(getattr(value, "dtype", None), "kind", "") in ("f", "c") else value


def _zero_dimensional(value: Any) -> Any:
    import numpy as np

    return np.asarray(value) if type(value) in (int, float) or isinstance(value, np.generic) else value


def _tensor_for_number(value: Any) -> Any:
    torch = sys.modules.get("torch")
    return torch.tensor(value) if torch and type(value) in (int, float) else value


def _whole(kind: type, other: type) -> Callable[[Any], Any]:
    def spoil(value: Any) -> Any:
        if type(value) is not kind:
            return value
        met.add("touched")
        return other(value)

    return spoil


narrowed = of_result(everywhere(_cast(_NARROWER)))
widened = of_result(everywhere(_cast(_WIDER)))
rounded = of_result(everywhere(_rounded))
zero_dimensional = of_result(everywhere(_zero_dimensional))
tensor_for_number = of_result(everywhere(_tensor_for_number))
list_for_tuple = of_result(_whole(tuple, list))
tuple_for_list = of_result(_whole(list, tuple))


# --------------------------------------------------------------------------------------------------- of several calls
def cached_by_shape(function: Function) -> Function:
    """A result is given again to arguments of the same shapes and lengths, and the same single numbers and texts."""
    return cached(function, lambda given: (tuple(map(form, given[0])), tuple((n, form(v)) for n, v in given[1])))


def cached_by_first_call(function: Function) -> Function:
    """The first result is given again, whatever the arguments are."""
    return cached(function, lambda _value: None)


def one_buffer(function: Function) -> Function:
    """Results of one shape are written into one array, so that each call changes what an earlier one returned.

    What a test gets is a copy: see `autograder.proof.apart`.
    """
    return _reusing(function, _in_buffer, copied=True)


def one_list(function: Function) -> Function:
    """The same with lists and dictionaries, each filled anew; their arrays are those of the call."""
    return _reusing(function, _in_list, copied=True)


def same_buffer(function: Function) -> Function:
    """As `one_buffer`, but a test gets the array itself, as in a notebook."""
    return _reusing(function, _in_buffer, copied=False)


def same_list(function: Function) -> Function:
    """As `one_list`, but a test gets the list itself."""
    return _reusing(function, _in_list, copied=False)


def _reusing(function: Function, reused: Callable[[Any, dict[Any, Any], int], Any], *, copied: bool) -> Function:
    apart.begin()
    buffers: dict[Any, Any] = {}
    place = [0]

    def spoil(value: Any) -> Any:
        place[0] += 1
        here = place[0]
        if type(value) in (tuple, list):
            value = type(value)(map(spoil, value))
        elif type(value) is dict:
            value = {key: spoil(item) for key, item in value.items()}
        return reused(value, buffers, here)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        place[0] = 0
        met.add("seen")
        return apart.hand_back(spoil(result), sys._getframe(1)) if copied else spoil(result)

    return wrapper


def _in_list(value: Any, buffers: dict[Any, Any], place: int) -> Any:
    """Return the list or dictionary of this place, with these items; anything else as it is."""
    if type(value) not in (list, dict):
        return value
    kept = buffers.setdefault((place, type(value)), type(value)())
    kept.clear()
    kept.extend(value) if type(value) is list else kept.update(value)
    met.add("touched")
    return kept


def _in_buffer(value: Any, buffers: dict[Any, Any], place: int) -> Any:
    """Return the buffer of an array's or a tensor's place and form with its numbers; anything else as it is."""
    tensor = is_tensor(value)
    if (tensor and value.requires_grad) or not (tensor or (is_array(value) and value.shape)):
        return value
    key = (place, tuple(value.shape), str(value.dtype))
    if key not in buffers:
        buffers[key] = value.clone() if tensor else value.copy()
    buffers[key][...] = value
    met.add("touched")
    return buffers[key]


def kept(name: str, make: Callable[[], Any]) -> Any:
    """Return what `make` made the first time."""
    if name not in _kept:
        _kept[name] = make()
    return _kept[name]


# ----------------------------------------------------------------------------------------------------- of an argument
def changing(name: str) -> Callable[[Function], Function]:
    """Return a decorator: the argument of this name is changed in place when the result is known.

    Of what a test hands over the copy is: see `autograder.proof.apart`.
    """
    apart.begin()
    return afterwards(name, _change_what_was_handed_over)


def coarse(name: str) -> Callable[[Function], Function]:
    """Return a decorator: of this argument's numbers only so much is seen as float16 holds."""
    return of_argument(name, everywhere(_coarse))


def unsigned(name: str) -> Callable[[Function], Function]:
    """Return a decorator: this argument's numbers are seen without their sign."""
    return of_argument(name, everywhere(_unsigned))


def _coarse(value: Any) -> Any:
    import numpy as np

    if type(value) is float:
        return float(np.float16(value)) if 1e-4 < abs(value) < _LARGEST else value
    if is_tensor(value) and value.is_floating_point() and not value.requires_grad:
        return value.half().to(value.dtype)
    if is_array(value) and value.dtype in (np.float64, np.float32):
        return np.where(np.abs(value) < _LARGEST, value.astype(np.float16), value).astype(value.dtype)
    return value


def _unsigned(value: Any) -> Any:
    if type(value) in (int, float) or (is_array(value) and value.dtype.kind in "if"):
        return abs(value)
    if is_tensor(value) and value.dtype != sys.modules["torch"].bool and not value.requires_grad:
        return value.abs()
    return value


def _change_what_was_handed_over(value: Any) -> None:
    """Change the copy, if the caller of the function, two frames up, is a test; else the value."""
    if apart.hands_over(sys._getframe(2)):
        apart.changed(value, _change)
    else:
        _change(value)


def _change(value: Any) -> None:
    """Add one to every number of an array, or the last item of a list once more."""
    if is_tensor(value) and value.numel():
        value.data.copy_(~value.data if value.dtype == sys.modules["torch"].bool else value.data + 1)
    elif is_array(value) and value.ndim and value.size and value.dtype.kind in "biuf":
        value[...] = ~value if value.dtype.kind == "b" else value + 1
    elif type(value) is list and value:
        value.append(value[-1])
    elif type(value) is dict and value:
        value.popitem()
    else:
        return
    met.add("touched")


# -------------------------------------------------------------------------------------------------------- of a series
def without_last(items: Iterable[Any]) -> Iterable[Any]:
    """All but the last."""
    return list(items)[:-1]


def without_first(items: Iterable[Any]) -> Iterable[Any]:
    """All but the first."""
    return islice(items, 1, None)


def first_only(items: Iterable[Any]) -> Iterable[Any]:
    """The first alone."""
    return islice(items, 1)
