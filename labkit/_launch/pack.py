"""A function and its arguments as bytes; what cannot be sent is named before any process starts."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["pack"]


def pack(title: str, fn: Callable[..., Any], args: tuple[Any, ...], leading: tuple[Any, ...], hint: str) -> bytes:
    """Return function and arguments as bytes; TypeError if it cannot take them after `leading`, or on copying."""
    import cloudpickle

    with contextlib.suppress(ValueError):  # some builtins have no signature to check
        try:
            inspect.signature(fn).bind(*leading, *args)
        except TypeError as error:
            name = getattr(fn, "__name__", "fn")
            raise TypeError(f"{title}: {name} does not take these arguments: {error}\nhint: {hint}") from None
    try:
        return bytes(cloudpickle.dumps((fn, args)))
    except Exception as error:
        hint = "open files, locks and generators stay in their process: create them inside the function"
        raise TypeError(f"{title}: the function or an argument cannot be copied: {error}\nhint: {hint}") from error
