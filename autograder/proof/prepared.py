"""A process that has run a lab's solution, and that is forked for each set of other answers."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import nbformat

from autograder.errors import SandboxError
from autograder.notebook import metadata_of
from autograder.proof.reach import reached

__all__ = ["Outcome", "Prepared"]

_PROGRAM = ("-m", "autograder.proof.prepared_main")


@dataclass(frozen=True)
class Outcome:
    """What one test cell gave.

    Attributes:
        points, max_points: earned, and possible.
        failed: the cases that did not pass, as `check` reports them.
        error: what ended the cell before its score; empty if nothing did.
        passed: the titles of the cases that passed.
    """

    points: float
    max_points: float
    failed: tuple[Mapping[str, Any], ...] = field(default=())
    error: str = ""
    passed: tuple[str, ...] = ()

    @property
    def full(self) -> bool:
        return not self.error and not self.failed


class Prepared(AbstractContextManager["Prepared"]):
    """The code cells of a lab's solution, run once but for its tests and its cells to explore."""

    def __init__(
        self, notebook: nbformat.NotebookNode, modules: Sequence[str] = (), *, time_s: float = 120, memory_mib: int = 0
    ) -> None:
        """Start the process, import the modules and run the cells.

        notebook: the instructor's. time_s: how long one set of answers may take. memory_mib: how much address space; as
        much as it likes if 0. Raises SandboxError if the process does not begin.
        """
        cells = [cell for cell in notebook.cells if cell.cell_type == "code" and not _explored(cell)]
        self._sources = {cell.id: cell.source for cell in cells}
        self._tests = [cell.id for cell in cells if metadata_of(cell).get("grade")]
        self._bounds = {"time_s": time_s, "memory_mib": memory_mib}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the process)
        self._process = subprocess.Popen(
            [sys.executable, *_PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
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

    def outcomes(self, notebook: nbformat.NotebookNode, only: Collection[str] | None = None) -> dict[str, Outcome]:
        """Run what differs in this notebook; return what each test gave that can see a difference, by grade_id.

        only: of these tests, in place of all.
        """
        sources = {cell.id: cell.source for cell in notebook.cells if cell.id in self._sources}
        changed = {key: source for key, source in sources.items() if source != self._sources[key]}
        again = reached(self._sources | changed, changed.keys(), self._tests)
        if only is not None:
            again -= set(self._tests) - set(only)
        answer = self._ask({"sources": changed, "again": sorted(again), **self._bounds})
        return {
            key: Outcome(**(found | {name: tuple(found.get(name, ())) for name in ("failed", "passed")}))
            for key, found in answer["tests"].items()
        }

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


def _explored(cell: nbformat.NotebookNode) -> bool:
    return bool(cell.metadata.get("labkit", {}).get("explore"))
