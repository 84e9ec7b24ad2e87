"""The operators and built-in functions that a proxy hands on, by name."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["OPERATIONS", "SPECIAL"]

_BINARY = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "matmul": operator.matmul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "divmod": divmod,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}
_OTHERS: dict[str, Callable[..., Any]] = {
    "lt": operator.lt,
    "le": operator.le,
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "ge": operator.ge,
    "neg": operator.neg,
    "pos": operator.pos,
    "invert": operator.invert,
    "abs": abs,
    "round": round,
    "len": len,
    "iter": iter,
    "next": next,
    "reversed": reversed,
    "contains": operator.contains,
    "getitem": operator.getitem,
    "setitem": operator.setitem,
    "delitem": operator.delitem,
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    "index": operator.index,
    "str": str,
    "repr": repr,
    "format": format,
}

SPECIAL = [*_BINARY, *_OTHERS]
"""The names that, between double underscores, are methods of a proxy; the binary ones have a reflected form too."""


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda own, other: function(other, own)


def _isinstance(kind: Any, value: Any) -> bool:
    return isinstance(value, kind)


def _issubclass(kind: Any, value: Any) -> bool:
    return issubclass(value, kind)


def _enter(manager: Any) -> Any:
    return type(manager).__enter__(manager)


def _exit(manager: Any, kind: Any, arguments: Any) -> bool:
    error = None
    if kind is not None:
        known = isinstance(kind, type) and issubclass(kind, BaseException)
        error = kind(*arguments) if known else Exception(*arguments)
    return bool(type(manager).__exit__(manager, None if error is None else type(error), error, None))


OPERATIONS: dict[str, Callable[..., Any]] = {
    **_BINARY,
    **{f"r{name}": _reflected(function) for name, function in _BINARY.items()},
    **_OTHERS,
    "getattr": getattr,
    "setattr": setattr,
    "delattr": delattr,
    "isinstance": _isinstance,
    "issubclass": _issubclass,
    "enter": _enter,
    "exit": _exit,
    "array": np.asarray,
}
