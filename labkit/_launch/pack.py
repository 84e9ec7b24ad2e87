"""A function and its arguments as bytes; what cannot be sent is named before any process starts."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import linecache
import struct
from collections import ChainMap
from collections.abc import Callable
from types import CodeType
from typing import Any, ClassVar

__all__ = ["copied", "dumps", "lines_of_cells", "pack"]


def _code(make: Callable[..., CodeType], args: tuple[Any, ...], file: str) -> CodeType:
    return make(*args).replace(co_filename=file)


def _cached(fn: Callable[..., Any], options: dict[str, Any]) -> Any:
    return functools.lru_cache(**options)(fn)


def dumps(value: object) -> bytes:
    """Return a value as cloudpickle's bytes. Code keeps the name of its file, which tracebacks find its lines by.

    cloudpickle 3.1.3 began to write "<dynamic-code>" in its place. It sends a function with a cache by its name only,
    which nobody has where it arrives: here the function goes, and begins there with nothing cached.
    """
    import cloudpickle

    reduce = cloudpickle.Pickler.dispatch_table[CodeType]
    own = {
        CodeType: lambda code: (_code, (*reduce(code), code.co_filename)),
        type(functools.cache(pack)): lambda fn: (_cached, (fn.__wrapped__, fn.cache_parameters())),
        struct.Struct: lambda form: (struct.Struct, (form.format,)),
    }

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        dispatch_table: ClassVar[Any] = ChainMap(own, cloudpickle.Pickler.dispatch_table)

    out = io.BytesIO()
    Pickler(out).dump(value)
    return out.getvalue()


def pack(title: str, fn: Callable[..., Any], args: tuple[Any, ...], leading: tuple[Any, ...], hint: str) -> bytes:
    """Return function and arguments as bytes; TypeError if it cannot take them after `leading`, or on copying."""
    with contextlib.suppress(ValueError):  # some builtins have no signature to check
        try:
            inspect.signature(fn).bind(*leading, *args)
        except TypeError as error:
            name = getattr(fn, "__name__", "fn")
            raise TypeError(f"{title}: {name} does not take these arguments: {error}\nhint: {hint}") from None
    return copied(title, (fn, args))


def copied(title: str, value: object) -> bytes:
    """Return a function, or one with its arguments, as bytes. Raises TypeError if something in it cannot be copied."""
    try:
        return dumps(value)
    except Exception as error:
        hint = "open files, locks and generators stay in their process: create them inside the function"
        raise TypeError(f"{title}: the function or an argument cannot be copied: {error}\nhint: {hint}") from error


def lines_of_cells() -> dict[str, tuple[Any, ...]]:
    """Return linecache's entries of notebook cells: with them another process shows their lines in a traceback."""
    return {name: entry for name, entry in linecache.cache.items() if len(entry) == 4 and entry[1] is None}
