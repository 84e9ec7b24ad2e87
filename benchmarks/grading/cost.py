"""What sandbox and boundary cost a submission, and how much memory each one takes that is graded beside others.

Time: a whole attempt (read, run, score, not stored) as `autograder grade` makes it, against the same attempt in which
nothing stands around the student's code: the kernel is forked from a pre-warmed process too, with the same imports, but
in no namespace, without limits, Landlock and seccomp, and the tests run in that kernel instead of a second process.
What either imports is paid before the clock starts; so the difference is the walls, the second process and what
crosses the boundary, and nothing else.

Memory: the proportional set size (PSS) of everything below the grader, with one, two, three and four submissions that
have run all their cells and tests, and now block in a last cell: what each adds is what the next one beside it costs.
Nothing else on the machine may use the frameworks meanwhile: it would share their files' pages, and the sum would be
too small.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median, quantiles

import nbformat

from autograder.course import open_course
from autograder.execution import Checks, Executor
from autograder.grading.attempt import Attempt
from autograder.grading.grade_one import Setup, attempt, prepare
from autograder.grading.placement import Modes, modules
from autograder.sandbox import Prewarmed, choose
from autograder.submission.handin import Handin, read_handin
from benchmarks.grading.courses import make_class
from benchmarks.grading.graders import Failed
from benchmarks.grading.processes import below, name, pss_mib
from benchmarks.grading.unwalled import Unwalled

__all__ = ["Cost", "Memory", "memory", "times"]

_BLOCKED = "blocked-here"
_BLOCK = f"import ctypes, time\nctypes.CDLL(None).prctl(15, b'{_BLOCKED}', 0, 0, 0)\ntime.sleep(3600)"
_ARRIVE_S = 120
_SETTLE_S = 0.5


@dataclass(frozen=True)
class Cost:
    """Seconds of each attempt, taken in turns."""

    notebook: str
    walled_s: tuple[float, ...]
    bare_s: tuple[float, ...]

    def __str__(self) -> str:
        each_ms = [1000 * (walled - bare) for walled, bare in zip(self.walled_s, self.bare_s, strict=True)]
        low, middle, high = quantiles(each_ms, n=4, method="inclusive")
        walled, bare = (f"{1000 * median(seconds):7.0f} ms" for seconds in (self.walled_s, self.bare_s))
        cost = f"{middle:.0f} ms (middle half {low:.0f} to {high:.0f})"
        return f"{self.notebook:<9} {walled} with walls, {bare} without: {cost}"


@dataclass(frozen=True)
class Memory:
    """MiB of everything below the grader with none, one, two ... blocked submissions."""

    notebook: str
    total_mib: tuple[float, ...]

    def __str__(self) -> str:
        each = [f"{b - a:.0f}" for a, b in zip(self.total_mib, self.total_mib[1:], strict=False)]
        return (
            f"{self.notebook:<9} {self.total_mib[0]:>7.0f} MiB pre-warmed; each submission adds {', '.join(each)} MiB"
        )


def times(notebooks: list[str], repeats: int) -> Iterator[Cost]:
    """Yield what walls cost on each notebook. Raises Failed if an attempt does not earn what it must."""
    for notebook in notebooks:
        with tempfile.TemporaryDirectory(prefix="grading-") as folder:
            made = make_class(notebook, 1, Path(folder) / "course")
            course = open_course(made.root)
            names = modules(course, made.lab)
            with Executor(choose(), names) as executor, Unwalled(_imports(executor)) as bare:
                setup = prepare(course, made.lab, executor)
                inside = Modes({part: Checks() for part in setup.modes.checks})
                unwalled = replace(setup, executor=Executor(bare), modes=inside)
                [(who, right)] = made.right.items()
                handin = read_handin(course, made.lab, setup.rows, who)
                pairs = [
                    (_seconds(setup, handin, right), _seconds(unwalled, handin, right)) for _ in range(repeats + 1)
                ]
        walled_s, bare_s = zip(*pairs[1:], strict=True)  # the first fork of a process is slower
        yield Cost(notebook, walled_s, bare_s)


def _imports(executor: Executor) -> tuple[str, ...]:
    """Return all that the pre-warmed process has imported. Raises Failed if there is none."""
    if not isinstance(executor.sandbox, Prewarmed) or executor.sandbox.why_cold:
        raise Failed("no pre-warmed process with walls is available here: there is nothing to measure")
    return executor.sandbox._preload


def _seconds(setup: Setup, handin: Handin, right: dict[str, float]) -> float:
    start = time.perf_counter()
    done = attempt(setup, handin)
    seconds = time.perf_counter() - start
    points = {cell.grade_id: cell.points for cell in done.cells if cell.grade_id in right}
    if points != right:
        raise Failed(f"{setup.executor.sandbox.name}: {points}, not {right}: {done.failure or done.messages}")
    return seconds


def memory(notebooks: list[str], submissions: int) -> Iterator[Memory]:
    """Yield how memory grows on each notebook with so many blocked submissions."""
    for notebook in notebooks:
        with tempfile.TemporaryDirectory(prefix="grading-") as folder:
            made = make_class(notebook, submissions, Path(folder) / "course")
            for who in made.right:
                _block(made.submission(who))
            course = open_course(made.root)
            with Executor(choose(), modules(course, made.lab)) as executor:
                setup = prepare(course, made.lab, executor)
                limits = replace(setup.limits, cell_time_s=600.0, total_time_s=3600.0)
                handins = [read_handin(course, made.lab, setup.rows, who) for who in made.right]
                yield Memory(notebook, tuple(_totals(replace(setup, limits=limits), handins)))


def _block(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(_BLOCK))
    nbformat.write(notebook, path)


def _totals(setup: Setup, handins: list[Handin]) -> Iterator[float]:
    """Yield the memory below this process with no submission, and after each further one has come to its last cell."""
    yield _total()
    done: list[Attempt] = []
    threads = [threading.Thread(target=lambda h=handin: done.append(attempt(setup, h))) for handin in handins]
    try:
        for number, thread in enumerate(threads, 1):
            thread.start()
            _await_blocked(number, done)
            yield _total()
    finally:
        setup.executor.stop()
        for thread in threads:
            if thread.ident is not None:
                thread.join()


def _await_blocked(number: int, done: list[Attempt]) -> None:
    deadline = time.monotonic() + _ARRIVE_S
    while sum(name(pid) == _BLOCKED for pid in below(os.getpid())) < number:
        if done or time.monotonic() > deadline:
            raise Failed(
                f"submission {number} did not come to its last cell: {[d.failure or d.messages for d in done]}"
            )
        time.sleep(0.05)
    time.sleep(_SETTLE_S)


def _total() -> float:
    try:
        return sum(pss_mib(pid) for pid in below(os.getpid()))
    except PermissionError as error:
        raise Failed(f"{error.filename}: only root may read how much memory a sandboxed process takes") from error
