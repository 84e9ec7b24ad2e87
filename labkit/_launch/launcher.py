"""One launch: start the ranks, listen to all of them at once, end them, and return their values or the guilty one."""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any

from labkit._launch import errors
from labkit._launch.deadlock import Wait, read_waits, stuck
from labkit._launch.errors import Failure, RankError
from labkit._launch.output import line_of, numbered
from labkit._launch.pack import lines_of_cells, pack
from labkit._launch.patience import Patience
from labkit._launch.rank import DUMP, FORK, KILL, Report, Task
from labkit._launch.server import Server, warm_server
from labkit._ranks.environment import LOOPBACK, ONE_THREAD
from labkit._ranks.messages import UNEQUAL

__all__ = ["Run", "launch", "variables"]

_MOST_RANKS = 64
_OUTPUT_BYTES = 1 << 20
# How long a cause may come after its first consequence, other failures after the first, and ranks take to end.
_CAUSE_S, _OTHERS_S, _END_S = 1.0, 0.25, 5.0
# How long waits must stay the same to be a deadlock.
_LOOK_S = 0.5


def launch(
    fn: Callable[..., Any], world_size: int, *args: Any, timeout_s: float = 20.0, backend: str = "auto"
) -> list[Any]:
    """Run fn(rank, world_size, *args) in `world_size` processes at once and return their values, ordered by rank.

    fn may be defined in a notebook cell; `torch.distributed` is initialised before it is called. What a rank prints
    appears here, line by line, with its number in front. Each rank has one thread, and its global random generators
    are seeded with its number. Values and arguments are copied between processes; tensors too, so return CPU tensors.
    The first launch imports PyTorch, about 2 s; then four ranks take about 0.1 s (`python benchmarks/launch.py`).

    timeout_s: when all ranks are stopped, with a report of where each was; waiting for a free processor does not count.
    backend: "gloo", "nccl" (gloo for CPU tensors), "none" (plain processes, no process group) or "auto": nccl if each
    rank can have its own GPU, else gloo.

    Raises RankError for the first rank that raised, ended early or hung, when all processes are gone; its `.rank` and
    `.traceback` say who and where. Raises TypeError if fn does not take these arguments, or they cannot be copied,
    ValueError for a wrong option, and OSError where processes cannot be forked (Windows).
    """
    if not callable(fn):
        raise TypeError(f"launch: expected a function first, got {fn!r}\nhint: launch(fn, world_size, *args)")
    if not 1 <= world_size <= _MOST_RANKS:
        raise ValueError(f"launch: expected 1 to {_MOST_RANKS} ranks, got world_size={world_size}")
    if not 0 < timeout_s < math.inf:
        raise ValueError(f"launch: expected a positive time in seconds, got timeout_s={timeout_s}")
    call = pack("launch", fn, args, (0, world_size), "launch(fn, world_size, *args) calls fn(rank, world_size, *args)")
    try:
        # The folder is removed after the ranks that use it.
        scratch = tempfile.TemporaryDirectory(prefix="labkit-", ignore_cleanup_errors=True)
        with scratch as folder, warm_server() as server:
            return Run(server, world_size, timeout_s, folder).values(backend, call)
    # In a notebook our own frames would only distract.
    except RankError as error:
        raise error.with_traceback(None) from error.__cause__
    except KeyboardInterrupt:
        print(f"launch: interrupted, {errors.ranks(range(world_size))} stopped")
        raise


def variables(rank: int, world_size: int, folder: str) -> dict[str, str]:
    """Return what a rank's environment says of it; folder: its launch's."""
    return {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(world_size), "LABKIT_LAUNCH": folder}


@dataclass
class _Rank:
    """One rank as seen from here."""

    pipe: Connection
    output: int
    report: Report | None = None
    code: int | None = None
    line: bytes = b""
    """What it has written of a line that is not complete."""
    piped: bool = True
    printing: bool = True
    unequal: bool = False
    """Whether gloo has said that a message had another size than the call that it came for."""


class Run:
    """One launch: starts the ranks, listens to all of them at once, and ends them."""

    def __init__(
        self,
        server: Server,
        world_size: int,
        timeout_s: float,
        folder: str,
        *,
        environment: Mapping[str, str] | None = None,
        rank: int = 0,
        show: Callable[[int, str], None] | None = None,
        confinement: Mapping[str, Any] | None = None,
    ) -> None:
        """environment, rank, show, confinement: of a single process, which is told of no ranks.

        Its variables; whose seed it has; who hears its lines; Task's only_compute and only_write_in.
        """
        self.server, self.timeout_s, self.folder = server, timeout_s, folder
        self.world_size = world_size
        self.environment, self.first = environment, rank
        self.confinement, self.show = confinement or {}, show or numbered
        self.ranks: list[_Rank] = []
        self.failures: list[Failure] = []

    def values(self, backend: str, call: bytes) -> list[Any]:
        """Return what the ranks returned. Raises RankError, when every rank has ended."""
        self.done(backend, call)
        return [self._value(number, rank) for number, rank in enumerate(self.ranks)]

    def done(self, backend: str, call: bytes) -> None:
        """Return when every rank has ended; what they returned is not unpickled. Raises RankError."""
        try:
            self._start(backend, call)
            error = self._outcome()
            self._end(kill=error is not None)
        finally:
            self._close()
        if error:
            raise error

    def _start(self, backend: str, call: bytes) -> None:
        for number in range(self.world_size):
            mine, theirs = Pipe()
            output, written = os.pipe()
            os.set_blocking(output, False)
            self.ranks.append(_Rank(mine, output))
            self.server.ask(FORK, number, theirs.fileno(), written)
            theirs.close()
            os.close(written)
        own = self.environment
        for number, rank in enumerate(self.ranks):
            place = variables(number, self.world_size, self.folder)
            task = Task(
                rank=self.first + number,
                world_size=self.world_size,
                backend=backend,
                timeout_s=self.timeout_s,
                folder=self.folder,
                cwd=str(Path.cwd()),
                path=[*map(str, sys.path)],
                environment={**LOOPBACK, **os.environ, **ONE_THREAD, **(place if own is None else own)},
                sources=lines_of_cells(),
                alone=own is not None,
                **self.confinement,
            )
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it has ended: its exit code says why
                rank.pipe.send_bytes(pickle.dumps(task))
                rank.pipe.send_bytes(call)

    @property
    def _running(self) -> list[int]:
        return [number for number, rank in enumerate(self.ranks) if rank.report is None and rank.code is None]

    @property
    def _done(self) -> list[int]:
        return [number for number in range(self.world_size) if number not in self._running]

    def _outcome(self) -> RankError | None:
        """Listen until every rank has returned, one has failed, or the time is up; return the error, if any."""
        deadlocked = self._run_or_stall()
        if not self.failures and not self._running:
            return None
        if not self.failures:
            return self._hung(deadlocked)
        # Others may notice a rank's end before its exit code is here, and others may have failed in the same way.
        self._listen(_CAUSE_S, lambda: not all(failure.consequence for failure in self.failures))
        self._listen(_OTHERS_S, lambda: not self._running)
        return errors.blame(self.failures, self.world_size)

    def _run_or_stall(self) -> bool:
        """Listen until the time is up; earlier, and return True, if ranks wait for messages that cannot come."""
        patience = Patience(Path(self.folder), self.world_size, self.timeout_s)
        before: dict[int, Wait] = {}
        while (left := patience.left()) > 0:
            if self._listen(min(left, _LOOK_S), lambda: bool(self.failures) or not self._running):
                return False
            now = stuck(self._waits(), self._done)
            if now and now == before:
                return True
            before = now
        return False

    def _waits(self) -> dict[int, Wait]:
        return read_waits(Path(self.folder), self._running)

    def _hung(self, deadlocked: bool) -> RankError:
        running, waits = self._running, self._waits()
        self.server.ask(DUMP)
        files = {number: Path(self.folder, f"stack-{number}") for number in running}
        self._listen(_OTHERS_S, lambda: False)
        stacks = {number: errors.stack(_read(file)) for number, file in files.items()}
        hung = errors.Hung(stacks, waits, self._done, None if deadlocked else self.timeout_s)
        return hung.error(self.world_size)

    def _end(self, *, kill: bool) -> None:
        """Let every rank go, or stop it, and wait until it is gone and all its output is here."""
        if kill:
            self.server.ask(KILL)
        for rank in self.ranks:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                rank.pipe.send_bytes(b"")
        ended = self._listen(_END_S, lambda: all(rank.code is not None for rank in self.ranks))
        if not ended and not kill:
            self._end(kill=True)
        elif not ended:
            raise OSError("launch: a rank could not be stopped")

    def _listen(self, seconds: float, enough: Callable[[], bool]) -> bool:
        """Take in what the ranks and the server say until it is enough (return True) or the time is up."""
        deadline = time.monotonic() + seconds
        while not enough():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            pipes = {rank.pipe: number for number, rank in enumerate(self.ranks) if rank.piped and not rank.report}
            outputs = {rank.output: number for number, rank in enumerate(self.ranks) if rank.printing}
            for source in wait([self.server.channel, *pipes, *outputs], left):
                if isinstance(source, int):
                    self._print(outputs[source])
                elif isinstance(source, Connection):
                    self._receive(pipes[source])
                else:
                    self._ended(*self.server.event())
        return True

    def _receive(self, number: int) -> None:
        rank = self.ranks[number]
        if rank.report:
            return
        try:
            rank.report = Report.read(rank.pipe.recv_bytes())
        except (EOFError, OSError):
            rank.piped = False
            return
        except ValueError as error:
            rank.report = Report(error="ValueError", message=f"ValueError: its report cannot be read: {error}")
        if rank.report.error:
            self.failures.append(errors.reported(number, rank.report))

    def _ended(self, number: int, code: int) -> None:
        rank = self.ranks[number]
        rank.code = code
        self._print(number)
        if rank.piped and rank.pipe.poll():
            self._receive(number)
        if rank.report is None:
            trace = errors.stack(_read(Path(self.folder, f"stack-{number}")))
            self.failures.append(errors.died(number, code, trace, unequal=rank.unequal))
        if rank.line:
            self.show(number, line_of(rank.line))

    def _print(self, number: int) -> None:
        """Show the whole lines that a rank has written."""
        rank = self.ranks[number]
        try:
            data = os.read(rank.output, _OUTPUT_BYTES)
        except BlockingIOError:
            return
        rank.printing = bool(data)
        *lines, rank.line = (rank.line + data).split(b"\n")
        if len(rank.line) > _OUTPUT_BYTES:
            lines, rank.line = [*lines, rank.line], b""
        for line in map(line_of, lines):
            rank.unequal |= bool(UNEQUAL.search(line))
            self.show(number, line)

    def _value(self, number: int, rank: _Rank) -> Any:
        try:
            return pickle.loads(rank.report.value if rank.report else b"")
        except Exception as error:
            message = f"launch: rank {number} returned a value that cannot be read here: {error}"
            raise RankError(message, rank=number, hint="return numbers, arrays or CPU tensors") from error

    def _close(self) -> None:
        for rank in self.ranks:
            rank.pipe.close()
            os.close(rank.output)


def _read(file: Path) -> str:
    return file.read_text(errors="replace") if file.exists() else ""
