"""What `launch` says when ranks fail: which rank is to blame, why, and what became of the others."""

from __future__ import annotations

import linecache
import re
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from labkit._launch import rank as ranks_code
from labkit._launch.deadlock import Wait, explain
from labkit._launch.rank import Report
from labkit._ranks.messages import LOST

__all__ = [
    "STILL_RUNNING", "Failure", "Hung", "RankError", "RankNotImplementedError", "blame", "died", "reported", "stack",
]  # fmt: skip

STILL_RUNNING = "still running after"
"""What is said of ranks whose time was over."""


class RankError(RuntimeError):
    """A rank failed, and with it the launch.

    rank: the one to blame. what: what it did, "raised ValueError: ..." for example. traceback: where it was, as text,
    or "" if the process ended without a word.
    """

    def __init__(self, message: str, *, rank: int, what: str = "", hint: str = "", traceback: str = "") -> None:
        super().__init__(message)
        self.rank = rank
        self.what = what
        self.hint = hint
        self.traceback = traceback

    def __str__(self) -> str:
        hint = f"\nhint: {self.hint}" if self.hint else ""
        trace = f"\n\n{self.traceback}" if self.traceback else ""
        return f"{super().__str__()}{hint}{trace}"


class RankNotImplementedError(RankError, NotImplementedError):
    """A rank met a task that is not written yet: still a NotImplementedError for who launched it."""

    def __str__(self) -> str:
        return str(self.args[0])


# What a notebook shows, and what a check reports.
RankNotImplementedError.__name__ = RankNotImplementedError.__qualname__ = "NotImplementedError"


@dataclass(frozen=True)
class Failure:
    """How one rank failed. consequence: it only noticed that another rank had gone."""

    rank: int
    what: str
    hint: str = ""
    traceback: str = ""
    error: str = ""
    consequence: bool = False


_HINTS = {
    "SIGKILL": "the system ends the largest process when memory runs out: use fewer ranks or smaller arrays",
    "SIGSEGV": "a crash in compiled code: an index out of range, or a tensor whose memory was freed",
}


def reported(rank: int, report: Report) -> Failure:
    """Return the failure that a rank reported itself."""
    trace = f"rank {rank}: {_with_cells(report.traceback)}" if report.traceback else ""
    if report.error == "SystemExit":
        return Failure(rank, f"called {report.message}", "return a value instead", trace, report.error)
    if report.error == "PicklingError":
        hint = "return numbers, strings, arrays, tensors, or lists and dictionaries of them"
        return Failure(rank, f"returned a value that cannot be sent: {report.message}", hint, "", report.error)
    # "RuntimeError: ..." or gloo's own types; a ValueError that quotes such a text is the student's.
    lost = (report.error in ("RuntimeError", "ConnectionError") or report.error.startswith("Dist")) and bool(
        LOST.search(report.message)
    )
    return Failure(rank, f"raised {report.message}", "", trace, report.error, lost)


def died(rank: int, code: int, trace: str, *, unequal: bool = False) -> Failure:
    """Return the failure of a rank that ended without a report.

    code: as subprocess has it, negative for a signal. unequal: whether gloo has said that a message had another size.
    """
    if trace:
        trace = f"rank {rank} was here:\n{trace}"
    if code >= 0:
        hint = "os._exit and a crashing library end a process without a word: return a value instead"
        return Failure(rank, f"ended with exit code {code} before it returned", hint, trace)
    if unequal:
        what = "received a message of another size: the calls of the ranks do not match"
        hint = "all make the same calls in the same order, with tensors of the same size and dtype"
        return Failure(rank, what, hint, trace)
    name = next((number.name for number in signal.Signals if number == -code), f"signal {-code}")
    return Failure(rank, f"was killed by {name}", _HINTS.get(name, ""), trace)


def blame(failures: Sequence[Failure], world_size: int) -> RankError:
    """Return the error for a launch: the guilty rank first, then what became of the others."""
    guilty = min((f for f in failures if not f.consequence), key=lambda f: f.rank, default=failures[0])
    same = [f.rank for f in failures if f.what == guilty.what and f is not guilty]
    lost = [f.rank for f in failures if f.consequence and f is not guilty and f.rank not in same]
    rest = [f for f in failures if f is not guilty and f.rank not in (*same, *lost)]
    notes = [guilty.hint] if guilty.hint else []
    if same:
        notes.append(f"{ranks(same)} failed in the same way")
    notes += [f"{ranks([f.rank])} {f.what.splitlines()[0]}" for f in rest]
    if lost:
        notes.append(f"{ranks(lost)} lost the connection: a consequence, not the cause")
    where, hint, trace = f"rank {guilty.rank} of {world_size}", "\n      ".join(notes), guilty.traceback
    if guilty.error == "NotImplementedError":
        task = guilty.what.removeprefix("raised NotImplementedError").removeprefix(": ") or "not implemented yet"
        return RankNotImplementedError(f"{task} ({where})", rank=guilty.rank, what=task, hint=hint, traceback=trace)
    message = f"launch: {where} {guilty.what}"
    return RankError(message, rank=guilty.rank, what=guilty.what, hint=hint, traceback=trace)


@dataclass(frozen=True)
class Hung:
    """Ranks that did not return.

    stacks: where each was. waits: what those wait for that have noted it. done: the ranks that have returned.
    timeout_s: the time that was up; None if it was seen before that nobody can go on.
    """

    stacks: Mapping[int, str]
    waits: Mapping[int, Wait]
    done: Sequence[int]
    timeout_s: float | None

    def error(self, world_size: int) -> RankError:
        """Return what to raise; ranks that wait for no other are to blame."""
        collective = {rank for rank, trace in self.stacks.items() if "/torch/distributed/" in trace} - self.waits.keys()
        waiting = collective | self.waits.keys()
        order = sorted(self.stacks, key=lambda rank: (rank in waiting, rank))
        notes = [f"{ranks(self.done)} had returned"] if self.done else []
        notes += explain(self.waits)
        if collective and waiting < self.stacks.keys():
            notes.append(f"{ranks(waiting)} waited for {ranks(self.stacks.keys() - waiting)}")
        notes += ["a collective waits until every rank calls it"] if collective else []
        one = len(order) == 1
        if self.timeout_s is None:
            what = f"{'waits' if one else 'wait'} for messages that cannot come"
        else:
            what = f"{'was' if one else 'were'} {STILL_RUNNING} {self.timeout_s:g} s"
            notes.append("a computation that needs longer needs a larger timeout_s")
        when = "" if self.timeout_s is None else " when the time was up"
        traces = [f"rank {rank} was here{when}:\n{self.stacks[rank]}" for rank in order if self.stacks[rank]]
        message, hint = f"launch: {ranks(order)} of {world_size} {what}", "\n      ".join(notes)
        return RankError(message, rank=order[0], what=what, hint=hint, traceback="\n\n".join(traces))


def stack(dump: str) -> str:
    """Return faulthandler's dump as a traceback: the last call last, with source lines, without wrappers' frames."""
    lines = []
    for file, number, name in re.findall(r'^  File "(.+)", line (\d+) in (.+)$', dump, re.MULTILINE):
        if file == ranks_code.__file__:
            break
        if file.endswith(("c10d_logger.py", "labkit/_communicator.py")):  # what wraps every collective, and our own
            continue
        source = linecache.getline(file, int(number)).strip()
        lines.append(f'  File "{file}", line {number}, in {name}' + (f"\n    {source}" if source else ""))
    return _with_cells("\n".join(reversed(lines)))


def _with_cells(trace: str) -> str:
    """Name a notebook's cells as the notebook does, `Cell In[3]`, not as files under /tmp."""
    ipython = sys.modules.get("IPython")
    compiler = getattr(ipython and ipython.get_ipython(), "compile", None)

    def place(found: re.Match[str]) -> str:
        label = compiler.format_code_name(found[1]) if compiler else None
        return f"{' '.join(label)}," if label else found[0]

    return re.sub(r'File "([^"]+)",', place, trace)


def ranks(numbers: Iterable[int]) -> str:
    """Return "rank 2" or "ranks 0, 2 and 3"."""
    *most, last = (str(number) for number in sorted(numbers))
    return f"ranks {', '.join(most)} and {last}" if most else f"rank {last}"
