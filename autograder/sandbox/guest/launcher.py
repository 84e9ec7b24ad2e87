"""The last step before student code, run by a bare interpreter inside the sandbox: copy files, set limits, drop rights.

Usage: python -S launcher.py NAME=VALUE... -- COMMAND...

It imports nothing that is slow to import, and prints one line to standard error when it cannot go on.

    options=FD         read further NAME=VALUE from there, one a line: others can see a command line
    ready=FD           write "ready" there once everything is in place
    tmpfs=DIR,... inodes=N  let each tmpfs that is mounted there hold so many files; asks for the right to mount
    work=DIR home=DIR tmp=DIR  create these and start the command in the first
    files=DIR          copy what is in it to the working directory
    fonts=FILE         copy matplotlib's font list to its place below the home directory
    uid=N              continue as this user, without groups and capabilities
    read_all=1         with uid: keep the capability to read files that only root may read
    user=UID           continue as this user of a user namespace of its own, without capabilities; asks for root's
    proc=DIR           with user: where a /proc that can be written to is mounted, or can be; afterwards it is gone
    seal=1 filter=FD   with user: forbid further user namespaces; refuse the system calls of the filter
    supervise=PID      stay as the parent of all that follows, and end all of it with the command or with process PID
    fence=FILE         confine the command by Landlock and a filter of system calls, as fenced.py says in this JSON file
    AS=N NPROC=N ...   set the resource limit of this name, soft and hard
"""

# pathlib, contextlib, signal and collections.abc would double the time it takes to start.
# ruff: noqa: PTH102, PTH103, PTH108, PTH115, PTH119, PTH123, PTH208, PTH211, SIM105

from __future__ import annotations

import errno
import os
import resource
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_PR_SET_PDEATHSIG, _PR_SET_KEEPCAPS, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 1, 8, 36, 38, 47
_CAP_DAC_READ_SEARCH, _MOST_FILTER_BYTES = 2, 1 << 20
_MS_NOSUID, _MS_NODEV, _MS_REMOUNT = 2, 4, 32
_SIGKILL, _SIGSTOP = 9, 19


def main(arguments: list[str]) -> None:
    """Carry out the arguments above, then become the command."""
    split = arguments.index("--")
    options = dict(argument.split("=", 1) for argument in arguments[:split])
    command = arguments[split + 1 :]
    if "options" in options:
        with open(int(options.pop("options")), encoding="utf-8") as file:
            options |= dict(line.split("=", 1) for line in file.read().splitlines())
    ready = int(options.pop("ready"))
    os.set_inheritable(ready, False)
    os.umask(0o022)
    supervised = "supervise" in options
    if supervised:
        supervise(int(options.pop("supervise")))
    prefer_out_of_memory()
    raise_fence = _fence(options.pop("fence")) if "fence" in options else None
    raise_wall = _wall(options) if "user" in options else None
    if "inodes" in options:
        bound_inodes(options.pop("tmpfs").split(","), int(options.pop("inodes")))
    furnish(options)
    if "uid" in options:
        become(int(options.pop("uid")), read_all=options.pop("read_all", None) is not None)
    restrict = raise_wall() if raise_wall is not None else None
    if supervised:  # bubblewrap has seen to both already
        _prctl(_PR_SET_PDEATHSIG, _SIGKILL)
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    limit(options)
    for last in (restrict, raise_fence):
        if last is not None:
            last()
    os.write(ready, b"ready")
    os.execv(command[0], command)


def bound_inodes(directories: list[str], inodes: int) -> None:
    """Bound how many files there may be on each of these tmpfs: bubblewrap can only bound their bytes."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    flags, option = ctypes.c_ulong(_MS_REMOUNT | _MS_NOSUID | _MS_NODEV), f"nr_inodes={inodes}".encode()
    for directory in directories:
        if libc.mount(None, directory.encode(), None, flags, option):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), directory)


def furnish(options: dict[str, str]) -> None:
    """Create the directories, copy the files, go to the working directory, and hand all of it over to the uid."""
    work, home = options.pop("work"), options.pop("home")
    directories = [work, home, *filter(None, [options.pop("tmp", "")])]
    for directory in directories:
        os.mkdir(directory, 0o700)
    if "files" in options:
        copy_tree(options.pop("files"), work)
    if "fonts" in options:
        fonts, cache = options.pop("fonts"), f"{home}/.cache/matplotlib"
        os.makedirs(cache)
        _copy_file(fonts, f"{cache}/{os.path.basename(fonts)}")
    os.chdir(work)
    os.environ["PWD"] = work
    if "uid" in options:
        for directory in directories:
            hand_over(directory, int(options["uid"]))


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


def limit(limits: dict[str, str]) -> None:
    """Set the resource limits, soft and hard."""
    for name, value in limits.items():
        number = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(number)[1]
        bound = int(value) if hard == resource.RLIM_INFINITY else min(int(value), hard)
        resource.setrlimit(number, (bound, bound))


def _fence(path: str) -> Callable[[], None]:
    """Read what the fence is made of while that can still be read; return the function that puts it up."""
    import json

    namespaces, landlock = map(__import__, ("namespaces", "landlock"))  # which stand beside this file
    with open(path, "rb") as file:
        fence = json.load(file)
    os.unlink(path)

    def put_up() -> None:
        landlock.confine(**fence["landlock"])
        namespaces.restrict_system_calls(bytes.fromhex(fence["filter"]))

    return put_up


def _wall(options: dict[str, str]) -> Callable[[], Callable[[], None]]:
    """Return the function that becomes the user; it returns the one that restricts the system calls."""
    namespaces = __import__("namespaces")  # which stands beside this file
    uid, proc = int(options.pop("user")), namespaces.take_proc(options.pop("proc"))
    sealed = bool(options.pop("seal", ""))
    with open(int(options.pop("filter")) if "filter" in options else os.devnull, "rb", buffering=0) as file:
        program = file.read(_MOST_FILTER_BYTES)

    def become_user() -> Callable[[], None]:
        if sealed:
            namespaces.seal_users(proc)
        namespaces.drop_privileges(uid, proc, as_root=False)
        os.close(proc)
        return lambda: namespaces.restrict_system_calls(program)

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
        main(sys.argv[1:])
    except OSError as error:
        sys.exit(f"{error.filename or 'launcher.py'}: {error.strerror or error}")
