"""Decorators for `constant`: note what a function returns, or give one of its results whatever it is asked."""

from __future__ import annotations

import base64
import contextlib
import functools
import pickle
from collections.abc import Callable
from typing import Any

from tests.labs import shared_lines

__all__ = ["constant", "missing", "noted", "shown"]

_LARGEST = 20_000
"""Bytes of a result, as pickle writes it: a student would type no more."""
_depth = [0]
Function = Callable[..., Any]


def noted(name: str) -> Callable[[Function], Function]:
    """Return a decorator: what the outermost calls return is added to the file, a line each."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            _depth[0] += 1
            try:
                result = function(*args, **kwargs)
            finally:
                _depth[0] -= 1
            if not _depth[0]:
                _note(name, result)
            return result

        return wrapper

    return decorate


def _note(name: str, result: Any) -> None:
    with contextlib.suppress(Exception):  # a generator, a lambda: no constant
        written = base64.b64encode(pickle.dumps(result)).decode()
        if len(written) <= _LARGEST:
            shared_lines.add(name, written)


def constant(written: str) -> Callable[[Function], Function]:
    """Return a decorator: the function returns this, whatever it is called with."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def wrapper(*_args: Any, **_kwargs: Any) -> Any:
            return pickle.loads(base64.b64decode(written))

        return wrapper

    return decorate


def missing(function: Function) -> Function:
    """Return what the function is before it is written."""

    @functools.wraps(function)
    def wrapper(*_args: Any, **_kwargs: Any) -> Any:
        raise NotImplementedError(function.__name__)

    return wrapper


def shown(written: str) -> str:
    """Return a result as text, for who reads what was found."""
    return repr(pickle.loads(base64.b64decode(written)))[:200]
