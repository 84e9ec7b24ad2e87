"""How the tests are shared out between two processes, where their time goes, and the course that several start from."""

from __future__ import annotations

import contextlib
import re
import signal
import sys
from collections import defaultdict
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

_SHOWN_S, _WORTH_SAYING_S = 10, 60
_COST, _DEAREST = "seconds of processor", 20
_LAB = re.compile(r"\[(\d\d_\w+)[-\]]")


def pytest_configure() -> None:
    """Let Ctrl-C reach what tests start: a shell has all that it runs in the background ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def tiny_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.system.courses import tiny_course  # the unit tests of labkit do not load the grader

    return tiny_course(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def tiny(tiny_template: Path, tmp_path: Path) -> Path:
    """A course of its own with one small lab, released; nobody has handed in."""
    from tests.system.courses import copied

    return copied(tiny_template, tmp_path / "course")


def pytest_sessionfinish() -> None:
    """End the sandbox in which small courses were graded, if one was."""
    if courses := sys.modules.get("tests.system.courses"):
        courses.cool()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep a module's tests together, but of the labs' tests only those of one lab: two labs run side by side."""
    from xdist.scheduler import LoadScopeScheduling

    class ByLab(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            scope = str(super()._split_scope(nodeid))
            lab = _LAB.search(nodeid) if scope.startswith("tests/labs/") else None
            return f"{scope}/{lab[1]}" if lab else scope

    if config.getoption("dist") != "loadscope":
        return None
    config.option.loadscopereorder = False  # labs and courses first: at the end there are short modules to share out
    return ByLab(config, log)


def _place(nodeid: str) -> str:
    """Return where a test's time is counted: its lab, its file, or the unit tests of a room."""
    file = nodeid.partition("::")[0]
    if file.startswith("tests/labs/") and (lab := _LAB.search(nodeid)):
        return f"tests/labs {lab[1]}"
    return "/".join(file.split("/")[:3]) if file.startswith("tests/unit/") else file


def _computed_s() -> float:
    """Return the seconds of processor that this process and all that it has started have used so far.

    On a busy machine these say what a test costs; how long it takes does not. What has left the family is not counted.
    """
    this = psutil.Process()
    seconds = 0.0
    for process in (this, *this.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            seconds += sum(process.cpu_times()[:4])  # its own and those of its children that have ended
    return seconds


_so_far = [0.0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Say in the last report of a test what it has cost."""
    report = yield
    if call.when == "teardown":
        before, _so_far[0] = _so_far[0], _computed_s()
        report.user_properties.append((_COST, max(0.0, _so_far[0] - before)))
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the seconds of each tier, of each lab, of each file that takes more than ten, and of the dearest tests.

    By the clock, and of processor: what a sandbox has ended itself is missing there.
    """
    costs: dict[str, _Seconds] = defaultdict(_Seconds)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                costs[report.nodeid].add(report.duration, float(str(dict(report.user_properties).get(_COST, 0))))
    whole = _total(costs.values())
    if whole.clock < _WORTH_SAYING_S:
        return
    seconds: dict[str, _Seconds] = defaultdict(_Seconds)
    tiers: dict[str, _Seconds] = defaultdict(_Seconds)
    for nodeid, taken in costs.items():
        place = _place(nodeid)
        for counted in (seconds[place], tiers["/".join(place.partition(" ")[0].split("/")[:2])]):
            counted.add(taken.clock, taken.processor)
    write = terminalreporter.write_line
    terminalreporter.section(f"seconds by the clock, and of processor: {whole}")
    for tier, taken in _largest(tiers):
        write(f"{taken}  {tier}")
        for place, own in _largest(seconds):
            if place.startswith(tier) and place != tier and (own.clock >= _SHOWN_S or " " in place):
                write(f"        {own}  {place}")
    for nodeid, taken in _largest(costs)[:_DEAREST]:
        write(f"{taken}  {nodeid}")


@dataclass
class _Seconds:
    clock: float = 0.0
    processor: float = 0.0

    def add(self, clock: float, processor: float) -> None:
        self.clock += clock
        self.processor += processor

    def __str__(self) -> str:
        return f"{self.clock:8.0f} {self.processor:6.0f}"


def _total(taken: Iterable[_Seconds]) -> _Seconds:
    whole = _Seconds()
    for one in taken:
        whole.add(one.clock, one.processor)
    return whole


def _largest(seconds: dict[str, _Seconds]) -> list[tuple[str, _Seconds]]:
    return sorted(seconds.items(), key=lambda item: -item[1].clock)
