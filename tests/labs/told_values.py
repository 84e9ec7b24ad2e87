"""Notes, for `told`, what tests hand to the student's functions, and what their hidden cases expect."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from labkit import check
from tests.labs import shared_lines

__all__ = ["arguments", "watch"]

_FEWEST, _FEWEST_DISTINCT = 10, 5
"""Numbers of an array that is no accident; in bytes and texts so many characters, twice."""
_SHOWN = 150
_depth, _hidden = [0], [False]
Function = Callable[..., Any]


def arguments(name: str) -> Callable[[Function], Function]:
    """Return a decorator: what a test calls the function with is noted, and what it returns handed on."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if not _depth[0]:
                shared_lines.add("called", name, "", "")
                _note("argument", name, (*args, *kwargs.values()))
            _depth[0] += 1
            try:
                return function(*args, **kwargs)
            finally:
                _depth[0] -= 1

        return wrapper

    return decorate


def watch() -> None:
    """Note what `check.equal` and `check.close` expect from now on, with the title of their case if it is hidden."""
    for name in ("equal", "close"):
        setattr(check, name, _noting(getattr(check, name)))
    for name in ("case", "hidden_case"):
        setattr(check, name, _beginning(getattr(check, name), hidden=name == "hidden_case"))


def _noting(compare: Function) -> Function:
    @functools.wraps(compare)
    def wrapper(got: Any, want: Any, *args: Any, **kwargs: Any) -> Any:
        if _hidden[0]:
            _note("expected", check._ledger.title, (want,))
        return compare(got, want, *args, **kwargs)

    return wrapper


def _beginning(case: Function, *, hidden: bool) -> Function:
    @functools.wraps(case)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        _hidden[0] = hidden
        return case(*args, **kwargs)

    return wrapper


def _note(kind: str, name: str, values: tuple[Any, ...]) -> None:
    for value in values:
        for part in (value, *(value if isinstance(value, list | tuple) else ())):
            for digest in _digests(part):
                shared_lines.add(kind, name, digest, repr(part)[:_SHOWN])


def _digests(value: Any) -> Iterator[str]:
    """Yield what says that two values are the same, of one that is no accident."""
    if isinstance(value, str | bytes):
        if len(value) >= 2 * _FEWEST:
            yield hashlib.sha256(repr(value).encode()).hexdigest()
        return
    try:
        array = np.asarray(value.detach().cpu() if hasattr(type(value), "detach") else value)
        numbers = np.round(array.astype(complex).ravel(), 5) + 0.0
    except (TypeError, ValueError, RuntimeError):
        if isinstance(value, list | tuple | dict) and len(text := repr(value)) >= 8 * _FEWEST:
            yield hashlib.sha256(text.encode()).hexdigest()
        return
    counting = np.array_equal(numbers, np.arange(numbers.size))
    if numbers.size >= _FEWEST and len(np.unique(numbers)) >= _FEWEST_DISTINCT and not counting:
        yield hashlib.sha256(numbers.tobytes()).hexdigest()
