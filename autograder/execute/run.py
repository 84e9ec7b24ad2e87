"""One execution of one notebook, cell by cell, within limits of time and output."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import nbformat
import zmq
from nbclient.exceptions import CellTimeoutError, DeadKernelError

from autograder.errors import SandboxError
from autograder.execute.client import Client, note_error
from autograder.execute.marks import BROKEN, DIED, TIMED_OUT, append_error, cell_name, mark_not_run
from autograder.execute.trusted import TrustedCells, serving
from autograder.model import Limits

__all__ = ["Execution", "Run"]

_STARTUP_S = 60
_GRACE_S = 2.0
"""How long an interrupted cell may take to end before the kernel is killed."""
_IOPUB_S = 4
"""How long the output of a cell that has ended may be on its way."""
_LATE_S = 1
"""How much later than its test cell the student's process is stopped: the test cell's own end comes first."""
_HERE = """
import sys
sys.path.insert(next((n for n, path in enumerate(sys.path) if path.endswith("-packages")), 0), "")
del sys
"""
"""A helper module beside a notebook can be imported, as in JupyterLab."""


@dataclass(frozen=True)
class Execution:
    """An executed notebook.

    Attributes:
        complete: every cell that should run did.
        forged: test cells that ran in the student's kernel, and in which a check that must fail did not.
    """

    notebook: nbformat.NotebookNode
    complete: bool
    problems: tuple[str, ...] = ()
    forged: tuple[str, ...] = ()


class Run:
    """See the module's docstring; `execute` is called once."""

    def __init__(
        self,
        manager: Any,
        notebook: nbformat.NotebookNode,
        limits: Limits,
        explore: Collection[str],
        tests: TrustedCells,
    ) -> None:
        self.notebook = notebook
        self.limits = limits
        self.explore = explore
        self.tests = tests
        self.problems: list[str] = []
        self.timed_out = False
        self.lost = 0
        """How many cells in a row ran whose output did not arrive."""
        self.client = Client(notebook, km=manager, allow_errors=True, startup_timeout=_STARTUP_S, record_timing=False)
        self.client.left_bytes = limits.output_kib * 1024
        self.client.iopub_timeout = _IOPUB_S
        self.client.on_cell_executed = note_error

    async def execute(self) -> Execution:
        """Run every code cell but those to explore; Raises SandboxError if the kernel cannot be started."""
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
        complete = not (reason or self.timed_out or self.lost or self.tests.failed())
        return Execution(self.notebook, complete, tuple(self.problems))

    async def _start(self) -> None:
        try:
            await self._start_both()
            self.tests.hand_over()
            await self.client.async_start_new_kernel_client()
        except (RuntimeError, DeadKernelError) as error:
            raise SandboxError(f"the kernel did not start: {error}", hint="labkit doctor") from error
        self.client.kc.execute(_HERE, silent=True, store_history=False)

    async def _start_both(self) -> None:
        if not self.tests.may_start_aside:
            await self.client.async_start_new_kernel()
            self.tests.start()
            return
        tests = asyncio.get_running_loop().run_in_executor(None, self.tests.start)
        try:
            await self.client.async_start_new_kernel()
        finally:
            await tests

    # ------------------------------------------------------------------------------------------------------- one cell
    async def _run_cell(self, number: int, cell: nbformat.NotebookNode, deadline: float) -> str:
        """Run one cell; return why no further cell can run, or nothing."""
        name = cell_name(number, cell)
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            self.problems.append(f"stopped after {self.limits.total_time_s:g} s in all, before {name}")
            return f"{self.limits.total_time_s:g} s in all were over before this cell"
        time_s = max(1, round(min(self.limits.cell_time_s, left_s)))
        if self.tests.isolates(cell):
            return await self._run_test(number, cell, time_s)
        return await self._run_source(name, number, cell, time_s)

    async def _run_test(self, number: int, cell: nbformat.NotebookNode, time_s: int) -> str:
        """Run a test cell in the trusted process, while the student's answers it."""
        if why := self.tests.failed():
            append_error(cell, DIED, why)
            return ""
        name = cell_name(number, cell)
        answering = nbformat.v4.new_code_cell(serving(cell.source, number + 1))
        student = asyncio.create_task(self._run_source(name, number, answering, time_s + _LATE_S, shown_s=time_s))
        outputs, late = await self.tests.run(cell.source, number + 1, time_s)
        reason = await student
        stopped = f"{name} was stopped after {time_s} s"
        if late and stopped not in self.problems:
            self.problems.append(stopped)
        self.timed_out = self.timed_out or late
        printed = [o for o in answering.outputs if o.output_type in {"stream", "display_data"}]
        cell.outputs, cell.execution_count = [*printed, *outputs], answering.execution_count or number + 1
        self.notebook.cells[number] = cell
        if why := self.tests.failed():
            self.problems.append(f"{name}: {why}")
        return reason

    async def _run_source(
        self, name: str, number: int, cell: nbformat.NotebookNode, time_s: int, shown_s: int = 0
    ) -> str:
        self.client.timeout = time_s
        self.client.ended = False
        try:
            await self.client.async_execute_cell(cell, number, store_history=not shown_s)
        except CellTimeoutError:
            self.timed_out = True
            append_error(cell, TIMED_OUT, f"stopped after {shown_s or time_s} s")
            self.problems.append(f"{name} was stopped after {shown_s or time_s} s")
            return "" if await self._interrupted() else "an earlier cell could not be stopped"
        except DeadKernelError:
            append_error(cell, DIED, "the Python process died in this cell")
            self.problems.append(f"the Python process died in {name}: out of memory, a crash, or it ended itself")
            return "the Python process died in an earlier cell"
        except Exception as error:  # what comes from the kernel may be anything, and nbclient trusts its form
            append_error(cell, BROKEN, "what the Python process sent was not a notebook's output")
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
        try:
            await self.client.km.interrupt_kernel()
            request = self.client.kc.execute("", silent=True)
        except zmq.ZMQError:  # nobody reads what is sent
            self.problems.append("the process did not take the interrupt and was ended")
            return False
        deadline = time.monotonic() + _GRACE_S
        while (left_s := deadline - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                reply = await self.client.kc.get_shell_msg(timeout=left_s)
                if reply["parent_header"].get("msg_id") == request:
                    return True
        self.problems.append("the process did not answer the interrupt and was ended")
        return False
