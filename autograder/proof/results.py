"""Decorators that give a function's result in another way, and note whether they met one that they could."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

from autograder.proof.met import met

__all__ = [
    "Function",
    "afterwards",
    "cached",
    "everywhere",
    "form",
    "is_array",
    "is_tensor",
    "of_argument",
    "of_result",
]

Function = Callable[..., Any]


def is_tensor(value: Any) -> bool:
    """Whether this is a tensor of PyTorch, which is not imported for the question."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value: Any) -> bool:
    """Whether this is an array or a scalar of NumPy's."""
    return type(value).__module__ == "numpy" and hasattr(value, "dtype")


def of_result(change: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Return a decorator: the function's result is changed."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            met.add("seen")
            return change(result)

        return wrapper

    return decorate


def everywhere(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what changes a value, or those that a tuple, list or dict holds."""

    def inside(value: Any) -> Any:
        if type(value) in (tuple, list):
            return type(value)(map(inside, value))
        if type(value) is dict:
            return {key: inside(item) for key, item in value.items()}
        new = change(value)
        met.add("touched", new is not value)
        return new

    return inside


def of_argument(name: str, change: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Return a decorator: the argument of this name is changed before the function sees it."""

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            given = signature.bind(*args, **kwargs)
            met.add("seen")
            if name in given.arguments:
                given.arguments[name] = change(given.arguments[name])
            return function(*given.args, **given.kwargs)

        return wrapper

    return decorate


def afterwards(name: str, act: Callable[[Any], object]) -> Callable[[Function], Function]:
    """Return a decorator: something is done to the argument of this name when the result is known."""

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            met.add("seen")
            act(signature.bind(*args, **kwargs).arguments.get(name))
            return result

        return wrapper

    return decorate


def cached(function: Function, key_of: Callable[[Any], Any]) -> Function:
    """Return the function with a result given again wherever `key_of` says the same of all arguments."""
    known: dict[Any, Any] = {}

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        key = key_of((args, tuple(sorted(kwargs.items()))))
        met.add("seen")
        if key in known:
            met.add("touched")
        else:  # with what was given: a later object could have the id of one that is gone
            known[key] = function(*args, **kwargs), args, kwargs
        return known[key][0]

    return wrapper


def form(value: Any) -> Any:
    """Return what is looked at of an argument: an array's shape and dtype, a list's length, a plain value."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return "array", tuple(value.shape), str(value.dtype)
    if isinstance(value, list | tuple):
        numbers = all(type(item) in (int, float) for item in value)
        return type(value), len(value), *(() if numbers else map(form, value))
    return (type(value), value) if isinstance(value, str | int | float | bool | bytes | None) else id(value)
