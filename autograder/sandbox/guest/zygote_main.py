"""The pre-warmed process: behind the outer wall it imports the frameworks once, then forks for each program.

Usage: python zygote_main.py FD MODULE...

FD is one end of a socket to the grader. Each message on it asks for one fork, and carries nothing but descriptors, so
that the pre-warmed process itself never reads what concerns one job: a socket for the fork's answers, standard input,
standard error, a memory file with the request, the program, a directory to copy, if any, and the job's own.

The fork answers with a pidfd of the first process of its own pid namespace, with `ready` when the inner wall stands,
and with the exit code at last.
"""

from __future__ import annotations

import builtins
import contextlib
import fcntl
import gc
import importlib
import importlib.util
import os
import resource
import signal
import socket
import sys
import types
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from autograder.sandbox.guest.request import ForkStart

_MAX_DESCRIPTORS = 253  # the kernel's own limit
_WRITABLE = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")
_STANDARD_ERROR = 2


def _beside(name: str) -> Any:
    """Import the module whose file is shown beside this one: the package it comes from is not to be seen here."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_OWN = ("request", "namespaces", "launcher", "landlock")
_request, _namespaces, _launcher, _landlock = map(_beside, _OWN)


def main() -> tuple[bytes, str] | None:
    """Preload and serve; return, in a fork that stands behind its wall, the program to run and its path."""
    listener = socket.socket(fileno=int(sys.argv[1]))
    for name in sys.argv[2:]:
        importlib.import_module(name)
    if "keras" not in sys.argv[2:]:
        _forget("keras")  # tensorflow imports it, and with that its backend is chosen
    if reason := _unfit_for_forking():
        sys.exit(f"importing {', '.join(sys.argv[2:])} {reason}")
    with contextlib.suppress(OSError):  # the /proc of a container
        Path("/proc/self/oom_score_adj").write_text("500")  # after the forks: they ask for 1000
    gc.collect()
    gc.freeze()
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    listener.send(b"warm")
    descriptors = _serve(listener)
    if descriptors is None:
        return None
    os.dup2(descriptors[2], _STANDARD_ERROR)
    try:
        return _become_program(descriptors, proc)
    except Exception as error:
        _give_up(error)


def _give_up(error: Exception) -> NoReturn:
    """Say why, and end. Called while the error lives: with it goes the socket, and the grader waits no longer."""
    what = str(error)
    if isinstance(error, OSError):
        what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or what
    else:
        what = f"{type(error).__name__}: {what}"
    with contextlib.suppress(OSError):
        os.write(_STANDARD_ERROR, f"inner wall: {what}".encode())
    os._exit(1)


def _forget(package: str) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]


def _unfit_for_forking() -> str:
    """Return what a fork would lose, or share with all others; "" if nothing."""
    threads = len(list(Path("/proc/self/task").iterdir()))
    if threads != 1:
        return f"started {threads - 1} threads: a fork would lose them"
    mappings = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
    shared = [" ".join(mapping[5:]) for mapping in mappings if mapping[1].startswith("rw") and mapping[1].endswith("s")]
    return f"mapped memory that all forks would share: {shared[0] or 'anonymous'}" if shared else ""


def _serve(listener: socket.socket) -> list[int] | None:
    """Fork at each request; return its descriptors in the fork, and None when the grader has gone."""
    with listener:
        while True:
            message, descriptors, _, _ = socket.recv_fds(listener, 1, _MAX_DESCRIPTORS)
            if not message:
                return None
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if os.fork() == 0:
                return descriptors
            for descriptor in descriptors:
                os.close(descriptor)


def _become_program(descriptors: list[int], proc: int) -> tuple[bytes, str]:
    """Leave two processes behind, and return in the third, as the student: nothing of the pre-warmed one is left open.

    The first enters the namespaces and ends, the second is the first process of the new pid namespace.
    """
    answers, stdin, stderr, header, source, *rest = descriptors
    request: ForkStart = _request.read(header, _request.ForkStart)
    with os.fdopen(source, "rb") as file:
        program = file.read()
    channel = socket.socket(fileno=answers)
    _launcher.prefer_out_of_memory()
    _namespaces.enter_namespaces()
    if os.fork():
        os._exit(0)
    os.setsid()
    socket.send_fds(channel, [b"pid"], [os.pidfd_open(os.getpid())])
    _namespaces.mount_own(request)
    if request["files"]:
        request["files"] = f"/proc/self/fd/{rest[0]}"
    _launcher.furnish(request, tmp="", owner=None if request["in_user_namespace"] else request["uid"])
    path = _namespaces.show(request, program)
    child = os.fork()
    if child:
        _watch(child, channel)
    os.setsid()
    _namespaces.drop_privileges(request["uid"], proc, as_root=not request["in_user_namespace"])
    places = ["/tmp", *(f"/dev/{name}" for name in _WRITABLE), *request["devices"]]
    _landlock.confine_writing(places, thread_names="/proc" if request["devices"] else "")  # of this pid namespace alone
    _refresh(request, path)
    with _place(stdin, stderr, rest[1:] if request["files"] else rest, request["descriptors"], channel) as channel:
        _launcher.limit(request["limits"])
        _namespaces.restrict_system_calls(request["filter"])
        channel.send(b"ready")
    return program, path


def _watch(child: int, channel: socket.socket) -> None:
    """As the first process of the namespace: wait for all others, report the program's exit code, and end all."""
    _close_all_but({channel.fileno()})
    _namespaces.forgo_capabilities()
    _namespaces.be_opaque()
    for number in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)  # which the first process does not hear
    pid = status = 0
    while pid != child:
        pid, status = os.wait()
    code = os.waitstatus_to_exitcode(status)
    with contextlib.suppress(OSError):
        channel.send(str(code if code >= 0 else 128 - code).encode())
    os._exit(0)


def _refresh(request: ForkStart, path: str) -> None:
    """Make Python look as if it had just been started for this program."""
    os.umask(0o022)
    os.environ.clear()
    os.environ.update(request["environment"] | {"PWD": request["work"]})
    sys.argv = [path, *request["arguments"]]
    for name in _OWN:
        del sys.modules[name]
    if "tempfile" in sys.modules:
        vars(sys.modules["tempfile"])["tempdir"] = None
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()  # Python's own random does so after each fork by itself
    if "torch" in sys.modules:
        sys.modules["torch"].seed()
    if matplotlib := sys.modules.get("matplotlib"):
        # It remembers that these were there, and which backend it was told to use when it was imported.
        for directory in (matplotlib.get_configdir(), matplotlib.get_cachedir()):
            Path(directory).mkdir(parents=True, exist_ok=True)
        if "MPLBACKEND" in request["environment"]:
            matplotlib.rcParams["backend"] = request["environment"]["MPLBACKEND"]


def _place(stdin: int, stderr: int, given: list[int], numbers: list[int], channel: socket.socket) -> socket.socket:
    """Put the descriptors under their numbers, close all others but the channel, and return that."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    beyond = max([_STANDARD_ERROR, *numbers]) + 1
    kept = fcntl.fcntl(channel.detach(), fcntl.F_DUPFD_CLOEXEC, beyond)
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, beyond) for descriptor in (stdin, stderr, *given)]
    targets = [0, _STANDARD_ERROR, *numbers]
    for descriptor, target in zip(moved, targets, strict=True):
        os.dup2(descriptor, target)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _close_all_but({*targets, 1, kept})
    return socket.socket(fileno=kept)


def _close_all_but(kept: set[int]) -> None:
    first = 0
    for number in (*sorted(kept), os.sysconf("SC_OPEN_MAX")):
        if first < number:  # Python 3.11 takes an empty range for all that follow
            os.closerange(first, number)
        first = number + 1


def run(program: bytes, path: str) -> None:
    """Run a program as Python runs the one on its command line."""
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    loader = SourceFileLoader("__main__", path)
    vars(module).update(__annotations__={}, __builtins__=builtins, __cached__=None, __file__=path, __loader__=loader)
    try:
        exec(compile(program, path, "exec"), vars(module))  # what this process is for
    except Exception as error:
        own_frame = error.__traceback__
        error.__traceback__ = own_frame.tb_next if own_frame else None
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)


if __name__ == "__main__":
    task = main()
    if task is not None:
        run(*task)
