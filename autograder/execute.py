"""Runs a repaired notebook in a sandboxed kernel, cell by cell, within limits of time and output."""

from __future__ import annotations

import contextlib
import queue
import shutil
import tempfile
import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbclient.util import run_sync

from autograder import sandbox as walls
from autograder.errors import SandboxError
from autograder.model import Limits
from autograder.score import NOT_RUN

__all__ = ["Execution", "Executor", "mark_not_run"]

_STARTUP_S = 60
_GRACE_S = 2.0
"""How long an interrupted cell may take to end before the kernel is killed."""


@dataclass(frozen=True)
class Execution:
    """An executed notebook; complete means that every cell that should run did."""

    notebook: nbformat.NotebookNode
    complete: bool
    problems: tuple[str, ...] = ()


class Executor:
    """Runs notebooks in one kind of sandbox; `stop` ends those that are running, from any thread."""

    def __init__(self, sandbox: walls.Sandbox) -> None:
        self.sandbox = sandbox
        self._running: set[walls.SandboxedKernelManager] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def run(
        self,
        notebook: nbformat.NotebookNode,
        *,
        limits: Limits,
        files: Mapping[str, Path],
        explore: Collection[str] = (),
    ) -> Execution:
        """Return the notebook with outputs; `files` are copied beside it, cells with an id in `explore` are not run.

        Raises SandboxError if the kernel cannot be started: then nothing was run.
        """
        bounds = walls.Limits(memory_mib=limits.memory_mib, cpu_s=int(limits.total_time_s) + 60)
        with tempfile.TemporaryDirectory(prefix="grade-") as scratch:
            for name, path in files.items():
                target = Path(scratch, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
            with walls.kernel(self.sandbox, files=Path(scratch), limits=bounds) as manager:
                with self._lock:
                    if self._stopped:
                        raise SandboxError("grading was stopped")
                    self._running.add(manager)
                try:
                    return _Run(manager, notebook, limits, frozenset(explore)).execute()
                finally:
                    with self._lock:
                        self._running.discard(manager)

    def stop(self) -> None:
        """Kill every kernel; the threads that wait for them come back at once."""
        with self._lock:
            self._stopped = True
            for manager in self._running:
                manager.end()


class _Client(NotebookClient):  # type: ignore[misc]
    """A notebook client that stops keeping outputs once a submission has produced more than it may."""

    left_bytes = 0
    flooded = False

    def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
        if msg["msg_type"] in {"stream", "display_data", "execute_result", "error", "update_display_data"}:
            self.left_bytes -= len(str(msg["content"]))
            if self.left_bytes < 0 and msg["msg_type"] != "error":
                self.flooded = True
                return None
        return super().process_message(msg, cell, cell_index)


class _Run:
    """One execution of one notebook."""

    def __init__(self, manager: Any, notebook: nbformat.NotebookNode, limits: Limits, explore: frozenset[str]) -> None:
        self.notebook = notebook
        self.limits = limits
        self.explore = explore
        self.problems: list[str] = []
        self.timed_out = False
        self.client = _Client(notebook, km=manager, allow_errors=True, startup_timeout=_STARTUP_S, record_timing=False)
        self.client.left_bytes = limits.output_kib * 1024

    def execute(self) -> Execution:
        deadline = time.monotonic() + self.limits.total_time_s
        reason = ""
        try:
            with self.client.setup_kernel():
                for number, cell in enumerate(self.notebook.cells):
                    if cell.cell_type == "code" and cell.id not in self.explore and not reason:
                        reason = self._run_cell(number, cell, deadline)
        except (RuntimeError, DeadKernelError) as error:
            if not any(cell.get("execution_count") for cell in self.notebook.cells):
                raise SandboxError(f"the kernel did not start: {error}", hint="labkit doctor") from error
            reason = reason or "the kernel died"
        if self.client.flooded:
            self.problems.append(f"more than {self.limits.output_kib} KiB of output: the rest was dropped")
        if reason:
            mark_not_run(self.notebook, reason)
        return Execution(self.notebook, complete=not (reason or self.timed_out), problems=tuple(self.problems))

    def _run_cell(self, number: int, cell: nbformat.NotebookNode, deadline: float) -> str:
        """Run one cell; return why no further cell can run, or nothing."""
        left = deadline - time.monotonic()
        if left <= 0:
            self.problems.append(f"stopped after {self.limits.total_time_s:g} s in all, before {_name(number, cell)}")
            return f"{self.limits.total_time_s:g} s in all were over before this cell"
        self.client.timeout = max(1, round(min(self.limits.cell_time_s, left)))
        self.client.iopub_timeout = 4
        try:
            self.client.execute_cell(cell, number, store_history=True)
        except CellTimeoutError:
            self.timed_out = True
            _append_error(cell, "TimeoutError", f"stopped after {self.client.timeout} s")
            self.problems.append(f"{_name(number, cell)} was stopped after {self.client.timeout} s")
            return "" if self._interrupted() else "an earlier cell could not be stopped"
        except DeadKernelError:
            _append_error(cell, "KernelDied", "the Python process died in this cell")
            self.problems.append(f"the Python process died in {_name(number, cell)}: out of memory, or a crash")
            return "the Python process died in an earlier cell"
        except CellExecutionError:  # raised for replies without an error output; the cell says what happened
            pass
        return ""

    def _interrupted(self) -> bool:
        """Interrupt the running cell; return whether the kernel answers again."""
        run_sync(self.client.km.interrupt_kernel)()
        request = self.client.kc.execute("", silent=True)
        deadline = time.monotonic() + _GRACE_S
        while (left := deadline - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                reply = run_sync(self.client.kc.get_shell_msg)(timeout=left)
                if reply["parent_header"].get("msg_id") == request:
                    return True
        self.problems.append("the process did not answer the interrupt and was ended")
        return False


def mark_not_run(notebook: nbformat.NotebookNode, reason: str) -> nbformat.NotebookNode:
    """Leave an error in every graded cell that was not run, in place: without one nbgrader would give full marks."""
    for cell in notebook.cells:
        graded = cell.metadata.get("nbgrader", {}).get("grade", False)
        if cell.cell_type == "code" and graded and cell.execution_count is None and not cell.outputs:
            _append_error(cell, NOT_RUN, reason)
    return notebook


def _append_error(cell: nbformat.NotebookNode, name: str, value: str) -> None:
    cell.outputs.append(nbformat.v4.new_output("error", ename=name, evalue=value, traceback=[f"{name}: {value}"]))


def _name(number: int, cell: nbformat.NotebookNode) -> str:
    grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
    return f"cell {grade_id!r}" if grade_id else f"cell {number + 1}"
