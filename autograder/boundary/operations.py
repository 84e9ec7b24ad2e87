"""What may cross the boundary: one row an operation, and nothing that has no row.

The table is printed in docs/grading.md, and a test holds the two together. Everything not named here, every special
name above all, does not exist on the side that asks: AttributeError, and no message is sent.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "ABOUT_CHANGES",
    "ARITHMETIC",
    "BINARY",
    "COMPARISONS",
    "FROM_STUDENT",
    "FROM_TEST",
    "IN_PLACE",
    "LEAVING",
    "OF_TUPLES",
    "ONLY_LOOKING",
    "OPERATIONS",
    "PREDICATES",
    "READ_BY_NAME",
    "UNARY",
    "as_markdown",
    "compares",
    "names_of",
]


@dataclass(frozen=True)
class Row:
    """Operations that follow one rule.

    Attributes:
        names: as they stand in messages.
        data: what goes along, beside the object that is asked.
        rule: when it is sent.
        proof: the test that shows it, in tests/unit/autograder/boundary/test_table.py.
    """

    names: tuple[str, ...]
    data: str
    rule: str
    proof: str


BINARY: dict[str, Callable[[Any, Any], Any]] = {
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
ARITHMETIC = frozenset({*BINARY, *(f"r{name}" for name in BINARY)})
IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    f"i{name}": getattr(operator, f"i{name}") for name in BINARY if hasattr(operator, f"i{name}")
}
"""`a += b`, which may change a, or make something else of it."""
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "lt": operator.lt,
    "le": operator.le,
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "ge": operator.ge,
}
OF_TUPLES = frozenset({"iter", "len", "getitem"})
"""What is done here with the items of a tuple of a derived class, unless that class overrides it."""
UNARY: dict[str, Callable[..., Any]] = {
    "neg": operator.neg,
    "pos": operator.pos,
    "invert": operator.invert,
    "abs": abs,
    "round": round,
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    "index": operator.index,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "bytes": bytes,
    "str": str,
    "repr": repr,
}
_CONTAINER: dict[str, Callable[..., Any]] = {
    "len": len,
    "iter": iter,
    "next": next,
    "reversed": reversed,
    "getitem": operator.getitem,
    "setitem": operator.setitem,
    "delitem": operator.delitem,
    "contains": operator.contains,
}
READ_BY_NAME = {"__doc__", "__name__", "__qualname__"}
"""Special names that may be read of an object of the student's: they come back as texts, or do not exist."""

PREDICATES = {
    *("all_close", "allclose", "almost_equal", "array_equal", "close_to", "endswith", "eq", "equal", "equals", "ge"),
    *("gt", "is_close", "is_equal", "isclose", "isdisjoint", "issubset", "issuperset", "le", "lt", "ne", "startswith"),
    "symmetric_difference",
}
"""Methods that compare. An object without a value must not: it would be told what is expected, and then agree."""


def compares(name: str) -> bool:
    """Whether a function of this name compares, as `allclose` and `assertEqual` do."""
    return name in PREDICATES or name.startswith("assert")


FROM_TEST: tuple[Row, ...] = (
    Row(("name",), "the name", "a name that the test cell neither imports nor defines", "names"),
    Row(("getattr",), "the name", "any name that is not special, and `__doc__`, `__name__`, `__qualname__`",
        "special_names"),
    Row(("empty",), "the name", "a test of another course has emptied a list, a dictionary or the like under such a "
        "name: `inventory.clear()`", "names_that_a_test_empties"),
    Row(("setattr", "delattr"), "the name, a value", "as getattr", "special_names"),
    Row(("call",), "the arguments", "a function, class or method is called; a method that compares is computed here, "
        "with the value that its object holds, and refused if it holds none", "predicates"),
    Row(("getitem", "setitem", "delitem"), "the key, a value", "items are asked for or set", "containers"),
    Row(("len", "iter", "next", "reversed", "enter"), "nothing", "as Python asks for it; of a tuple whose class does "
        "not override `__iter__`, `__len__` or `__getitem__` all items at once; what a text holds is read",
        "containers"),
    Row(("exit",), "the name of an exception's class", "a with block ends", "exit_tells_no_text"),
    Row(tuple(UNARY), "nothing", "the object holds no value; else it is computed here, but for `str` and `repr` of a "
        "number, text or container, `neg`, `pos`, `invert` of all but texts, and `abs`, `bool` of a container, if its "
        "class overrides them", "values_first"),
    Row((*BINARY, *(f"r{name}" for name in BINARY), *IN_PLACE, *COMPARISONS, "contains"), "the other operand",
        "neither holds a value, or its class overrides what that of the value does (no comparison), and both are the "
        "student's, or the test says `check.operators()`; `eq` and `ne` also of an object with itself and with None, "
        "which it may not be equal to; else it is computed here, or refused", "operators"),
    Row(("format",), "the specification, of a width, a precision and the like", "the object holds no value, and its "
        "class has a `__format__` of its own", "shapes"),
    Row(("value", "array"), "nothing", "before anything is computed or compared: the plain value that it holds",
        "values_first"),
    Row(("isinstance", "issubclass"), "another object of the student's", "a test names a class of the student's",
        "classes"),
    Row(("import",), "module, name, arguments", "seeds, launchers and, where a tensor's graph lies there, functions "
        "of torch: the value is computed here all the same", "tensors"),
    Row(("packed",), "nothing", "`labkit.count.collective`, `in_fresh_process` with `only_compute`: the function as "
        "bytes, which only its ranks open; they are processes of their own, and answer what the test asks by the rows "
        "of this table", "collectives"),
    Row(("settings",), "nothing", "a test begins that names decimal or torch, or whose locked cells do: how fine its "
        "process computes", "settings"),
    Row(("changed",), "nothing", "`check.unchanged`", "changes"),
    Row(("altered",), "whether of tests before, too", "a test that has handed lists, arrays or the like over has "
        "ended: which of its copies later calls have changed", "later_calls"),
    Row(("strayed",), "names of locked cells", "a test that has used data of theirs has ended: which of these no "
        "longer holds, in the student's process, what its cell had left", "strayed"),
    Row(("current",), "the numbers of earlier answers", "`check.close`, `check.equal` and `check.unchanged` of what "
        "came then: what the object holds now", "changes_of_results"),
    Row(("common",), "the numbers of earlier answers and arguments", "`check.separate`: whether they have memory in "
        "common", "memory_in_common"),
)  # fmt: skip
"""What the trusted process may ask the student's for."""

FROM_STUDENT: tuple[Row, ...] = (
    Row(("call",), "the arguments", "a function that the test handed over: with it went the names and kinds of its "
        "parameters, and which have a default", "callbacks"),
    Row(("bool",), "nothing", "the same: it is true", "callbacks"),
    Row(("getattr",), "a public name", "an object of a class that the test or labkit defines; of a function `__name__` "
        "and `__qualname__`, which are its class's and a number, and `__doc__`, which is None", "callbacks"),
    Row(("len", "iter", "next", "getitem", "contains"), "the key", "the same, and iterators of the test", "callbacks"),
    Row((*BINARY, *(f"r{name}" for name in BINARY), *IN_PLACE, *COMPARISONS, "neg", "abs", "enter", "exit"),
        "the other operand",
        "an object of a class that the test defines; of any other `eq` and `ne` alone: whether it is the same one",
        "callbacks"),
    Row(("str", "repr", "hash"), "nothing", "an object of a class that the test defines, which says it itself "
        "(`__repr__`, `__hash__`, a frozen data class) and has no private attribute; of any other the name of its "
        "class, and which object it is", "callbacks"),
)  # fmt: skip
"""What the student's process may ask the trusted one for, while it is asked itself."""


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda own, other: function(other, own)


def _isinstance(kind: Any, value: Any) -> bool:
    return isinstance(value, kind)


def _issubclass(kind: Any, value: Any) -> bool:
    return issubclass(value, kind)


def _enter(manager: Any) -> Any:
    return type(manager).__enter__(manager)


def _exit(manager: Any, kind: Any) -> bool:
    if kind is None:
        return bool(type(manager).__exit__(manager, None, None, None))
    known = isinstance(kind, type) and issubclass(kind, BaseException)
    try:
        raise kind() if known else Exception()
    except BaseException as raised:  # that of a class that wants arguments is a TypeError
        error = raised if known and isinstance(raised, kind) else Exception()
        return bool(type(manager).__exit__(manager, type(error), error, raised.__traceback__))


ABOUT_CHANGES = frozenset({"altered", "changed", "common", "current", "strayed"})
ONLY_LOOKING = ABOUT_CHANGES | {"array", "isinstance", "issubclass", "name", "settings", "value"}
"""Operations that run nothing of the student's that may change an object."""
LEAVING = ONLY_LOOKING | {"bool", "format", "getattr", "getitem", "iter", "len", "next", "repr", "reversed", "str"}
"""Operations by which a container of the other end is not meant to change."""

OPERATIONS: dict[str, Callable[..., Any]] = {
    **BINARY,
    **{f"r{name}": _reflected(function) for name, function in BINARY.items()},
    **IN_PLACE,
    **COMPARISONS,
    **UNARY,
    **_CONTAINER,
    "getattr": getattr,
    "setattr": setattr,
    "delattr": delattr,
    "isinstance": _isinstance,
    "issubclass": _issubclass,
    "enter": _enter,
    "exit": _exit,
    "array": np.asarray,
    "hash": hash,
    "format": format,
}
"""How an operation is done, at either end; the rows say when."""


def names_of(rows: tuple[Row, ...]) -> Iterator[str]:
    """Yield every operation of these rows."""
    for row in rows:
        yield from row.names


def as_markdown(rows: tuple[Row, ...]) -> str:
    """Return the rows as docs/grading.md shows them."""
    lines = ["| operation | what goes along | when | proof: `boundary/test_table.py` |", "|---|---|---|---|"]
    for row in rows:
        names = ", ".join(f"`{name}`" for name in row.names if not (name[0] in "ri" and name[1:] in BINARY))
        lines.append(f"| {names} | {row.data} | {row.rule} | `test_{row.proof}` |")
    return "\n".join(lines)
