"""Makes one check of a test cell false, in a way that looks as its author might have written it.

What is hidden is changed first, for what students were given can be recognised. Where nothing can be changed a false
check is put in.
"""

from __future__ import annotations

import ast
import secrets
from collections.abc import Collection, Sequence
from typing import NamedTuple

from autograder.execution.change import Change
from autograder.execution.changes import HELPERS, Changes
from autograder.execution.invented import false_case, false_condition, trial
from autograder.execution.syntax import called, hidden_lines, offset, statements_of

__all__ = ["Falsified", "falsified"]


class Falsified(NamedTuple):
    """A test cell with a false check.

    Attributes:
        kind: how a kernel tells that it failed. `error`: the cell ends in an error. `value`: its last value is `value`,
            among those up to its points. `report`: each of the cases `titles` has failed.
    """

    text: str
    kind: str
    value: str = ""
    titles: frozenset[str] = frozenset()


def falsified(source: str, points: float = 1.0, whole: Collection[str] = ()) -> Falsified:
    """Return a test cell, worth these points, with a false check.

    whole: names of classes whose objects are equal only if all that they hold is.
    """
    source = source.replace("\r\n", "\n")
    statements = statements_of(source)
    last = statements[-1] if statements else None
    if isinstance(last, ast.Expr) and called(last.value) == "score" and source[offset(source, last) :][:6] == "check.":
        return _with_cases(source, statements, whole)
    if isinstance(last, ast.Expr) and not _a_check(last, statements) and not source.rstrip().endswith(";"):
        return _with_value(source, statements, points)
    changes = list(Changes(source, statements, whole).of(statements))
    hidden = hidden_lines(source)
    if not changes or (hidden and not any(change.node.lineno in hidden for change in changes)):
        return Falsified(_insert(source, statements, f"assert {false_condition(statements)}"), "error")
    return Falsified(_replace(source, _chosen(changes, hidden)), "error")


def _chosen(changes: list[Change], hidden: set[int]) -> Change:
    """Return one at random of those that are hardest to tell from a true check."""
    ranks = [(change.node.lineno in hidden, change.literal) for change in changes]
    return secrets.choice([change for change, rank in zip(changes, ranks, strict=True) if rank == max(ranks)])


def _a_check(statement: ast.Expr, statements: Sequence[ast.stmt]) -> bool:
    """Whether this ends a cell without a value: a helper, a print, or a call of the cell's own function of tests."""
    name = called(statement.value)
    returning = {
        s.name: any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(s))
        for s in statements
        if isinstance(s, ast.FunctionDef)
    }
    return name in {*HELPERS, "print", "raises", "display", "show"} or returning.get(name) is False


# ------------------------------------------------------------------------------------------------------- what to put in
def _with_value(source: str, statements: list[ast.stmt], points: float) -> Falsified:
    """Let the cell end in one value if a false check passes, and in another if it fails."""
    last = statements[-1]
    assert isinstance(last, ast.Expr)
    own = last.value.id if isinstance(last.value, ast.Name) else ""
    text, name, low = trial(statements, own, points)
    ended = source if own else _replace(source, Change(last.value, name, literal=False))
    if last.lineno > 1 and not any(s.lineno <= last.lineno <= (s.end_lineno or 0) for s in statements[:-1]):
        return Falsified(_insert(ended, [], text, at_most=last.lineno - 1), "value", low)
    check = f"assert {false_condition(statements)}"
    return Falsified(_insert(source, statements[:-1], check, at_most=0), "error")


def _with_cases(source: str, statements: list[ast.stmt], whole: Collection[str]) -> Falsified:
    """Make a check of each case false, or put a case that must fail before the score.

    A case that fails ends none of the others: who forges some of them has to recognise each.
    """
    hidden = hidden_lines(source)
    found = Changes(source, statements, whole).in_cases(statements)
    changes = [change for change in found if not hidden or change.node.lineno in hidden]
    if changes:
        titles = {change.title for change in changes}
        chosen = [_chosen([change for change in changes if change.title == title], hidden) for title in titles]
        text = source
        for change in sorted(chosen, key=lambda change: -offset(source, change.node)):
            text = _replace(text, change)
        return Falsified(text, "report", titles=frozenset(titles))
    case, title = false_case(statements, "hidden_case" if hidden else "case")
    lines = source.split("\n")
    place = max(hidden) if hidden else statements[-1].lineno - 1
    return Falsified("\n".join([*lines[:place], case, *lines[place:]]), "report", titles=frozenset({title}))


def _insert(source: str, statements: Sequence[ast.stmt], text: str, at_most: int | None = None) -> str:
    """Put a statement below one of these, below a hidden one if there are any, or at the end."""
    lines = source.split("\n")
    ends = [statement.end_lineno or 0 for statement in statements if statement.col_offset == 0]
    starts = [statement.lineno for statement in statements]
    places = [end for end in ends if ends.count(end) == 1 and starts.count(end) <= 1]
    hidden = hidden_lines(source)
    places = [end for end in places if end in hidden] or places
    place = secrets.choice(places) if places else (len(lines) if at_most is None else at_most)
    return "\n".join([*lines[:place], text, *lines[place:]])


def _replace(source: str, change: Change) -> str:
    return source[: offset(source, change.node)] + change.text + source[offset(source, change.node, end=True) :]
