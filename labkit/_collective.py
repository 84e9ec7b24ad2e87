"""A collective between ranks whose steps are recorded: what each rank returns, and what it sends."""

from __future__ import annotations

import copy
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import all_suffixes
from pathlib import Path
from typing import Any

import numpy as np

from labkit._communicator import Carry, Communicator, Endpoint
from labkit._launch.launcher import launch

__all__ = ["Job", "Recorder", "by_job", "collective", "keep_to_itself", "play"]

Job = tuple[Any, ...]
"""(size, xs, *more): each of the first `size` ranks calls fn(comm, xs[rank], *more).

xs[rank] is what this rank alone knows: an array, a dictionary that has several, or None. All ranks know `more`.
"""


class Recorder(Endpoint):
    """One rank's end of its messages, with a log: (bytes, to, source) of each step, until it is closed.

    What arrives is `gain` times what was sent.
    """

    def __init__(self, rank: int, size: int, carry: Carry, gain: float = 1) -> None:
        super().__init__(rank, size, carry)
        self.log: list[tuple[int, int | None, int | None]] = []
        self._gain = gain
        self._closed = False

    def close(self) -> None:
        """Take no step any more: what would be sent now, nobody would count."""
        self._closed = True

    def _step(self, array: np.ndarray | None, to: int | None, source: int | None) -> np.ndarray | None:
        if self._closed:
            raise RuntimeError("this comm is of a call that has returned\nhint: use the comm that the call is given")
        before = self.bytes
        came = super()._step(array, to, source)
        self.log.append((self.bytes - before, to, source))
        if came is not None and self._gain != 1:
            came *= self._gain
        return came


def collective(
    fn: Callable[..., Any], jobs: Sequence[Job], *, gains: Sequence[float] = (1,), timeout_s: float = 20.0
) -> list[list[dict[str, Any]]]:
    """Run fn(comm, xs[rank], *more) on as many ranks as each job (size, xs, *more) says, all in one launch.

    Returns a list a job with a dictionary a rank:

    value: what fn returned. kept: whether xs[rank], or each array in it, was left as it was. messages, bytes, steps: as
    `Communicator.counts`. log: (bytes, to, source) of each step, None where it sent to nobody or received from nobody.

    gains: all jobs are run once with each, one after the other; what arrives is that many times what was sent.

    Raises what `launch` raises, ValueError if there is nothing to run.
    """
    if not jobs or not gains:
        raise ValueError("collective: expected at least one job and one gain\nhint: jobs=[(2, [x_of_0, x_of_1])]")
    found = launch(_on_rank, max(size for size, *_ in jobs), fn, jobs, gains, timeout_s=timeout_s)
    return by_job(found, jobs, gains)


def _on_rank(rank: int, world_size: int, fn: Callable[..., Any], jobs: Sequence[Job], gains: Sequence[float]) -> Any:
    comm = Communicator()
    keep_to_itself()
    return play(rank, comm.carry, fn, jobs, gains)


def _compared(x: np.ndarray) -> Callable[[], bool]:
    before = x.copy()
    return lambda: bool(np.array_equal(before, x, equal_nan=before.dtype.kind in "fc"))


def play(
    rank: int,
    carry: Carry,
    fn: Callable[..., Any],
    jobs: Sequence[Job],
    gains: Sequence[float],
    watch: Callable[[np.ndarray], Callable[[], bool]] = _compared,
    read: Callable[[Any], Any] = lambda value: value,
) -> list[dict[str, Any] | None]:
    """Run what one rank does of `collective`; return its dictionary for each job, None where it takes no part.

    watch: returns a function that says later whether the array has been left as it was. read: returns what is kept of
    fn's value; it may ask fn's process, so that what is sent meanwhile counts.
    """
    found: list[dict[str, Any] | None] = []
    for gain, (size, xs, *more) in [(gain, job) for gain in gains for job in jobs]:
        if rank >= size:
            found.append(None)
            continue
        comm = Recorder(rank, size, carry, gain)
        x = xs[rank]
        x = copy.deepcopy(x) if x is None or isinstance(x, dict) else np.array(x)
        kept = [watch(array) for array in _arrays(x)]
        value = read(fn(comm, x, *more))
        same = all(left() for left in kept)
        comm.close()
        found.append({"value": value, "kept": same, "log": comm.log, **comm.counts()})
    return found


def _arrays(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _arrays(item)


def keep_to_itself() -> None:
    """Refuse, from now on and with a reason, to open files and start threads here; what a late import reads is no file.

    Where ranks are graded the kernel refuses: what a file holds would be counted in no message, and of a thread that
    ends others hear. A notebook does it too, so that nobody finds out there only.
    """
    sys.addaudithook(_refuse_files)
    threading.Thread.start = _refuse_thread  # type: ignore[assignment, method-assign]


def _refuse_thread(_: threading.Thread) -> None:
    raise PermissionError("a rank starts no thread: it takes its steps one after the other")


def _refuse_files(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and isinstance(path := arguments[0], str | bytes | os.PathLike):
        name = os.fsdecode(path)
        if not name.endswith(tuple(all_suffixes())):
            raise PermissionError(f"{Path(name).name}: a rank opens no file, it has its arguments and its comm")


def by_job(found: Sequence[Sequence[Any]], jobs: Sequence[Job], gains: Sequence[float]) -> list[list[dict[str, Any]]]:
    """Return what each rank found for each job as what each job's ranks found."""
    sizes = [size for _ in gains for size, *_ in jobs]
    return [[rank[number] for rank in found[:size]] for number, size in enumerate(sizes)]
