"""A process that has run a lab's solution, and that is forked for each set of other answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

from autograder.boundary.parsing import syntax_tree, without_magics
from autograder.errors import SandboxError
from autograder.notebook import metadata_of, to_explore
from autograder.proof.reach import reached

__all__ = ["Answer", "Outcome", "Prepared", "is_test"]

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS")
_PROGRAM = ("-m", "autograder.proof.prepared_main")


@dataclass(frozen=True)
class Outcome:
    """What one test cell gave.

    Attributes:
        points, max_points: earned, and possible.
        failed: the cases that did not pass, as `check` reports them.
        error: what ended the cell before its score; empty if nothing did.
        passed: the titles of the cases that passed.
        cpu_s: processor time that the fork had used when the cell ended.
    """

    points: float
    max_points: float
    failed: tuple[Mapping[str, Any], ...] = field(default=())
    error: str = ""
    passed: tuple[str, ...] = ()
    cpu_s: float = 0.0

    @property
    def full(self) -> bool:
        return not self.error and not self.failed

    @property
    def why(self) -> str:
        """What it lost its first point for; empty if it lost none."""
        return self.error or next((case["title"] for case in self.failed), "")

    @property
    def told(self) -> str:
        """What a student reads of the first case that did not pass: of a hidden one no values."""
        if self.error or not self.failed:
            return self.error
        case = self.failed[0]
        said = case["sort"] if case["hidden"] else case["message"]
        return "\n".join(filter(None, [case["title"], said, f"look at: {case['hint']}" if case["hint"] else ""]))


@dataclass(frozen=True)
class Answer:
    """What a fork found.

    Attributes:
        tests: what each test gave, by grade_id, in order.
        idle: whether faults of `autograder.proof.wrongly` were called, and met nothing that they could spoil.
    """

    tests: Mapping[str, Outcome]
    idle: bool = False


class Prepared(AbstractContextManager["Prepared"]):
    """The code cells of a lab's solution, run once but for its tests and its cells to explore.

    Lines that only IPython reads are passed over.
    """

    def __init__(
        self,
        notebook: nbformat.NotebookNode,
        modules: Sequence[str] = (),
        *,
        time_s: float = 120,
        memory_mib: int = 0,
        threads: int = 0,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start the process, import the modules and run the cells.

        notebook: the instructor's. time_s: how long one set of answers may take. memory_mib: how much address space; as
        much as it likes if 0. threads: of numerical libraries; as many as they like if 0. folder: where it runs.
        environment: variables beside those of this process.
        Raises SandboxError if the process does not begin.
        """
        cells = [cell for cell in notebook.cells if cell.cell_type == "code" and not to_explore(cell)]
        self._sources = {cell.id: _python(cell.source) for cell in cells}
        self._tests = [cell.id for cell in cells if is_test(cell)]
        self._bounds = {"time_s": time_s, "memory_mib": memory_mib}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the process)
        self._process = subprocess.Popen(
            [sys.executable, *_PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            cwd=folder,
            env=os.environ | ({name: str(threads) for name in _THREADS} if threads else {}) | dict(environment or {}),
        )
        about = [{"id": key, "source": source, "test": key in self._tests} for key, source in self._sources.items()]
        self._ask({"cells": about, "modules": list(modules)})

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def outcomes(
        self, notebook: nbformat.NotebookNode, only: Collection[str] | None = None, *, first: bool = False
    ) -> dict[str, Outcome]:
        """Run what differs in this notebook; return what each test gave that can see a difference, by grade_id.

        only: of these tests, in place of all. first: end at the first case that does not pass.
        """
        sources = {cell.id: _python(cell.source) for cell in notebook.cells if cell.id in self._sources}
        changed = {key: source for key, source in sources.items() if source != self._sources[key]}
        return dict(self.answer(changed, only=only, first=first).tests)

    def answer(
        self,
        changed: Mapping[str, str],
        *,
        only: Collection[str] | None = None,
        first: bool = False,
        cpu_s: float = 0,
        time_s: float = 0,
    ) -> Answer:
        """Run these cells, by id, and all that see them.

        first: end at the first case that does not pass. cpu_s: end the fork when it has used as much processor time.
        time_s: in place of the one for all.
        """
        again = self.seen(changed)
        if only is not None:
            again -= set(self._tests) - set(only)
        bounds = self._bounds | ({"time_s": time_s} if time_s else {})
        found = self._ask({"sources": changed, "again": sorted(again), "first": first, "cpu_s": cpu_s, **bounds})
        return Answer({key: _outcome(one) for key, one in found["tests"].items()}, found["idle"])

    def own(self, ids: Collection[str]) -> dict[str, str]:
        """Return these cells as the solution has them."""
        return {key: self._sources[key] for key in ids}

    def seen(self, changed: Mapping[str, str]) -> frozenset[str]:
        """Return the ids of the cells that can see these changes."""
        return reached(self._sources | dict(changed), changed.keys(), self._tests)

    @property
    def tests(self) -> tuple[str, ...]:
        """The grade_ids of the tests, in order."""
        return tuple(self._tests)

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        answer: dict[str, Any] = json.loads(line) if line else {"error": "it ended"}
        if "error" in answer:
            self._errors.seek(0)
            said = self._errors.read().decode(errors="replace")[-2000:]
            raise SandboxError(f"the process that runs the lab: {answer['error']}\n{said}".strip())
        return answer


def _python(source: str) -> str:
    """Return a cell's text without IPython's lines; Python's own stays as it is, a text of several lines in it, too."""
    try:
        syntax_tree(source)
    except (SyntaxError, ValueError):
        return without_magics(source)
    return source


def _outcome(found: Mapping[str, Any]) -> Outcome:
    return Outcome(**(dict(found) | {name: tuple(found.get(name, ())) for name in ("failed", "passed")}))


def is_test(cell: nbformat.NotebookNode) -> bool:
    """Whether a code cell earns points by being run."""
    nbgrader = metadata_of(cell)
    return bool(nbgrader.get("grade") and not nbgrader.get("solution"))
