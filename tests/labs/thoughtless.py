"""Answers without a thought: each function that a lab leaves to students returns a constant, an argument, an error.

Usage: python -m tests.labs.thoughtless LAB [--few]; prints, as JSON in the last line, the cases of each test
cell that such answers pass, and the first three answers that did.
"""

from __future__ import annotations

import ast
import copy
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from autograder.grading.checks import checks_of
from autograder.release.source import LabSource, SourceCell, read_source
from tests.labs.rows import rows_of
from tests.unit.autograder.boundary.talk import MIME, Talk

__all__ = ["passed"]

ROOT = Path(__file__).parents[2]
_CONSTANTS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 0.0, 1.0, 0.5, float("nan"), float("inf"), "", "x", b"", (), [], {}, set()),
    *([0.5, 0.5], (0, 0), (None, None), (0.0, 0.0, 0.0), [[]], [()], [[0]], {0: 0}, ([], []), (b"", 0), ({}, [])),
    *(np.zeros(0), np.zeros(()), np.zeros((2, 0)), np.zeros(3), np.ones((2, 2)), np.array(1)),
)
_ERRORS = (ValueError, TypeError, KeyError, IndexError, ZeroDivisionError, StopIteration, AssertionError)
_FEW = ("None", "[]", "the first argument", "ValueError")
Answer = Callable[..., Any]


def passed(lab: Path, few: bool = False) -> dict[str, dict[str, list[str]]]:
    """Return the titles of the cases that passed, by test cell, with the answers that passed them."""
    source = read_source(lab)
    rows = rows_of(source)
    checks = checks_of(rows)
    found: dict[str, dict[str, list[str]]] = {}
    for tasks, test in _tasks(source):
        talk = Talk()
        talk.namespace["_answer"] = partial(_current, talk.namespace)
        talk.namespace["_current"] = _raising(NotImplementedError)
        for cell in source.cells:
            if cell.cell_type == "code" and (cell.solution or cell.locked) and not cell.test:
                _run(talk, _emptied(cell) if cell in tasks else cell.source)
        for name, answer in _answers():
            if few and name not in _FEW:
                continue
            talk.namespace["_current"] = answer
            for title in _passed_by(talk.namespace, test, checks.given_to(test.grade_id)):
                found.setdefault(test.grade_id, {}).setdefault(title, []).append(name)
    return found


def _current(namespace: dict[str, Any], *args: Any) -> Any:
    """Return what the answer that is tried now returns; the tasks keep this name."""
    return namespace["_current"](*args)


def _tasks(source: LabSource) -> Iterator[tuple[list[SourceCell], SourceCell]]:
    """Yield each test cell with the tasks between it and the one before."""
    tasks: list[SourceCell] = []
    for cell in source.cells:
        if cell.test:
            # A fresh process would have to be given these answers too; the fuzzer leaves the same cells out.
            if tasks and "in_fresh_process" not in cell.source:
                yield tasks, cell
            tasks = []
        elif cell.solution and cell.cell_type == "code":
            tasks.append(cell)


def _emptied(cell: SourceCell) -> str:
    """Return the cell with `_answer` in the place of each function that holds a solution."""
    tree = ast.parse(cell.source)
    begins = [block.begin + 1 for block in cell.blocks]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(node.lineno <= b <= (node.end_lineno or 0) for b in begins):
            inner = [n for n in ast.walk(node) if isinstance(n, ast.FunctionDef) and n is not node]
            own = [b for b in begins if node.lineno <= b <= (node.end_lineno or 0)]
            if all(any(n.lineno <= b <= (n.end_lineno or 0) for n in inner) for b in own):
                continue  # the students write the inner function only
            names = [a.arg for a in (*node.args.posonlyargs, *node.args.args) if a.arg != "self"]
            call = f"_answer({', '.join(names)})"
            node.body = ast.parse(call if node.name == "__init__" else f"return {call}").body
    return ast.unparse(ast.fix_missing_locations(tree))


def _run(talk: Talk, code: str) -> None:
    try:
        talk.code(code)
    except Exception as error:  # a cell that uses an answer
        print(f"{type(error).__name__}: {error}", file=sys.stderr)


def _answers() -> Iterator[tuple[str, Answer]]:
    for value in _CONSTANTS:
        yield repr(value), lambda *_args, value=value: copy.deepcopy(value)
    for error in _ERRORS:
        yield error.__name__, _raising(error)
    yield "the first argument", lambda *args: args[0] if args else None
    yield "the second argument", lambda *args: args[1] if len(args) > 1 else None
    yield "the third argument", lambda *args: args[2] if len(args) > 2 else None
    yield "the last argument", lambda *args: args[-1] if args else None
    yield "the first item", lambda *args: args[0][0] if args else None
    yield "none of the items", lambda *args: args[0][:0] if args else None
    yield "how many items", lambda *args: len(args[0]) if args else None
    yield "a sum", lambda *args: args[0] + args[1] if len(args) > 1 else None
    yield "a product", lambda *args: args[0] * args[1] if len(args) > 1 else None
    yield "all arguments", lambda *args: args
    yield "a copy", lambda *args: copy.deepcopy(args[0]) if args else None
    yield "zeros", lambda *args: _like(args[0], 0) if args else None
    yield "ones", lambda *args: _like(args[0], 1) if args else None
    yield "zeros, twice", lambda *args: (_like(args[0], 0), _like(args[-1], 0)) if args else None
    yield "sorted", lambda *args: sorted(args[0]) if args else None
    yield "a list of zeros", lambda *args: [0.0] * len(args[0]) if args else None


def _raising(error: type[BaseException]) -> Answer:
    def answer(*_args: Any) -> Any:
        raise error("no")

    return answer


def _like(value: Any, number: int) -> Any:
    if type(value).__module__ == "torch":
        return value.clone().fill_(number)
    if isinstance(value, list | tuple):
        return type(value)(_like(item, number) for item in value)
    return np.full_like(value, number) if isinstance(value, np.ndarray) else number


def _passed_by(namespace: dict[str, Any], test: SourceCell, given: dict[str, Any]) -> list[str]:
    talk = Talk()
    talk.namespace = namespace
    try:
        report = talk.test(test.source, time_s=3, given=given)["bundle"].get(MIME)
    finally:
        for end in talk.sockets:
            end.close()
    return [case["title"] for case in report["cases"] if case["passed"]] if report else []


if __name__ == "__main__":
    print(json.dumps(passed(ROOT / "solutions" / sys.argv[1], few="--few" in sys.argv)))
