"""Answers pasted together from what the notebook shows: its helpers in the place of a task's functions.

A test that computes what it expects holds an answer. What students can read of it must not earn a point under the
task's name, where nothing else is answered. Usage: python -m tests.labs.pasted LAB; prints each such answer and what it
earns.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from autograder.execution import preloads
from autograder.markers import clear_solutions, strip_hidden
from autograder.proof import Outcome, Prepared
from autograder.release.answers import Variant, blank_out, put_answers
from autograder.release.build import to_notebook
from autograder.release.differences import first_line
from autograder.release.source import LabSource, read_source

__all__ = ["Pasted", "pasted"]

SOLUTIONS = Path(__file__).parents[2] / "solutions"
Function = ast.FunctionDef | ast.AsyncFunctionDef
_THOUGHTLESS = ("raise NotImplementedError", "raise ValueError", "return None", "return args[0] if args else None")


class Pasted(NamedTuple):
    """A helper that stands open, the task's function whose name it was given, and what that earned.

    points, cases: by test cell, what it earned more than no thought does, and the titles of the cases that it passed.
    """

    check: str
    helper: str
    function: str
    points: dict[str, float]
    cases: dict[str, tuple[str, ...]]


def pasted(folder: Path) -> Iterator[Pasted]:
    """Yield each helper that earns anything, and more than no thought does."""
    source = read_source(folder)
    notebook = to_notebook(source)
    blank = copy.deepcopy(notebook)
    blank_out(blank, clear_solutions(copy.deepcopy(notebook)), frozenset())
    modules = preloads((cell.source for cell in source.cells), source.lab.frameworks)
    limits = source.lab.limits
    with Prepared(notebook, modules, time_s=limits.total_time_s, memory_mib=limits.memory_mib) as process:
        for function in _functions(source):

            def outcomes(code: str, only: list[str] | None = None) -> dict[str, Outcome]:
                answer = put_answers(copy.deepcopy(blank), Variant(folder, code, ""))
                return process.outcomes(answer, only=only)

            bodies = [outcomes(f"def {function.name}(*args, **named):\n    {body}\n") for body in _THOUGHTLESS]
            nothing = {name: max(body[name].points if name in body else 0.0 for body in bodies) for name in bodies[0]}
            for check, helper, code in _helpers(source, function):
                got = outcomes(code, list(nothing))
                earned = {name: outcome.points for name, outcome in got.items() if outcome.points > nothing[name]}
                if earned:
                    yield Pasted(check, helper, function.name, earned, {name: got[name].passed for name in earned})


def _functions(source: LabSource) -> Iterator[Function]:
    """Yield the functions that students write."""
    for cell in source.cells:
        if cell.solution and cell.cell_type == "code":
            for node in ast.parse(cell.source).body:
                blocks = [b.begin + 1 for b in cell.blocks]
                if isinstance(node, Function) and any(node.lineno <= b <= (node.end_lineno or 0) for b in blocks):
                    yield node


def _helpers(source: LabSource, function: Function) -> Iterator[tuple[str, str, str]]:
    """Yield the helpers that stand open and take as many arguments, each with code that gives its name to it."""
    for cell in source.cells:
        if cell.cell_type != "code" or cell.solution:
            continue
        lines = strip_hidden(cell.source).split("\n")
        kinds = Function | ast.Import | ast.ImportFrom if cell.test else Function  # other cells are run anyway
        body = [n for n in ast.parse("\n".join(lines)).body if isinstance(n, kinds)]
        shown = "\n\n\n".join("\n".join(lines[first_line(node) - 1 : node.end_lineno]) for node in body)
        for node in body:
            if isinstance(node, Function) and _takes(node, len(function.args.args)) and not _calls(node, function.name):
                own = f"def {function.name}(*args, **named):\n    return {node.name}(*args, **named)\n"
                yield cell.grade_id or f"line {cell.line}", node.name, f"{shown}\n\n\n{own}"


def _calls(helper: Function, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(helper))


def _takes(node: Function, number: int) -> bool:
    names = node.args.args
    return len(names) - len(node.args.defaults) <= number and (number <= len(names) or node.args.vararg is not None)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        for found in pasted(SOLUTIONS / name):
            print(name, *found, flush=True)
