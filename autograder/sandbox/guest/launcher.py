"""The last step before student code, run by a bare interpreter inside the sandbox: copy files, set limits, drop rights.

Usage: python -S launcher.py REQUEST READY

REQUEST is the descriptor of a memory file with a `request.ColdStart`. The launcher writes "ready" to READY once
everything is in place, and becomes the command. It imports nothing that is slow to import, and prints one line to
standard error when it cannot go on.
"""

# pathlib, contextlib, signal and collections.abc would double the time it takes to start.
# ruff: noqa: PTH102, PTH103, PTH115, PTH119, PTH123, PTH208, PTH211, SIM105

from __future__ import annotations

import errno
import os
import resource
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from autograder.sandbox.guest.request import ColdStart, Rules, Start

_PR_SET_PDEATHSIG, _PR_SET_KEEPCAPS, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 1, 8, 36, 38, 47
_CAP_DAC_READ_SEARCH = 2
_MS_NOSUID, _MS_NODEV, _MS_REMOUNT = 2, 4, 32
_SIGKILL, _SIGSTOP = 9, 19


def main(request: ColdStart, ready: int) -> None:
    """Carry out the request, then become its command."""
    os.set_inheritable(ready, False)
    os.umask(0o022)
    supervised = request["supervise"] is not None
    if request["supervise"] is not None:
        supervise(request["supervise"])
    prefer_out_of_memory()
    # Modules and /proc are reached now: behind the walls they can no longer be.
    restrict_files = _landlock(request["landlock"]) if request["landlock"] is not None else None
    become_user = _user_namespace(request) if request["in_user_namespace"] else None
    restrict_calls = _namespaces().restrict_system_calls if request["filter"] else None
    if request["tmpfs"]:
        bound_inodes(request["tmpfs"], request["inodes"])
    furnish(request, tmp=request["tmp"], owner=None if request["in_user_namespace"] else request["uid"])
    if become_user is not None:
        become_user()
    elif request["uid"] is not None:
        become(request["uid"], read_all=request["read_all"])
    if supervised:  # bubblewrap has seen to both already
        _prctl(_PR_SET_PDEATHSIG, _SIGKILL)
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    limit(request["limits"])
    if restrict_files is not None:
        restrict_files()
    if restrict_calls is not None:  # last: Landlock's own calls are among those that a filter may refuse
        restrict_calls(request["filter"])
    os.write(ready, b"ready")
    os.execv(request["command"][0], request["command"])


def bound_inodes(directories: list[str], inodes: int) -> None:
    """Bound how many files there may be on each of these tmpfs: bubblewrap can only bound their bytes."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    flags, option = ctypes.c_ulong(_MS_REMOUNT | _MS_NOSUID | _MS_NODEV), f"nr_inodes={inodes}".encode()
    for directory in directories:
        if libc.mount(None, directory.encode(), None, flags, option):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), directory)


def furnish(request: Start, *, tmp: str, owner: int | None) -> None:
    """Create the directories, copy the files, go to the working directory, and hand all of it over to the owner."""
    work, home = request["work"], request["home"]
    directories = [work, home, *([tmp] if tmp else [])]
    for directory in directories:
        os.mkdir(directory, 0o700)
    if request["files"]:
        copy_tree(request["files"], work)
    if request["fonts"]:
        cache = f"{home}/.cache/matplotlib"
        os.makedirs(cache)
        _copy_file(request["fonts"], f"{cache}/{os.path.basename(request['fonts'])}")
    os.chdir(work)
    os.environ["PWD"] = work
    if owner is not None:
        for directory in directories:
            hand_over(directory, owner)


def copy_tree(source: str, target: str) -> None:
    """Copy what is in the directory source into the directory target; symbolic links stay links."""
    with os.scandir(source) as entries:
        for entry in entries:
            path = f"{target}/{entry.name}"
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), path)
            elif entry.is_dir():
                os.mkdir(path)
                copy_tree(entry.path, path)
            elif entry.is_file():
                _copy_file(entry.path, path)


def hand_over(directory: str, uid: int) -> None:
    """Give the directory and all that is in it to uid. From the leaves up: afterwards it is closed to the giver."""
    for path, directories, files in os.walk(directory, topdown=False):
        for name in directories + files:
            os.chown(f"{path}/{name}", uid, uid, follow_symlinks=False)
    os.chown(directory, uid, uid)


def _copy_file(source: str, target: str) -> None:
    with open(source, "rb") as reader, open(target, "xb") as writer:
        while chunk := reader.read(1 << 20):
            writer.write(chunk)
        os.fchmod(writer.fileno(), os.fstat(reader.fileno()).st_mode & 0o777 | 0o600)


def prefer_out_of_memory() -> None:
    """Ask the kernel to take this process and its children first when memory runs out; asked by root, that is final."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError as error:
        if error.errno != errno.EROFS:  # the /proc of a container, shown read-only
            raise


def become(uid: int, *, read_all: bool) -> None:
    """Give up root for good: no groups, no capability but, on request, that of reading every file."""
    os.setgroups([])
    if read_all:
        _prctl(_PR_SET_KEEPCAPS, 1)
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    if read_all:
        _keep_only(_CAP_DAC_READ_SEARCH)


def limit(limits: dict[str, int]) -> None:
    """Set the resource limits, soft and hard."""
    for name, value in limits.items():
        number = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(number)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (bound, bound))


def _landlock(rules: Rules) -> Callable[[], None]:
    """Return the function that leaves the process what the rules name, and no other file."""
    landlock = __import__("landlock")  # which stands beside this file
    return lambda: landlock.confine(**rules)


def _namespaces() -> ModuleType:
    return __import__("namespaces")  # which stands beside this file; ctypes, which it needs, is slow to import


def _user_namespace(request: ColdStart) -> Callable[[], None]:
    """Return the function that becomes the user of a user namespace of its own."""
    namespaces, uid, sealed = _namespaces(), request["uid"], request["seal"]
    proc = namespaces.take_proc(request["proc"])

    def become_user() -> None:
        if sealed:
            namespaces.seal_users(proc)
        namespaces.drop_privileges(uid, proc, as_root=False)
        os.close(proc)

    return become_user


def supervise(grader: int) -> None:
    """Return in a child in a session of its own; the caller stays behind, and ends all descendants with the child."""
    import signal

    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != grader:
        os._exit(1)  # it was gone before it could be noticed
    awaited = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, awaited)
        os.setsid()
        return
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    status = None
    while status is None and signal.sigwait(awaited) == signal.SIGCHLD:
        status = _reap().get(child)
    end_family()
    code = 128 + _SIGKILL if status is None else os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def end_family() -> None:
    """Kill every descendant of this process. Stopped first: what cannot fork any more cannot outrun its killer."""
    while family := _descendants():
        stopped: set[int] = set()
        while fresh := _descendants() - stopped:
            for pid in fresh:
                _signal(pid, _SIGSTOP)
            stopped |= fresh
        for pid in family | stopped:
            _signal(pid, _SIGKILL)
        _reap()


def _descendants() -> set[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{int(name)}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError):  # it has ended, or is no process
            continue
        children.setdefault(parent, []).append(int(name))
    found: set[int] = set()
    todo = [os.getpid()]
    while todo:
        for pid in children.get(todo.pop(), []):
            found.add(pid)
            todo.append(pid)
    return found


def _reap() -> dict[int, int]:
    """Return the wait status of every child that has ended, by pid."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = status


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def _prctl(option: int, value: int, *more: int) -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, *(ctypes.c_ulong(number) for number in (value, *more, 0, 0, 0)[:4])) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def _keep_only(capability: int) -> None:
    """Reduce the permitted, effective and ambient capabilities to one, across exec too."""
    import ctypes
    import struct

    libc = ctypes.CDLL(None, use_errno=True)
    bits = 1 << capability
    header = struct.pack("=Ii", 0x20080522, 0)  # version 3, this process
    if libc.capset(header, struct.pack("=6I", bits, bits, bits, 0, 0, 0)) != 0:
        raise OSError(ctypes.get_errno(), "capset")
    _prctl(_PR_CAP_AMBIENT, 2, capability)


if __name__ == "__main__":
    try:
        request = __import__("request")  # which stands beside this file
        main(request.read(int(sys.argv[1]), request.ColdStart), int(sys.argv[2]))
    except OSError as error:
        sys.exit(f"{error.filename or 'launcher.py'}: {error.strerror or error}")
