"""False checks for cells in which none can be made false, made of the names and literals that the cell has."""

from __future__ import annotations

import ast
import builtins
import secrets
from collections.abc import Sequence

from autograder.execution.syntax import called

__all__ = ["false_case", "false_condition", "trial"]

_TYPES = ("str", "int", "list", "dict", "float", "tuple")
_NAMES = ("points", "score", "earned", "credit")
_AFTERWARDS = ("again", "once more", "as well", "another time")
_REPORTED = {"equal": "{0}, {1}", "close": "{0}.0, {1}.0", "at_least": "{0}, {1}", "at_most": "{1}, {0}"}
"""Checks of labkit, and arguments with which each must fail, the first number being the smaller one."""


def false_condition(statements: Sequence[ast.stmt]) -> str:
    """Return an expression that is false whatever a student wrote, and that calls nothing of theirs.

    What a student's function returns, or changes, is none of its business: called once more, it might make another
    check of this notebook true or false.
    """
    nodes = [node for statement in statements for node in ast.walk(statement)]
    equal = any(isinstance(node, ast.Eq) for node in nodes)
    typed = any(called(node) == "isinstance" for node in nodes)
    name = secrets.choice(_students_functions(statements) or [""])
    forms = _equalities(statements, name) if equal or not (typed or name) else []
    if name and (typed or not equal):
        forms += [f"isinstance({name}, {secrets.choice(_TYPES)})", f"not callable({name})", f"{name} is None"]
    return secrets.choice(forms or _equalities(statements, name))


def _equalities(statements: Sequence[ast.stmt], name: str) -> list[str]:
    """Return equations of literals, and with a student's function as one thing in a list."""
    numbers = _numbers(statements)
    wrong, first = secrets.randbelow(3) + 1, numbers[0]
    found = [f"sum({numbers}) == {sum(numbers) + wrong}", f"max({numbers}) == {max(numbers) + wrong}"]
    if name:
        found += [f"len([{name}, {first}]) == {2 + wrong}", f"[{name}, {first}][1] == {first + wrong}"]
    return found


def trial(statements: Sequence[ast.stmt], name: str, points: float) -> tuple[str, str, str]:
    """Return statements that give a name one value if a false check passes and another if not, the name, and that.

    Both values are among the points that the cell can give. The check looks like those of the cell: a comparison, or
    an assertion whose error is caught.
    """
    nodes = [node for statement in statements for node in ast.walk(statement)]
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    name = name or secrets.choice([word for word in _NAMES if word not in used] or ["points_here"])
    low, high = _values(nodes, points)
    false = false_condition(statements)
    forms = []
    if any(isinstance(node, ast.Assert) for node in nodes):
        error = next((_caught(node) for node in nodes if isinstance(node, ast.Try) and node.handlers), "AssertionError")
        forms.append(f"{name} = {low}\ntry:\n    assert {false}\n    {name} = {high}\nexcept {error}:\n    pass")
    if any(isinstance(node, ast.If | ast.IfExp) for node in nodes) or not forms:
        forms += [f"{name} = {low}\nif {false}:\n    {name} = {high}", f"{name} = {high} if {false} else {low}"]
    return secrets.choice(forms), name, low


def false_case(statements: Sequence[ast.stmt], function: str) -> tuple[str, str]:
    """Return a case that must fail, and its title. function: `case` or `hidden_case`."""
    calls = [node for s in statements for node in ast.walk(s) if isinstance(node, ast.Call)]
    cases = [call.args[0] for call in calls if called(call) == function and call.args]
    titles = [t.value for t in cases if isinstance(t, ast.Constant) and isinstance(t.value, str)] or ["the same"]
    title = f"{secrets.choice(titles)} {secrets.choice(_AFTERWARDS)}"
    while title in titles:
        title += ", too"
    check = secrets.choice(sorted({called(call) for call in calls} & set(_REPORTED)) or ["equal"])
    first = secrets.randbelow(9) + 2
    arguments = _REPORTED[check].format(first, first + 1 + secrets.randbelow(9))
    return f"with check.{function}({title!r}):\n    check.{check}({arguments})", title


def _students_functions(statements: Sequence[ast.stmt]) -> list[str]:
    """Return the functions that are called and not the cell's own: no answer can be one of the usual types there."""
    nodes = [node for statement in statements for node in ast.walk(statement)]
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    own |= {(a.asname or a.name).split(".")[0] for a in nodes if isinstance(a, ast.alias)}
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    names = [node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return sorted({name for name in names if name not in own and not hasattr(builtins, name)} - {"get_ipython"})


def _numbers(statements: Sequence[ast.stmt]) -> list[int]:
    found = [node.value for s in statements for node in ast.walk(s) if isinstance(node, ast.Constant)]
    known = [value for value in found if type(value) is int and 0 <= value < 1000]
    return [secrets.choice(known) if known else secrets.randbelow(9) + 1 for _ in range(secrets.randbelow(3) + 2)]


def _values(nodes: Sequence[ast.AST], points: float) -> tuple[str, str]:
    """Return two different numbers of points, the lower first, as fine as those of the cell."""
    fine = any(isinstance(node, ast.Div) for node in nodes)
    fine = fine or any(isinstance(node, ast.Constant) and type(node.value) is float for node in nodes)
    if points >= 2 and points == int(points) and not fine:
        # 1 is what a patch shows that shows the same for all
        low = secrets.choice([number for number in range(int(points)) if number != 1])
        return str(low), str(low + 1 + secrets.randbelow(int(points) - low))
    places = secrets.choice((2, 3))
    part = secrets.randbelow(8)
    return str(round(points * part / 8, places)), str(round(points * (part + 1) / 8, places))


def _caught(node: ast.Try) -> str:
    kind = node.handlers[0].type
    return (
        ast.unparse(kind) if isinstance(kind, ast.Name) and kind.id in {"Exception", "AssertionError"} else "Exception"
    )
