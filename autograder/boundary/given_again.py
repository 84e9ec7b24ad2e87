"""What locked cells defined, for a test that needs it in the student's process: as it is there, or made again.

A student's cell may bind the same name for a use of its own, and goes on with that. A test means what stands in the
locked cell. So that is made again where the name has come to mean something else, beside the student's names and not
in their place. What is unchanged stays the object that it was, with all that has been done with it.
"""

from __future__ import annotations

import ast
import contextlib
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["made_again"]

_PARTS = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount", "co_kwonlyargcount",
          "co_posonlyargcount", "co_name")  # fmt: skip
_MOST_WRAPPED = 10


def made_again(namespace: Mapping[str, Any], cells: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return by name what locked cells mean, of each its imports and functions, where the namespace has another."""
    found = [made for cell in cells for made in _parsed(cell)]
    bound = [made.bound(namespace) for made in found]
    changed = {name for names in bound for name, same in names.items() if not same}
    while more := {n for names, made in zip(bound, found, strict=True) if made.uses & changed for n in names} - changed:
        changed |= more
    space = dict(namespace)
    for made, names in zip(found, bound, strict=True):
        if names.keys() & changed:
            made.make(space)
    return {name: space[name] for name in changed if name in space}


def _parsed(cell: Sequence[str]) -> list[_Made]:
    nodes = [ast.parse(text).body[0] for text in cell]
    imports = tuple(node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
    return [_Made(node, imports) for node in nodes]


@dataclass(frozen=True)
class _Made:
    """A statement that binds names, and its cell's imports: calls of what they bind are compiled otherwise."""

    node: ast.stmt
    beside: tuple[ast.stmt, ...]

    @property
    def uses(self) -> frozenset[str]:
        """The names that it looks up, wherever they are bound."""
        return frozenset(found.id for found in ast.walk(self.node) if isinstance(found, ast.Name))

    def make(self, space: dict[str, Any]) -> None:
        """Run it, if it can be run."""
        with contextlib.suppress(Exception):
            exec(_compiled([self.node]), space)

    def bound(self, namespace: Mapping[str, Any]) -> dict[str, bool]:
        """Return the names that it binds, and whether the namespace has for each what it would give."""
        if isinstance(self.node, ast.FunctionDef):
            return {self.node.name: self._is_of(namespace.get(self.node.name), self.node, namespace)}
        scratch: dict[str, Any] = {}
        self.make(scratch)
        scratch.pop("__builtins__", None)
        return {name: name in namespace and namespace[name] is value for name, value in scratch.items()}

    def _is_of(self, found: Any, node: ast.FunctionDef, namespace: Mapping[str, Any]) -> bool:
        """Whether this is the function of a definition, as it is or in wrappers that say what they wrap."""
        for _ in range(_MOST_WRAPPED if node.decorator_list else 0):
            if isinstance(found, types.FunctionType) and not hasattr(found, "__wrapped__"):
                break
            found = getattr(found, "__wrapped__", None)
        if not isinstance(found, types.FunctionType):
            return False
        codes = [const for const in _compiled([*self.beside, node]).co_consts if isinstance(const, types.CodeType)]
        if not any(_alike(found.__code__, code) for code in codes if code.co_name == node.name):  # else of a default
            return False
        if node.decorator_list or not (node.args.defaults or any(node.args.kw_defaults)):
            return True
        space = dict(namespace)
        self.make(space)
        return _defaults(found) == _defaults(space.get(node.name))


def _compiled(nodes: Sequence[ast.stmt]) -> types.CodeType:
    return compile(ast.Module([*nodes], []), "<given>", "exec", dont_inherit=True)


def _defaults(function: Any) -> tuple[str, str]:
    return repr(getattr(function, "__defaults__", None)), repr(getattr(function, "__kwdefaults__", None))


def _alike(one: types.CodeType, other: types.CodeType) -> bool:
    """Whether two functions do the same, wherever they stand."""
    if any(getattr(one, part) != getattr(other, part) for part in _PARTS) or len(one.co_consts) != len(other.co_consts):
        return False
    for a, b in zip(one.co_consts, other.co_consts, strict=True):
        both = isinstance(a, types.CodeType) and isinstance(b, types.CodeType)
        if not (_alike(a, b) if both else type(a) is type(b) and repr(a) == repr(b)):
            return False
    return True
