"""The trusted process as the grader sees it: sends it test cells, and turns what it reports into outputs."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import json
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

from autograder import sandbox as walls
from autograder.boundary import frames
from autograder.closing import Closing
from autograder.sandbox.room import Room
from autograder.stub import strip_hidden

__all__ = ["Checks", "TrustedCells", "serving"]

_PROGRAM = Path(frames.__file__).with_name("tests_program.py")
_GRACE_S = 5.0
"""How long a test cell may take to report after its time is over."""
_FAILED = "the process that runs the tests has ended: what it was sent was too much for it"
_MAX_TEXT = 100_000
_MAX_TRACE = 20


@dataclass(frozen=True)
class Checks:
    """Where the test cells of a notebook run, by their grade_ids.

    Attributes:
        isolated: in a process of their own, out of the student's reach.
        guarded: in the student's kernel, watched by a second run.
        files: what lies beside the notebook in the process of the isolated ones: the instructor's files only.
    """

    isolated: frozenset[str] = frozenset()
    guarded: frozenset[str] = frozenset()
    files: Mapping[str, Path] = field(default_factory=dict)


class TrustedCells(Closing):
    """Runs isolated test cells in a sandboxed process that is started when the kernel has been, if there are any."""

    def __init__(
        self, sandbox: walls.Sandbox, checks: Checks, limits: walls.Limits, policy: walls.Policy, files: Path
    ) -> None:
        self._failed = ""
        self._sandbox = sandbox
        self._checks = checks
        self._limits = limits
        self._policy = policy
        self._files = files
        self._process: walls.Process | None = None
        self._student, self._here = socket.socketpair()
        self._control: frames.Connection | None = None
        self._open = contextlib.ExitStack()
        for end in (self._student, self._here):
            self._open.callback(end.close)

    @property
    def descriptor(self) -> int:
        """The student's end, for the kernel to inherit."""
        return self._student.fileno()

    def failed(self) -> str:
        """Return why no further test cell can run; nothing while they can."""
        return self._failed

    def isolates(self, cell: nbformat.NotebookNode) -> bool:
        """Whether this cell is a test that runs in the trusted process."""
        return cell.metadata.get("nbgrader", {}).get("grade_id") in self._checks.isolated

    @property
    def may_start_aside(self) -> bool:
        """Whether a thread may start the process that ends before it: not where it is started cold (Sandbox.start)."""
        return isinstance(self._sandbox, walls.Prewarmed) and not self._sandbox.why_cold

    def start(self) -> None:
        """Start the trusted process, if there is anything to run in it."""
        if self._checks.isolated:
            control, theirs = socket.socketpair()
            self._open.callback(control.close)
            room = Room()
            self._open.callback(room.leave)
            descriptors = {"control": theirs.fileno(), "student": self._here.fileno()}
            with theirs:
                self._process = self._sandbox.start(
                    walls.Job(
                        program=_PROGRAM,
                        directory=room.path,
                        stdin=json.dumps(descriptors).encode(),
                        descriptors=tuple(descriptors.values()),
                        files=self._files,
                        limits=self._limits,
                        policy=self._policy,
                    )
                )
            self._control = frames.Connection(control)
        self._here.close()

    def hand_over(self) -> None:
        """Leave the student's end to the kernel, which has started, alone: when it dies, that is noticed."""
        self._student.close()

    async def run(self, source: str, cell: int, time_s: float) -> tuple[list[nbformat.NotebookNode], bool]:
        """Return the outputs of a test cell, of one that did not report an error; and whether its time ran out."""
        order = {"source": source, "cell": cell, "time_s": time_s}
        report = await asyncio.get_running_loop().run_in_executor(None, self._report, order)
        try:
            return _outputs(report, cell), report["late"] is True
        except (AttributeError, KeyError, TypeError, ValueError):
            return [_error("CheckFailed", self._failed or "the report of this test cannot be read")], False

    def end(self) -> None:
        """Kill the trusted process; from any thread."""
        if process := self._process:
            process.kill()

    def close(self) -> None:
        """Kill the trusted process and remove what it used."""
        if self._process is not None:
            self._process.close()
            self._process = None
        self._open.close()

    def _report(self, order: dict[str, Any]) -> dict[str, Any]:
        assert self._control is not None
        try:
            deadline = time.monotonic() + order["time_s"] + _GRACE_S
            self._control.send(order, deadline=deadline)
            return self._control.receive(deadline)[0]
        except frames.Unanswered:
            self._failed = _FAILED
            self.end()
            return {}


def serving(source: str, cell: int) -> str:
    """Return what the student's kernel runs during a test cell: its visible imports, then answers."""
    try:
        statements = ast.parse(strip_hidden(source)).body
    except SyntaxError:
        statements = []
    imports = [ast.unparse(node) for node in statements if isinstance(node, ast.Import | ast.ImportFrom)]
    return f"__import__('autograder.boundary.agent').boundary.agent.serve(globals(), {cell}, {imports!r})"


def _outputs(report: Mapping[str, Any], count: int) -> list[nbformat.NotebookNode]:
    found = []
    if printed := str(report["printed"])[:_MAX_TEXT]:
        found.append(nbformat.v4.new_output("stream", name="stdout", text=printed))
    if (error := report["error"]) is not None:
        trace = [str(line)[:_MAX_TEXT] for line in error["trace"][:_MAX_TRACE]]
        return [*found, _error(str(error["name"])[:200], str(error["value"])[:_MAX_TEXT], trace)]
    bundle = report["bundle"]
    if not isinstance(bundle, dict):
        raise TypeError("a bundle that is none")
    return [*found, nbformat.v4.new_output("execute_result", bundle, execution_count=count)] if bundle else found


def _error(name: str, value: str, trace: list[str] | None = None) -> nbformat.NotebookNode:
    return nbformat.v4.new_output("error", ename=name, evalue=value, traceback=trace or [f"{name}: {value}"])
