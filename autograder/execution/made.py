"""Objects that a test makes to compare with: `move(p) == Point(2, 0)`."""

from __future__ import annotations

import ast
import secrets
from collections.abc import Collection, Iterator

from autograder.execution.literals import shifted
from autograder.execution.syntax import called, statements_of

__all__ = ["compared_whole", "made_otherwise", "of_cells"]

_OPTIONS = {"frozen", "init", "kw_only", "order", "repr", "slots", "unsafe_hash"}
"""Of dataclass, those that leave the comparison of all fields as it is."""
_FACTORIES = {"NamedTuple", "namedtuple"}
_TRIES = 5
_NOUGHTS = {"0", "0.0"}
"""What cannot be made of 0, such as a fraction of so many parts, fails for everybody."""
_DECIDING = {"__eq__", "__getattribute__", "__init__", "__ne__", "__new__", "__post_init__"}


def of_cells(cells: Collection[str]) -> frozenset[str]:
    """Return the names of classes that these cells define, whose objects are equal only if all that they hold is."""
    return frozenset(name for cell in cells for name in compared_whole(statements_of(cell)))


def compared_whole(statements: Collection[ast.stmt]) -> frozenset[str]:
    """Return the names of dataclasses and named tuples among these statements that compare all their fields."""
    found = set[str]()
    for statement in statements:
        if isinstance(statement, ast.ClassDef) and _whole(statement, found):
            found.add(statement.name)
        elif isinstance(statement, ast.Assign) and called(statement.value) in _FACTORIES:
            found |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return frozenset(found)


def _whole(definition: ast.ClassDef, known: Collection[str]) -> bool:
    bases = {getattr(base, "id", getattr(base, "attr", "")) for base in definition.bases}
    if definition.keywords or not bases <= {*known, "NamedTuple"}:
        return False
    for part in ast.walk(definition):
        if isinstance(part, ast.FunctionDef) and part.name in _DECIDING:
            return False
        if isinstance(part, ast.keyword) and part.arg in {None, "compare", "eq"}:
            return False
    named = definition.decorator_list == [] and "NamedTuple" in bases
    return named or (len(definition.decorator_list) == 1 and _is_dataclass(definition.decorator_list[0]))


def _is_dataclass(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    options = {keyword.arg for keyword in decorator.keywords} if isinstance(decorator, ast.Call) else set()
    return getattr(function, "attr", getattr(function, "id", "")) == "dataclass" and options <= _OPTIONS


def made_otherwise(call: ast.Call) -> tuple[ast.expr, str] | None:
    """Return a part of a literal among the arguments and another text for it; None if there is no literal."""
    for argument in _in_any_order([*call.args, *(keyword.value for keyword in call.keywords if keyword.arg)]):
        drawn = [found for _ in range(_TRIES) if (found := shifted(argument))]
        if usable := [found for found in drawn if found[1] not in _NOUGHTS]:
            return usable[0]
    return None


def _in_any_order(parts: list[ast.expr]) -> Iterator[ast.expr]:
    while parts:
        yield parts.pop(secrets.randbelow(len(parts)))
