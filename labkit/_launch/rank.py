"""The processes behind `launch`: a server that imports torch once and forks, and what each forked rank does."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import io
import itertools
import json
import linecache
import os
import pickle
import select
import signal
import socket
import struct
import sys
import traceback
import warnings
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn, TextIO

from labkit._launch import confinement, patience, rendezvous
from labkit._system import end_with_parent

__all__ = ["DUMP", "ENDED", "EVENT", "FORK", "KILL", "READY", "REQUEST", "Report", "Task", "serve"]

# What the notebook's process asks for: a letter and a rank; with FORK come two files, the rank's pipe and its output.
REQUEST = struct.Struct("!cB")
FORK, KILL, DUMP = b"F", b"K", b"D"
# What it hears: READY, then ENDED with the rank and its exit code (negative: a signal).
EVENT = struct.Struct("!iii")
READY, ENDED = range(2)

_TEXTS = struct.Struct("!I")
_OURS = f"{Path(__file__).parents[1]}{os.sep}"

_PRELOAD = (
    "cloudpickle",
    "labkit._device",
    "numpy",
    "torch",
    "torch.distributed",
    "torch._dynamo",  # the first optimizer imports it: a second, in every rank
)


@dataclass(frozen=True)
class Task:
    """What a rank is told before it receives the function."""

    rank: int
    world_size: int
    backend: str
    timeout_s: float
    folder: str
    cwd: str
    path: list[str]
    environment: dict[str, str]
    sources: dict[str, tuple[Any, ...]] = field(repr=False)
    """linecache's entries of notebook cells, so that a traceback shows their lines."""
    alone: bool = False
    """Whether it is a process for one function, which is not told of ranks."""
    only_compute: bool = False
    only_write_in: str = ""
    """See confinement; nothing: it may write anywhere."""


@dataclass(frozen=True)
class Report:
    """How a rank ended: its pickled value, or the name of an exception, its message and its traceback."""

    value: bytes = b""
    error: str = ""
    message: str = ""
    traceback: str = ""

    def written(self) -> bytes:
        """Return it as bytes, which hold no more than texts and the value."""
        texts = json.dumps([self.error, self.message, self.traceback]).encode()
        return _TEXTS.pack(len(texts)) + texts + self.value

    @staticmethod
    def read(data: bytes) -> Report:
        """Return what `written` has given, whoever sends it: the value is not unpickled. ValueError for other bytes."""
        if len(data) < _TEXTS.size:
            raise ValueError("too short for a report")
        end = _TEXTS.size + _TEXTS.unpack_from(data)[0]
        texts = json.loads(data[_TEXTS.size : end])
        if not isinstance(texts, list) or len(texts) != 3 or not all(isinstance(text, str) for text in texts):
            raise ValueError("no three texts")
        return Report(data[end:], *texts)


# ------------------------------------------------------------------------------------------------------------- server
def serve(fd: int) -> NoReturn:
    """Fork one rank for each request that comes in through the socket `fd`; end, with every rank, when it closes."""
    ranks: dict[int, int] = {}
    try:
        _serve(socket.socket(fileno=fd), ranks)
    except (BrokenPipeError, ConnectionResetError):
        pass
    except BaseException:
        traceback.print_exc()
    for pid in ranks:
        _signal_group(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os._exit(0)


def _serve(channel: socket.socket, ranks: dict[int, int]) -> None:
    """Obey requests; `ranks` maps the process id of each living rank to its number."""
    parent = os.getppid()
    woken, wake = socket.socketpair()
    own = (channel, woken, wake)
    woken.setblocking(False)
    wake.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    for name in _PRELOAD:
        with contextlib.suppress(Exception):  # a rank that needs it raises the same error, and can report it
            importlib.import_module(name)
    channel.sendall(EVENT.pack(READY, 0, 0))
    # Another child of the notebook's process may hold the socket open when that process ends: look for it, too.
    while os.getppid() == parent:
        ready, _, _ = select.select([channel, woken], [], [], 1.0)
        if channel in ready and not _obey(own, ranks):
            return
        with contextlib.suppress(BlockingIOError):
            woken.recv(4096)
        _reap(channel, ranks)


def _obey(own: tuple[socket.socket, ...], ranks: dict[int, int]) -> bool:
    """Carry out one request from the first of the server's own sockets; return whether there was one."""
    data, fds, _, _ = socket.recv_fds(own[0], REQUEST.size, 2)
    if len(data) < REQUEST.size:
        return False
    letter, rank = REQUEST.unpack(data)
    if letter == FORK:
        pid = _fork(own, fds)
        ranks[pid] = rank
    for pid in ranks:
        if letter == KILL:
            _signal_group(pid, signal.SIGKILL)
        elif letter == DUMP:
            os.kill(pid, signal.SIGUSR1)
    return True


def _fork(own: tuple[socket.socket, ...], fds: list[int]) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads: after imports only, none of them holds a lock
        pid = os.fork()
    if pid == 0:
        signal.set_wakeup_fd(-1)
        for end in own:  # a rank has no way to another
            end.close()
        _rank(*fds)
    with contextlib.suppress(PermissionError, ProcessLookupError):  # the rank did it itself, or has ended
        os.setpgid(pid, pid)
    for fd in fds:
        os.close(fd)
    return pid


def _reap(channel: socket.socket, ranks: dict[int, int]) -> None:
    """Report the ranks that have ended, and end whatever they started."""
    for pid in list(ranks):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            _signal_group(pid, signal.SIGKILL)
            channel.sendall(EVENT.pack(ENDED, ranks.pop(pid), os.waitstatus_to_exitcode(status)))


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


# --------------------------------------------------------------------------------------------------------------- rank
def _rank(pipe_fd: int, output_fd: int) -> NoReturn:
    """Be one rank: receive the task and the function, run it, report, and wait until all are done."""
    try:
        output = _own_process(output_fd)
        with Connection(pipe_fd) as pipe:
            task: Task = pickle.loads(pipe.recv_bytes())
            report = _work(task, pipe.recv_bytes())
            with contextlib.suppress(OSError, ValueError):  # closed by the function
                output.flush()
            pipe.send_bytes(report.written())
            # Whoever leaves first breaks the others' connections: all leave together.
            with contextlib.suppress(EOFError):
                pipe.recv_bytes()
    except BaseException:
        traceback.print_exc()
        os._exit(70)
    os._exit(0)


def _own_process(output_fd: int) -> TextIO:
    """Leave the server's process group and signals behind, die with it, and write to the rank's own output."""
    os.setpgid(0, 0)
    end_with_parent(signal.SIGKILL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # Opened here: what is open in several processes has a state that all see.
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, fd in enumerate((nothing, output_fd, output_fd)):
        os.dup2(fd, number)
    for fd in (nothing, output_fd):
        os.close(fd)
    # One stream, so that what a rank prints and what a library warns of stay in order.
    output = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), "utf-8", "backslashreplace", line_buffering=True)
    sys.stdout = sys.stderr = output
    return output


def _work(task: Task, call: bytes) -> Report:
    """Run the function and return how it ended."""
    try:
        _settle(task)
        import cloudpickle

        if task.only_compute or task.only_write_in:
            confinement.before_unpacking(task.only_write_in)
        fn, args = pickle.loads(call)
        if task.backend != "none":
            rendezvous.join(task.rank, task.world_size, task.backend, task.timeout_s, task.folder)
        if task.only_compute:
            confinement.only_compute()
        elif task.only_write_in:
            confinement.only_write_in(task.only_write_in)
    except BaseException as exception:
        return _failure(exception, skip=0)
    try:
        value = fn(*args) if task.alone else fn(task.rank, task.world_size, *args)
    except SystemExit as exception:
        return Report(error="SystemExit", message=f"sys.exit({exception.code!r})", traceback=_trace(exception, 1))
    except BaseException as exception:
        return _failure(exception, skip=1)
    try:
        return Report(value=cloudpickle.dumps(value))
    except Exception as exception:
        return Report(error="PicklingError", message=_headline(exception))


def _settle(task: Task) -> None:
    """Make this process look like the notebook's: directory, modules, environment; dump stacks when asked."""
    os.chdir(task.cwd)
    sys.path[:] = task.path
    os.environ.clear()
    os.environ.update(task.environment)
    patience.present(Path(task.folder), task.rank, os.getpid())
    linecache.cache.update(task.sources)
    if "KERAS_BACKEND" in task.environment:
        _forget_keras()
    stacks = Path(task.folder, f"stack-{task.rank}").open("w")  # noqa: SIM115 (open as long as the process lives)
    faulthandler.enable(stacks, all_threads=False)
    faulthandler.register(signal.SIGUSR1, stacks, all_threads=False)
    from labkit._device import seed_everything

    seed_everything(task.rank)


def _forget_keras() -> None:
    """Let Keras be imported again: it reads its backend only then, and tensorflow imports it."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "keras"]:
        del sys.modules[name]


def _failure(exception: BaseException, skip: int) -> Report:
    return Report(error=type(exception).__name__, message=_headline(exception), traceback=_trace(exception, skip))


def _headline(exception: BaseException) -> str:
    return "".join(traceback.format_exception_only(exception)).strip()


def _trace(exception: BaseException, skip: int) -> str:
    """Return the traceback as text, without this module's own `skip` outermost frames and those of labkit below them.

    Of what an error was raised from, only what its raiser names is told: a library's own attempts are not.
    """
    told = traceback.TracebackException.from_exception(exception)
    del told.stack[:skip]
    part: traceback.TracebackException | None = told
    while part is not None:
        ours = sum(1 for _ in itertools.takewhile(lambda frame: frame.filename.startswith(_OURS), part.stack))
        del part.stack[: ours % (len(part.stack) or 1)]  # nothing where all are
        part.__context__ = None
        part = part.__cause__
    return "".join(told.format()).rstrip()
