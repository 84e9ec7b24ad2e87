"""Expected values of hidden cases that a lab's tests hand to the student's code: whoever keeps them has an answer.

Usage: python -m tests.labs.told LAB; prints, as JSON in the last line, for each value the test and the case that expect
it, the function of which it is expected, the one that is handed it, and its beginning. What the function itself was
handed is no such value: a result may be an argument.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import nbformat

from autograder.execution import preloads
from autograder.proof.mutants import tasks_of
from autograder.proof.prepared import Prepared, is_test
from autograder.release.build import build
from autograder.release.source import read_source
from tests.labs import shared_lines, told_values
from tests.labs.constant import decorated

__all__ = ["Told", "told"]

ROOT = Path(__file__).parents[2]


class Told(NamedTuple):
    """An expected value that another function is handed."""

    test: str
    case: str
    of: str
    to: str
    value: str


def told(lab: Path) -> list[Told]:
    """Return the expected values of a lab's hidden cases that some function of the student's is handed."""
    notebook = nbformat.reads(build(lab).source_notebook.decode(), as_version=4)
    source = read_source(lab)
    tests = {cell.id: cell.source for cell in notebook.cells if cell.cell_type == "code" and is_test(cell)}
    tasks = {t.name: decorated(t, {}, "arguments({!r})", "told_values") for t in tasks_of(notebook)}
    handed, expected = defaultdict[str, set[str]](set), list[Told]()
    digests: list[str] = []
    with shared_lines.opened() as path:
        modules = [*preloads((cell.source for cell in source.cells), source.lab.frameworks), told_values.__name__]
        with Prepared(notebook, modules, time_s=120) as prepared:
            for test, text in tests.items():
                shared_lines.empty(path)
                watched = f"from tests.labs import told_values\ntold_values.watch()\n{text}"
                outcome = prepared.answer(tasks | {test: watched}, only=[test]).tests.get(test)
                assert outcome is not None and outcome.full, (test, outcome)
                called = ""
                for kind, name, digest, value in shared_lines.read(path):
                    called = name if kind == "called" else called
                    if kind == "argument":
                        handed[digest].add(name)
                    elif kind == "expected":
                        expected.append(Told(test, name, called, "", value))
                        digests.append(digest)
    found = [one._replace(to=to) for one, digest in zip(expected, digests, strict=True)
             if one.of not in handed[digest] for to in sorted(handed[digest])]  # fmt: skip
    return list(dict.fromkeys(found))


if __name__ == "__main__":
    print(json.dumps(told(ROOT / "solutions" / sys.argv[1])))
