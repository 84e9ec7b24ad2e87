"""Decorators that give a function's result in another way, and note whether they met one that they could."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from autograder.proof.met import met

__all__ = ["Function", "everywhere", "is_tensor", "of_result"]

Function = Callable[..., Any]


def is_tensor(value: Any) -> bool:
    """Whether this is a tensor of PyTorch, which is not imported for the question."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


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
