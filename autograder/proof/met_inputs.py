"""What the functions of a solution are called with while checks run, noted a line a call in a file.

A mutant's fork, and the ranks that it starts, add to the same file. What an argument was is noted of each; what it was
not (no negative number, no side of 1) only where it had room for it: of several elements, or of numbers given in turn.
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
_THERE = {"with negative numbers", "with a zero", "not whole", "not exact in 16 bits"}
"""What one number shows by itself: that there was such a one."""


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
        yield from _if(value.numel() > 1, "not contiguous", "contiguous", there=not value.is_contiguous())
        plain = value.detach().cpu()
        yield from _of_array((plain.float() if plain.dtype == sys.modules["torch"].bfloat16 else plain).numpy())
    elif numpy is not None and isinstance(value, numpy.ndarray):
        yield from ("an array", f"dtype {value.dtype}")
        yield from _if(value.size > 1, "not contiguous", "contiguous", there=not value.flags.c_contiguous)
        yield from _of_array(value)
    elif type(value) in (int, float) or (numpy is not None and isinstance(value, numpy.number)):
        yield "a number"
        if isinstance(value, float):  # of an integer the text says which it may be
            yield f"value {float(value):g}"
            yield from _of_numbers([value])
    elif type(value) in (list, tuple):
        yield from ("a sequence", f"a {type(value).__name__}", *_of_sequence(list(value)))
    else:
        yield f"a {type(value).__name__}" if value is not None else "None"


def _of_array(value: Any) -> Iterator[str]:
    yield f"rank {value.ndim}"
    if value.ndim:
        yield "empty" if not value.size else "of one element" if value.size == 1 else "of several elements"
    else:
        yield "without an axis"
    several = value.size > 1
    if value.ndim > 1:
        yield from _if(several, "with a side of 1", "with no side of 1", there=1 in value.shape)
        yield from _if(several, "not square", "square", there=value.shape[-1] != value.shape[-2])
    if value.dtype.kind in "iuf":
        yield from _of_several(value.ravel()[:_MOST_NUMBERS].tolist(), ordered=value.ndim == 1)


def _of_sequence(items: list[Any]) -> Iterator[str]:
    yield "empty" if not items else "of one item" if len(items) == 1 else "of several items"
    if all(type(item) in (int, float) for item in items):
        yield from _of_several(items, ordered=True)


def _of_several(numbers: list[Any], *, ordered: bool) -> Iterator[str]:
    """Yield what there is to say about numbers side by side; ordered: whether it is one row of them."""
    several, values = len(numbers) > 1, len(set(numbers))
    yield from (fact for fact in _of_numbers(numbers) if several or fact in _THERE)
    if several:
        yield "all the same" if values == 1 else "of different numbers"
        yield "with ties" if values < len(numbers) else "without ties"
    if ordered and values > 1:
        yield "sorted" if numbers == sorted(numbers) else "unsorted"


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


def _if(several: bool, yes: str, no: str, *, there: bool) -> Iterator[str]:
    """Yield one of two facts about an argument; that it is not so only of one with several elements."""
    if there or several:
        yield yes if there else no
