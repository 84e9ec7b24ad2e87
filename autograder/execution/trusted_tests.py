"""The trusted process as the grader sees it: sends it test cells, and reads what it reports."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import json
import socket
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from autograder import sandbox as walls
from autograder.boundary import around, frames, given, repeated
from autograder.boundary.entry import calling
from autograder.boundary.parsing import syntax_tree
from autograder.execution.results import Report
from autograder.execution.time_limit import Allowance
from autograder.markers import strip_hidden
from autograder.protocol import MIME
from autograder.sandbox import rights
from autograder.sandbox.scratch_dir import ScratchDir

__all__ = ["CONNECTING", "Checks", "TrustedCells", "serving"]

_PROGRAM = Path(frames.__file__).with_name("tests_program.py")
_RANKS_PROGRAM = _PROGRAM.with_name("ranks_program.py")
_GRACE_S = 5.0
"""How long a test cell may take to report after its time is over."""
_FAILED = "the process that runs the tests has ended: what it was sent was too much for it"
_LATE = "the process that runs the tests did not answer in time"
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
    given: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each test, the locked cells above it, and what the tests above it leave."""
    imported: str = ""
    """What the instructor's solution imports, as the text of a cell: for the trusted process only."""
    theirs: frozenset[str] = frozenset()
    """Names that cells of the student's bind in the instructor's notebook."""
    levels: Mapping[str, int] = field(default_factory=dict)
    """For each test, how much of these locked cells is the grader's: see boundary.given."""
    again: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """For each test, names of locked cells that are made again in the student's process instead."""
    live: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """For each test, data of locked cells that is what the student's code makes of it."""
    wide: frozenset[str] = frozenset()
    """Tests for which more of these locked cells is run: see boundary.needed."""
    look: bool = False
    """Whether data of locked cells is compared with that in the kernel, which is the instructor's."""
    kept: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """For each test that runs in the kernel for them, names that mean there what locked cells have bound."""

    mirrors: frozenset[str] = frozenset()
    """Tests in which what both ends have is one object, as far as can be: see boundary.mirror."""

    nothing: frozenset[str] | None = None
    """Tests in which an array of no items may come as a result, as it does of the instructor's; None: in all."""

    def cells_above(self, grade_id: str) -> tuple[str, ...]:
        """Return the locked cells above a test, below what the instructor's solution imports."""
        return (*filter(None, [self.imported]), *self.given.get(grade_id, ()))

    def given_to(self, grade_id: str) -> dict[str, Any]:
        """Return what the trusted process is told of the locked cells above a test."""
        cells = self.cells_above(grade_id)
        withheld = sorted(self._again(grade_id) | self._live(grade_id))
        level = self.levels.get(grade_id, given.DATA)
        about = {"cells": list(cells), "theirs": sorted(self.theirs), "level": level, "withheld": withheld}
        about |= {"live": sorted(self._live(grade_id)), "wide": grade_id in self.wide, "look": self.look}
        about |= {"items": self.nothing is not None and grade_id not in self.nothing}
        return about | {"tried": grade_id in self.levels, "mirrors": grade_id in self.mirrors}

    def around(self, grade_id: str, source: str, *, locked: bool) -> tuple[list[str], list[str]]:
        """Return what the student's kernel runs before and after a cell that runs there."""
        found = [around.noting(source)] if locked and (self.levels or any(self.again.values())) else []
        if self.kept and (locked or grade_id in self.guarded):
            names = frozenset().union(*self.kept.values())
            above = (
                self.given[grade_id] if grade_id in self.given else [c for some in self.given.values() for c in some]
            )
            found.append(around.keeping(names, names - given.names_given(above)))
        return [before for before, _ in found], [after for _, after in reversed(found)]

    def _again(self, grade_id: str) -> frozenset[str]:
        return self.again.get(grade_id, frozenset())

    def _live(self, grade_id: str) -> frozenset[str]:
        return self.live.get(grade_id, frozenset())

    def defined_again(self, grade_id: str, source: str, kept: Collection[str] = ()) -> list[list[str]]:
        """Return the definitions that hold in the student's process while this test runs; kept: see `given`."""
        cells, theirs = self.given.get(grade_id, ()), self.theirs | self._live(grade_id)
        return repeated.definitions(cells, theirs, source, self._again(grade_id), set(kept) - theirs)

    def asked_of_kernel(self, grade_id: str, source: str, kept: Collection[str] = ()) -> frozenset[str]:
        """Return the names given to this test that it can only find in the student's process; kept: as before."""
        about = self.given_to(grade_id)
        theirs = {*about["theirs"], *about["withheld"]}
        own = set(kept) - {*about["theirs"], *about["live"]}
        return given.asked_of_kernel(about["cells"], theirs, about["level"], source, own)


class TrustedCells(AbstractContextManager["TrustedCells"]):
    """Runs isolated test cells in a sandboxed process that is started when the kernel has been, if there are any."""

    def __init__(
        self,
        sandbox: walls.Sandbox,
        checks: Checks,
        limits: walls.ProcessLimits,
        policy: walls.Policy,
        files: Path,
        beside_ranks: Path | None = None,
    ) -> None:
        """files: what lies beside the tests. beside_ranks: beside the ranks of collectives; None: there are none."""
        self._failed = ""
        self.overdue = False
        """Whether it was given up because it did not answer in time, as on a machine that is busy otherwise."""
        self._sandbox = sandbox
        self._checks = checks
        self._limits = limits
        self._policy = policy
        self._files = files
        self._beside_ranks = beside_ranks
        self._processes: list[walls.Process] = []
        self._student, self._here = socket.socketpair()
        rights.refuse(self._here)  # the trusted process would close what the student's sends it, and wait
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

    @property
    def isolated(self) -> frozenset[str]:
        """The tests that run in the trusted process, by their grade_ids."""
        return self._checks.isolated

    @property
    def checks(self) -> Checks:
        """Which tests these are, and what they are given."""
        return self._checks

    def start(self) -> None:
        """Start the trusted process, if there is anything to run in it, and before it the one that starts ranks."""
        if self._checks.isolated:
            control, theirs = socket.socketpair()
            self._open.callback(control.close)
            descriptors = {"control": theirs.fileno(), "student": self._here.fileno()}
            with theirs, contextlib.ExitStack() as until_started:
                if self._beside_ranks is not None:
                    tests, ranks = map(until_started.enter_context, socket.socketpair())
                    self._begin(_RANKS_PROGRAM, {"tests": ranks.fileno()}, self._beside_ranks, trusted=False)
                    descriptors["ranks"] = tests.fileno()
                self._begin(_PROGRAM, descriptors, self._files, trusted=True)
            self._control = frames.Connection(control)
        self._here.close()

    def _begin(self, program: Path, descriptors: Mapping[str, int], files: Path, *, trusted: bool) -> None:
        """Start a process that is told of its sockets' descriptors by name."""
        room = ScratchDir()
        self._open.callback(room.leave)
        self._processes.append(
            self._sandbox.start(
                walls.Job(
                    program=program,
                    directory=room.path,
                    stdin=json.dumps(descriptors).encode(),
                    descriptors=tuple(descriptors.values()),
                    files=files,
                    limits=self._limits,
                    policy=self._policy,
                    trusted=trusted,
                )
            )
        )

    def hand_over(self) -> None:
        """Leave the student's end to the kernel, which has started, alone: when it dies, that is noticed."""
        self._student.close()

    async def run(self, grade_id: str, source: str, cell: int, allowed: Allowance) -> tuple[Report, bool]:
        """Return what a test cell reported, a failure if it did not; and whether its time ran out."""
        times = {"computing_s": allowed.computing_s, "waiting_s": allowed.waiting_s}
        about = {"given": self._checks.given_to(grade_id), "leaves": given.left_by_test(strip_hidden(source))}
        order = {"source": source, "cell": cell, **times, **about}
        answer = await asyncio.get_running_loop().run_in_executor(None, self._answer, order)
        try:
            return Report.read(grade_id, answer, MIME), answer["late"] is True
        except (AttributeError, KeyError, TypeError, ValueError):
            why = self._failed or "the report of this test cannot be read"
            return Report.failed(grade_id, "CheckFailed", why), False

    def stop(self, cell: int, why: str) -> None:
        """End the test cell of this number, if it still runs, as one whose time is over."""
        assert self._control is not None
        with contextlib.suppress(frames.Unanswered):
            self._control.send({"stop": cell, "why": why}, deadline=time.monotonic() + _GRACE_S)

    def processor_s(self) -> float:
        """Return the processor time that these processes have used, in seconds."""
        return sum(process.processor_s() for process in [*self._processes])

    def held_up_s(self) -> float:
        """Return for how long they were ready to run while others had the processors, in seconds."""
        return sum(process.held_up_s() for process in [*self._processes])

    def end(self) -> None:
        """Kill these processes; from any thread."""
        for process in [*self._processes]:
            process.kill()

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill these processes and remove what they used."""
        while self._processes:
            self._processes.pop().close()
        self._open.close()

    def _answer(self, order: dict[str, Any]) -> dict[str, Any]:
        assert self._control is not None
        try:
            deadline = time.monotonic() + order["waiting_s"] + _GRACE_S
            self._control.send(order, deadline=deadline)
            return self._control.receive(deadline)[0]
        except frames.Unanswered as error:
            self.overdue = isinstance(error, frames.TimeLimit)
            self._failed = _LATE if self.overdue else _FAILED
            self.end()
            return {}


CONNECTING = calling("student", "connect")
"""What the student's kernel runs before anything of the student's, where tests run apart."""


def serving(source: str, cell: int, definitions: Sequence[Sequence[str]] = ()) -> str:
    """Return what the student's kernel runs during a test cell: its visible imports, then answers."""
    return calling("student", "serve", cell, _visible_imports(source), list(definitions))


@lru_cache(maxsize=512)
def _visible_imports(source: str) -> list[str]:
    """Return the import statements at the top of what students see of a test, which is the same for all of them."""
    try:
        statements = syntax_tree(strip_hidden(source)).body
    except SyntaxError:
        return []
    return [ast.unparse(node) for node in statements if isinstance(node, ast.Import | ast.ImportFrom)]
