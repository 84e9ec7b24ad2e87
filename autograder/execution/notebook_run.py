"""One execution of one notebook, cell by cell, within limits of time and output."""

from __future__ import annotations

import asyncio
import queue
import time
from collections.abc import Collection, Sequence
from typing import Any

import nbformat
import zmq
from nbclient.exceptions import DeadKernelError

from autograder.errors import SandboxError
from autograder.execution.kernel_client import Client, note_error
from autograder.execution.left_by_tests import LeftByTests
from autograder.execution.marks import append_error, cell_name, mark_not_run
from autograder.execution.results import Execution, Report
from autograder.execution.time_limit import Allowance, Budget
from autograder.execution.trusted_tests import CONNECTING, TrustedCells, serving
from autograder.model import Limits
from autograder.notebook import metadata_of
from autograder.protocol import BROKEN, DIED, NOT_RUN, TIMED_OUT

__all__ = ["Run"]

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
_SETTING = "ast_node_interactivity"
_SHELL = '__import__("IPython").get_ipython()'
_LAST_ALONE = f'{_SHELL}._{_SETTING} = {_SHELL}.{_SETTING}\n{_SHELL}.{_SETTING} = "last_expr"'
_AS_BEFORE = f"{_SHELL}.{_SETTING} = {_SHELL}._{_SETTING}"
"""A notebook that has all values of a cell shown: of a test the last one counts, as where the instructor ran it."""


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
        self.ran = 0
        """How many cells have run: the count that the grader shows, whatever the kernel says."""
        self.reports: dict[str, Report] = {}
        self._left = LeftByTests()
        self._shows_all = any(_SETTING in cell.source for cell in notebook.cells if cell.cell_type == "code")
        self._kept: set[str] = set()
        """Names that tests have bound where they ran apart: those below find them there."""
        self._why = ""
        """Which limit a test cell has reached."""
        self.client = Client(km=manager, allow_errors=True, startup_timeout=_STARTUP_S, record_timing=False)
        self.client.left_bytes = limits.output_kib * 1024
        self.client.iopub_timeout = _IOPUB_S
        self.client.on_cell_executed = note_error

    async def execute(self) -> Execution:
        """Run every code cell but those to explore; Raises SandboxError if the kernel cannot be started."""
        reason = ""
        await self._start()
        manager, tests = self.client.km, self.tests
        self.budget = Budget(
            self.limits,
            lambda: manager.processor_s() + tests.processor_s(),
            lambda: manager.held_up_s() + tests.held_up_s(),
        )
        for number, cell in enumerate(self.notebook.cells):
            if cell.cell_type == "code" and cell.id not in self.explore and not reason:
                reason = await self._run_cell(number, cell)
        if self.client.flooded:
            self.problems.append(f"more than {self.limits.output_kib} KiB of output: the rest was dropped")
        if reason:
            mark_not_run(self.notebook, reason)
            not_run = self.tests.isolated - self.reports.keys()
            self.reports |= {name: Report.failed(name, NOT_RUN, reason) for name in not_run}
        complete = not (reason or self.timed_out or self.lost or self.tests.failed())
        return Execution(
            self.notebook,
            complete,
            tuple(self.problems),
            isolated=self.tests.isolated,
            reports=self.reports,
            starved=self.budget.starved or self.tests.overdue,
            late=self.timed_out or self.tests.overdue,
            computed_s=self.budget.computed_s(),
            waited_s=self.budget.waited_s(),
        )

    async def _start(self) -> None:
        try:
            await self._start_both()
            self.tests.hand_over()
            await self.client.async_start_new_kernel_client()
        except (RuntimeError, DeadKernelError) as error:
            raise SandboxError(f"the kernel did not start: {error}", hint="labkit doctor") from error
        first = _HERE + (CONNECTING if self.tests.isolated else "")
        self.client.kc.execute(first, silent=True, store_history=False)

    async def _start_both(self) -> None:
        tests = asyncio.get_running_loop().run_in_executor(None, self.tests.start)
        try:
            await self.client.async_start_new_kernel()
        finally:
            await tests

    # ------------------------------------------------------------------------------------------------------- one cell
    async def _run_cell(self, number: int, cell: nbformat.NotebookNode) -> str:
        """Run one cell; return why no further cell can run, or nothing."""
        name = cell_name(number, cell)
        if (allowed := self.budget.allowance()) is None:
            self.timed_out = True
            self.problems.append(f"stopped after {self.budget.spent()}, before {name}")
            return f"{self.budget.spent()} were over before this cell"
        if cell.source.strip():
            self.ran += 1
            cell.execution_count = self.ran
        about = metadata_of(cell)
        if (grade_id := about.get("grade_id")) in self.tests.isolated:
            return await self._run_test(grade_id, number, cell, allowed)
        before, after = self.tests.checks.around(str(grade_id), cell.source, locked=bool(about.get("locked")))
        if about.get("grade") and self._shows_all:
            before, after = [*before, _LAST_ALONE], [_AS_BEFORE, *after]
        reason = await self._run_shown(before, name, allowed) or await self._left_by_tests(name, cell, allowed)
        self.client.begin(self.ran, reports=bool(about.get("grade")))
        over = asyncio.create_task(self.budget.over(allowed))
        reason = reason or await self._run_source(name, cell, over)
        return reason or await self._run_shown(after, name, allowed)

    async def _left_by_tests(self, name: str, cell: nbformat.NotebookNode, allowed: Allowance) -> str:
        """Run what students see of tests above, if this cell looks for what that binds; return as `_run_cell` does."""
        if not (question := self._left.question(cell.source)):
            return ""
        asked = nbformat.v4.new_code_cell(question)
        reason = await self._run_ours(name, asked, allowed)
        return reason or await self._run_shown(self._left.wanted(asked.outputs), name, allowed)

    async def _run_shown(self, texts: Sequence[str], name: str, allowed: Allowance) -> str:
        """Run what students see of tests above; return as `_run_cell` does."""
        for shown in texts:
            if reason := await self._run_ours(name, nbformat.v4.new_code_cell(shown), allowed):
                return reason
        return ""

    async def _run_ours(self, name: str, cell: nbformat.NotebookNode, allowed: Allowance) -> str:
        """Run a cell that is not the student's in his kernel, before the one of this name."""
        self.client.begin(self.ran)
        return await self._run_source(name, cell, asyncio.create_task(self.budget.over(allowed)), serving=True)

    async def _run_test(self, grade_id: str, number: int, cell: nbformat.NotebookNode, allowed: Allowance) -> str:
        """Run a test cell in the trusted process, while the student's answers it."""
        if why := self.tests.failed():
            self.reports[grade_id] = Report.failed(grade_id, DIED, why)
            return ""
        name, self._why = cell_name(number, cell), "its time was over"
        shown = self._left.take(self.tests.checks.asked_of_kernel(grade_id, cell.source, self._kept))
        if reason := await self._run_shown(shown, name, allowed):
            return reason
        self.client.begin(self.ran)
        again = self.tests.checks.defined_again(grade_id, cell.source, self._kept)
        answering = nbformat.v4.new_code_cell(serving(cell.source, number + 1, again))
        over = asyncio.create_task(self._stopped(number + 1, allowed))
        student = asyncio.create_task(self._run_source(name, answering, over, serving=True))
        self.reports[grade_id], late = await self.tests.run(grade_id, cell.source, number + 1, allowed)
        reason = await student
        if late:
            self._stop_noted(name, self._why)
        cell.outputs = [o for o in answering.outputs if o.output_type in {"stream", "display_data"}]
        self._left.note(cell.source)
        self._kept |= self.reports[grade_id].kept
        if why := self.tests.failed():
            self.problems.append(f"{name}: {why}")
        return reason

    async def _stopped(self, cell: int, allowed: Allowance) -> str:
        """Stop a test cell when it has used up what it may; return, a moment later, which limit that was."""
        self._why = await self.budget.over(allowed)
        self.tests.stop(cell, self._why)
        await asyncio.sleep(_LATE_S)
        return self._why

    def _stop_noted(self, name: str, why: str) -> None:
        self.timed_out = True
        if (words := f"{name} was stopped after {why}") not in self.problems:
            self.problems.append(words)

    async def _run_source(
        self, name: str, cell: nbformat.NotebookNode, over: asyncio.Task[str], *, serving: bool = False
    ) -> str:
        """Run a cell until `over` says that its time is; serving: it is not the student's, and answers a test."""
        self.client.ended = False
        running = asyncio.ensure_future(self.client.async_execute_cell(cell, 0, store_history=not serving))
        try:
            await asyncio.wait({running, over}, return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)
                append_error(cell, TIMED_OUT, f"stopped after {over.result()}")
                self._stop_noted(name, over.result())
                return "" if await self._interrupted() else "an earlier cell could not be stopped"
            running.result()
        except DeadKernelError:
            append_error(cell, DIED, "the Python process died in this cell")
            self.problems.append(f"the Python process died in {name}: out of memory, a crash, or it ended itself")
            return "the Python process died in an earlier cell"
        except Exception as error:  # what comes from the kernel may be anything, and nbclient trusts its form
            if isinstance(error, OSError) and error.errno:  # the machine's: nothing that was sent makes a system call
                raise
            append_error(cell, BROKEN, "what the Python process sent was not a notebook's output")
            self.problems.append(f"what the Python process sent in {name} cannot be read ({type(error).__name__})")
            return "what the Python process sent in an earlier cell could not be read"
        finally:
            over.cancel()
            self.client.finish(cell)
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
            try:
                reply = await self.client.kc.get_shell_msg(timeout=left_s)
                if reply["parent_header"].get("msg_id") == request:
                    return True
            except queue.Empty:
                continue
            except Exception:  # what comes from the kernel may be anything
                break
        self.problems.append("the process did not answer the interrupt and was ended")
        return False
