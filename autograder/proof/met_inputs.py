"""What the functions of a solution are called with while checks run, noted a line a call in a file.

A mutant's fork, and the ranks that it starts, add to the same file.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from autograder.proof.results import Function, is_tensor

__all__ = ["FILE", "noted"]

FILE = "AUTOGRADER_INPUTS"
"""The environment variable that names the file; nothing is noted without it."""
_MOST_CALLS, _MOST_NUMBERS = 500, 200_000
_HALF = 65504
"""The largest number of float16."""


def noted(name: str) -> Callable[[Function], Function]:
    """Return a decorator: what the function of this name is called with is noted."""

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        calls = [0]

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            path = os.environ.get(FILE)
            if path and calls[0] < _MOST_CALLS:
                calls[0] += 1
                _note(path, name, signature, args, kwargs)
            return function(*args, **kwargs)

        return wrapper

    return decorate


def _note(path: str, name: str, signature: inspect.Signature, args: Any, kwargs: Any) -> None:
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:  # the call fails by itself
        return
    facts = {key: sorted(set(_facts(value))) for key, value in given.items() if key != "self"}
    left_out = {key: ["left out"] for key in signature.parameters if key not in given}
    with Path(path).open("a", encoding="utf-8") as file:  # one write a line: several processes add to it
        file.write(json.dumps([name, facts | left_out]) + "\n")


def _facts(value: Any) -> Iterator[str]:
    """Yield what there is to say about one argument."""
    numpy = sys.modules.get("numpy")
    if is_tensor(value):
        yield from ("an array", f"dtype {str(value.dtype).removeprefix('torch.')}")
        yield "asks for its gradient" if value.requires_grad else "asks for no gradient"
        yield "contiguous" if value.is_contiguous() else "not contiguous"
        plain = value.detach().cpu()
        yield from _of_array((plain.float() if plain.dtype == sys.modules["torch"].bfloat16 else plain).numpy())
    elif numpy is not None and isinstance(value, numpy.ndarray):
        yield from ("an array", f"dtype {value.dtype}", "contiguous" if value.flags.c_contiguous else "not contiguous")
        yield from _of_array(value)
    elif type(value) in (int, float) or (numpy is not None and isinstance(value, numpy.number)):
        yield "a number"
        if isinstance(value, float):  # of an integer the text says which it may be
            yield from _of_numbers([value])
    elif type(value) in (list, tuple):
        yield from ("a sequence", f"a {type(value).__name__}", *_of_sequence(list(value)))
    else:
        yield f"a {type(value).__name__}" if value is not None else "None"


def _of_array(value: Any) -> Iterator[str]:
    yield f"rank {value.ndim}"
    yield "empty" if not value.size else "of one element" if value.size == 1 else "of several elements"
    if value.ndim > 1 and value.size > 1:
        yield "with a side of 1" if 1 in value.shape else "with no side of 1"
        yield "square" if value.shape[-1] == value.shape[-2] else "not square"
    if value.dtype.kind in "iuf" and value.size > 1:
        flat = value.ravel()[:_MOST_NUMBERS].tolist()
        yield from _of_numbers(flat)
        yield "with ties" if len(set(flat)) < len(flat) else "without ties"
        if value.ndim == 1:
            yield "sorted" if flat == sorted(flat) else "unsorted"


def _of_sequence(items: list[Any]) -> Iterator[str]:
    yield "empty" if not items else "of one item" if len(items) == 1 else "of several items"
    if len(items) > 1 and all(type(item) in (int, float) for item in items):
        yield from _of_numbers(items)
        yield "with ties" if len(set(items)) < len(items) else "without ties"
        yield "sorted" if items == sorted(items) else "unsorted"


def _of_numbers(numbers: list[Any]) -> Iterator[str]:
    import numpy as np

    found = np.asarray(numbers, dtype=np.float64)
    yield "with negative numbers" if (found < 0).any() else "without negative numbers"
    yield "with a zero" if (found == 0).any() else "without a zero"
    if all(isinstance(number, int) for number in numbers):
        return
    whole = (found == np.round(found)).all()
    yield "whole" if whole else "not whole"
    small = np.abs(found) <= _HALF
    exact = small.all() and (found.astype(np.float16).astype(np.float64) == found).all()
    yield "exact in 16 bits" if exact else "not exact in 16 bits"
