"""Runs a repaired notebook in a sandboxed kernel, cell by cell, within limits of time and output."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import shutil
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError

from autograder import sandbox as walls
from autograder.errors import SandboxError
from autograder.model import Limits
from autograder.sandbox.room import Room
from autograder.score import NOT_RUN

__all__ = ["KERNEL_ENDED", "Execution", "Executor", "mark_not_run"]

_TIMED_OUT, _DIED, _BROKEN = KERNEL_ENDED = ("CellTimeoutError", "KernelDied", "KernelBroken")
"""The error names that are left in a cell during which something ended."""

_STARTUP_S = 60
_GRACE_S = 2.0
"""How long an interrupted cell may take to end before the kernel is killed."""
_IOPUB_S = 4
"""How long the output of a cell that has ended may be on its way."""
_OUTPUTS = {"stream", "display_data", "execute_result", "error", "update_display_data"}
_LEAST_BYTES = 256
"""What an output costs at least: the objects that hold it take more than the few bytes it may consist of."""
_LAST_BYTES = 256 * 1024
"""What may still end a cell after too much output."""
_HERE = """
import sys
sys.path.insert(next((n for n, path in enumerate(sys.path) if path.endswith("-packages")), 0), "")
del sys
"""
"""A helper module beside a notebook can be imported, as in JupyterLab."""
_POLICY = walls.Policy(environment={"NBGRADER_EXECUTION": "autograde"})
"""Tests may ask nbgrader's variable whether they are being graded."""


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
        with _laid_out(files) as folder:
            return asyncio.run(self._execute(_storable(notebook), folder, limits, frozenset(explore)))

    def stop(self) -> None:
        """Kill every kernel; the threads that wait for them come back within a second."""
        with self._lock:
            self._stopped = True
            for manager in self._running:
                manager.end()

    async def _execute(
        self, notebook: nbformat.NotebookNode, folder: Path, limits: Limits, explore: frozenset[str]
    ) -> Execution:
        bounds = walls.Limits(memory_mib=limits.memory_mib, cpu_s=int(limits.total_time_s) + 60)
        with (
            walls.kernel(self.sandbox, files=folder, limits=bounds, policy=_POLICY) as manager,
            self._watched(manager),
        ):
            return await _Run(manager, notebook, limits, explore).execute()

    @contextlib.contextmanager
    def _watched(self, manager: walls.SandboxedKernelManager) -> Iterator[None]:
        with self._lock:
            if self._stopped:
                raise SandboxError("grading was stopped")
            self._running.add(manager)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(manager)


@contextlib.contextmanager
def _laid_out(files: Mapping[str, Path]) -> Iterator[Path]:
    """Copy the files into a folder of their own, which a later run removes should this one be killed."""
    room = Room()
    try:
        for name, path in files.items():
            target = room.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        yield room.path
    finally:
        room.leave()


class _Client(NotebookClient):  # type: ignore[misc]
    """A notebook client that keeps a bounded amount of output and ignores all that is not output."""

    left_bytes = 0
    flooded = False
    ended = False
    """Whether the messages of the cell that ran last have all come."""

    def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
        kind = msg["msg_type"]
        self.ended = kind == "status" and msg["content"]["execution_state"] == "idle"
        if kind in _OUTPUTS and not self._keep(kind, len(str(msg["content"])), cell):
            return None
        return super().process_message(msg, cell, cell_index)

    def _keep(self, kind: str, size: int, cell: Any) -> bool:
        self.left_bytes -= max(size, _LEAST_BYTES)
        if self.left_bytes >= 0:
            return True
        self.flooded = True
        # How a cell ends is kept all the same: a print left in a loop must not cost the checks that come after it.
        ending = kind in {"execute_result", "error"} and all(o.output_type != kind for o in cell.outputs)
        return ending and size <= _LAST_BYTES

    def handle_comm_msg(self, outs: Any, msg: Any, cell_index: int) -> None:
        """Widgets have nobody to look at them here, and their state no bounds."""


class _Run:
    """One execution of one notebook."""

    def __init__(self, manager: Any, notebook: nbformat.NotebookNode, limits: Limits, explore: frozenset[str]) -> None:
        self.notebook = notebook
        self.limits = limits
        self.explore = explore
        self.problems: list[str] = []
        self.timed_out = False
        self.lost = 0
        """How many cells in a row ran whose output did not arrive."""
        self.client = _Client(notebook, km=manager, allow_errors=True, startup_timeout=_STARTUP_S, record_timing=False)
        self.client.left_bytes = limits.output_kib * 1024
        self.client.iopub_timeout = _IOPUB_S
        self.client.on_cell_executed = _note_error

    async def execute(self) -> Execution:
        reason = ""
        await self._start()
        deadline = time.monotonic() + self.limits.total_time_s
        for number, cell in enumerate(self.notebook.cells):
            if cell.cell_type == "code" and cell.id not in self.explore and not reason:
                reason = await self._run_cell(number, cell, deadline)
        if self.client.flooded:
            self.problems.append(f"more than {self.limits.output_kib} KiB of output: the rest was dropped")
        if reason:
            mark_not_run(self.notebook, reason)
        complete = not (reason or self.timed_out or self.lost)
        return Execution(_storable(self.notebook), complete=complete, problems=tuple(self.problems))

    async def _start(self) -> None:
        try:
            await self.client.async_start_new_kernel()
            await self.client.async_start_new_kernel_client()
        except (RuntimeError, DeadKernelError) as error:
            raise SandboxError(f"the kernel did not start: {error}", hint="labkit doctor") from error
        self.client.kc.execute(_HERE, silent=True, store_history=False)

    async def _run_cell(self, number: int, cell: nbformat.NotebookNode, deadline: float) -> str:
        """Run one cell; return why no further cell can run, or nothing."""
        name = _name(number, cell)
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            self.problems.append(f"stopped after {self.limits.total_time_s:g} s in all, before {name}")
            return f"{self.limits.total_time_s:g} s in all were over before this cell"
        self.client.timeout = max(1, round(min(self.limits.cell_time_s, left_s)))
        self.client.ended = False
        try:
            await self.client.async_execute_cell(cell, number, store_history=True)
        except CellTimeoutError:
            self.timed_out = True
            _append_error(cell, _TIMED_OUT, f"stopped after {self.client.timeout} s")
            self.problems.append(f"{name} was stopped after {self.client.timeout} s")
            return "" if await self._interrupted() else "an earlier cell could not be stopped"
        except DeadKernelError:
            _append_error(cell, _DIED, "the Python process died in this cell")
            self.problems.append(f"the Python process died in {name}: out of memory, a crash, or it ended itself")
            return "the Python process died in an earlier cell"
        except Exception as error:  # what comes from the kernel may be anything, and nbclient trusts its form
            _append_error(cell, _BROKEN, "what the Python process sent was not a notebook's output")
            self.problems.append(f"what the Python process sent in {name} cannot be read ({type(error).__name__})")
            return "what the Python process sent in an earlier cell could not be read"
        return self._arrived(name, cell)

    def _arrived(self, name: str, cell: nbformat.NotebookNode) -> str:
        """Note a cell whose output was lost: ZeroMQ drops what comes too fast, and cuts off what is too large."""
        if self.client.ended or not cell.source.strip():
            self.lost = 0
            return ""
        self.lost += 1
        self.problems.append(f"not all that {name} put out has arrived: it was too much")
        return "the output of the cells before did not arrive" if self.lost > 1 else ""

    async def _interrupted(self) -> bool:
        """Interrupt the running cell; return whether the kernel answers again."""
        await self.client.km.interrupt_kernel()
        request = self.client.kc.execute("", silent=True)
        deadline = time.monotonic() + _GRACE_S
        while (left_s := deadline - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                reply = await self.client.kc.get_shell_msg(timeout=left_s)
                if reply["parent_header"].get("msg_id") == request:
                    return True
        self.problems.append("the process did not answer the interrupt and was ended")
        return False


def _note_error(cell: Any, cell_index: int, execute_reply: Any) -> None:
    """Leave an error in a cell that failed without showing one, as when a student has switched tracebacks off."""
    reply = execute_reply["content"]
    if reply["status"] != "ok" and all(output.output_type != "error" for output in cell.outputs):
        _append_error(cell, str(reply.get("ename", "Error")), str(reply.get("evalue", "the cell did not run")))


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


def _storable(value: Any) -> Any:
    """Return a copy with every lone surrogate replaced: JSON can carry them, a file cannot."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return nbformat.NotebookNode({_storable(key): _storable(item) for key, item in value.items()})
    return value
