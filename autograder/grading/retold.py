"""What students read of a test where their code may have read hidden lines: words of the instructor's alone."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from autograder.boundary.locked import statements
from autograder.execution.results import Case, Failure
from autograder.execution.syntax import called, case_title, is_case
from autograder.model import CellSpec
from autograder.protocol import GUARD

__all__ = ["RETOLD", "as_written", "class_of", "in_words_of", "without_values"]

RETOLD = "what it says is not shown, because tests with hidden lines ran beside your code"
_TOLD_APART = ("AssertionError", "NotImplementedError")


def class_of(failure: Failure) -> str:
    return failure.name if failure.name in _TOLD_APART else "an error"


def without_values(case: Case) -> Case:
    """Return a case without what the student's code has said, or returned; the rest is the instructor's."""
    told = {"error": case["error"] if case["error"] in _TOLD_APART else "Error", "message": RETOLD, "sort": ""}
    return case if case["passed"] or case["error"] == GUARD else {**case, **told}


def in_words_of(row: CellSpec, cases: Sequence[Case]) -> list[Case]:
    """Return cases without words that the test's text does not hold: made of values, they may be the student's."""
    known = {n.value for n in ast.walk(ast.Module(statements(row.source), [])) if isinstance(n, ast.Constant)}
    instead = {"title": "a case", "hint": "", "more": ""}
    return [
        {key: instead[key] if key in instead and said not in known else said for key, said in case.items()}
        for case in cases
    ]


def as_written(cases: Sequence[Case], row: CellSpec) -> list[Case]:
    """Return one case for each title of the test's own cases, with no other text: the student's process reported.

    How many there are, in which order and with which words could spell out what that process has read of the test.
    """
    found: list[Case] = []
    for call in ast.walk(ast.Module(statements(row.source), [])):
        if not isinstance(call, ast.Call) or not is_case(call) or not call.args:
            continue
        title = case_title(call)
        mine = [case for case in cases if case["title"] == title]
        if mine and title not in {case["title"] for case in found}:
            hints = {word.arg: _text(word.value) for word in call.keywords}
            shown = next((case for case in mine if not case["passed"]), {**mine[0], "message": "", "error": ""})
            said = {key: "" if shown["passed"] else hints.get(key, "") for key in ("hint", "more")}
            found.append({**shown, "hidden": called(call) == "hidden_case", "weight": 1.0, **said})
    return found


def _text(node: ast.AST) -> str:
    """Return the text that stands here; empty if it is made of others."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
