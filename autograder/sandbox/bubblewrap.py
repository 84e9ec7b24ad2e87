"""A sandbox of Linux namespaces, made by bubblewrap: the process sees only what it is given.

Defended, against code that does whatever it likes:

- The host's files. The process sees the system's programs and libraries, the Python environment, `labkit` and its data
  sets, all read-only; of /etc only the linker's cache, the time zone, fonts and users made up here. No home directory,
  no course, no gradebook, no other submission. All that it can write to is on tmpfs, bounded in bytes
  and in files, and gone with it.
- The host's network, abstract sockets included: there is only a loopback interface of its own.
- The host's processes, System V objects and host name: own pid, ipc, uts and, where there are any, cgroup namespaces.
- Privileges. It has no capabilities, cannot gain any (no_new_privs), and runs as a user without rights outside: started
  by root, a uid picked at random for this process alone; by an ordinary user, one in a user namespace. It can make no
  namespaces of its own, and the system calls listed in `seccomp.py` are refused (on x86-64 and AArch64).
- The machine. Address space, processes, file size, open files and processor time are limited, and the kernel's
  out-of-memory killer takes these processes first. All of them die with the sandbox, and the sandbox with the grader.

Not defended: bugs in the part of the Linux kernel that is left; memory as a whole (the limit is on each process; many
processes together meet only the out-of-memory killer); load and timing, which others on the machine notice; and what
the process says over its own descriptors, which may be anything. Where a container forbids a /proc of one's own, the
container's is shown read-only: its processes can then be seen with name and command line, though neither signalled nor
looked into.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from autograder.sandbox.base import Job, Sandbox
from autograder.sandbox.guest import BARE, LAUNCHER, NAMESPACES, REQUEST
from autograder.sandbox.guest.request import ColdStart
from autograder.sandbox.host_paths import environment, etc_files, font_list, python_paths, system_paths
from autograder.sandbox.host_resources import free_uid, resource_limits, threads_of
from autograder.sandbox.process import Process, memory_file, spawn
from autograder.sandbox.seccomp import filter_program

__all__ = ["HOME", "OWN", "SHARED_MEMORY", "TMP", "UID_IN_USER_NAMESPACE", "WORK", "Bubblewrap", "BwrapOptions"]

OWN = "/run/autograder"
_WRITABLE_PROC = f"{OWN}/proc"
WORK, HOME, TMP, SHARED_MEMORY = "/tmp/work", "/tmp/home", "/tmp", "/dev/shm"
UID_IN_USER_NAMESPACE = 1000
# Until launcher.py gives up root.
_KEPT_BY_ROOT = ("CAP_CHOWN", "CAP_DAC_READ_SEARCH", "CAP_SETGID", "CAP_SETUID", "CAP_SYS_RESOURCE")
_TO_MOUNT = "CAP_SYS_ADMIN"
# Until launcher.py gives up being root of the user namespace.
_KEPT_BY_USER = ("CAP_SETFCAP", "CAP_SETPCAP", "CAP_SYS_RESOURCE")
# For walls inside these walls: namespaces, mounts, a loopback interface, and to give up all of it.
# SETFCAP is what Linux asks of a process that maps the uid of root into a user namespace.
_KEPT_BY_HOST = ("CAP_NET_ADMIN", "CAP_SETFCAP", "CAP_SETPCAP", "CAP_SYS_ADMIN")


@dataclass(frozen=True)
class BwrapOptions:
    """How the walls are put up on this machine; `choose` tries which way works.

    Attributes:
        executable: path of bwrap.
        as_root: put up the walls as root, and drop the uid inside; else in a user namespace.
        filtered: refuse the system calls of `seccomp.py`.
        own_proc: mount a /proc of the sandbox's own pid namespace; else show the outer one, read-only.
        seal_users: forbid further user namespaces.
        bounds_files: bound the number of files, which bwrap cannot: launcher.py keeps the right to mount until then.
    """

    executable: str
    as_root: bool
    filtered: bool
    own_proc: bool
    seal_users: bool
    bounds_files: bool


class Bubblewrap(Sandbox):
    """Namespaces by bwrap; the module's docstring says what they hold back."""

    name = "bubblewrap"
    isolated = True

    def __init__(self, way: BwrapOptions) -> None:
        self._way = way

    @property
    def way(self) -> BwrapOptions:
        """How the walls are put up."""
        return self._way

    def start(self, job: Job) -> Process:
        """See Sandbox.start."""
        return self._start(job, host=None)

    def start_host(self, job: Job, beside: Mapping[str, Path]) -> Process:
        """Start a trusted program that runs others inside, each behind a wall of its own.

        It sees what any program sees, and these files beside its own. It keeps the rights to make namespaces and mounts
        inside, is not filtered, and its resources are not limited.
        """
        return self._start(job, host=beside)

    def _start(self, job: Job, *, host: Mapping[str, Path] | None) -> Process:
        info, end = os.pipe()
        os.close(end)
        with (
            os.fdopen(info, "rb", buffering=0) as reader,
            # bwrap can read it too: else, were this process killed, its report would end it, and its child would wait
            # forever. So it goes on until the report of `launcher.py` fails, and ends with everything in it.
            Path(f"/proc/self/fd/{info}").open("r+b", buffering=0) as writer,
            memory_file(filter_program()) as calls,
        ):
            uid = free_uid() if self._way.as_root else UID_IN_USER_NAMESPACE
            walls = self._walls(job, host, uid, info=writer.fileno(), calls=calls)
            return spawn(
                self._request(job, uid, host=host is not None),
                lambda arguments: [*walls, sys.executable, *BARE, f"{OWN}/{LAUNCHER.name}", *arguments],
                environment=environment(job.policy, home=HOME, tmp=TMP),
                stdin=job.stdin,
                descriptors=(
                    *job.descriptors,
                    writer.fileno(),
                    *((calls,) if self._is_filtered_by_bwrap(host) else ()),
                ),
                leader=lambda _pid: _open_init(reader, writer),
                # The first process of a pid namespace: when it is killed, the kernel ends all others before it is gone.
                stop_signal=signal.SIGKILL,
            )

    def _walls(self, job: Job, host: Mapping[str, Path] | None, uid: int, *, info: int, calls: int) -> list[str]:
        """Return the command line of bwrap, up to the program that it runs."""
        turns_user = self._turns_user(host=host is not None)
        fonts = font_list()
        beside = {path.name: path for path in (LAUNCHER, REQUEST)} | {"program.py": job.program} | dict(host or {})
        beside |= {NAMESPACES.name: NAMESPACES} if turns_user else {}
        beside |= {"files": job.files} if job.files else {}
        beside |= {fonts.name: fonts} if fonts else {}
        return [
            *(self._way.executable, "--die-with-parent", "--new-session", "--info-fd", str(info)),
            *("--unshare-ipc", "--unshare-net", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"),
            *("--hostname", "sandbox"),
            *(("--seccomp", str(calls)) if self._is_filtered_by_bwrap(host) else ()),
            *self._privileges(host=host is not None, turns_user=turns_user),
            *self._kernel_file_systems(job, host=host is not None),
            *_read_only([*system_paths(), *python_paths(), *job.policy.read_only]),
            *_directories([Path("/etc"), Path(OWN)]),
            *(self._writable_proc() if turns_user else ()),
            *_made_up(job.directory, uid),
            *(part for name, path in beside.items() for part in _shown(path, f"{OWN}/{name}")),
            # bwrap's own root and /dev are tmpfs too, of no bounded size, and writable for an ordinary user.
            *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--"),
        ]

    def _request(self, job: Job, uid: int, *, host: bool) -> ColdStart:
        """Return what the launcher is told; a host keeps its rights, and its resources are not limited."""
        way, fonts, turns_user = self._way, font_list(), self._turns_user(host=host)
        bounded = way.bounds_files and not host
        return ColdStart(
            command=[sys.executable, "-P", f"{OWN}/program.py", *job.arguments],
            work=WORK,
            home=HOME,
            tmp="",
            files=f"{OWN}/files" if job.files else "",
            fonts=f"{OWN}/{fonts.name}" if fonts else "",
            uid=uid if turns_user or (way.as_root and not host) else None,
            in_user_namespace=turns_user,
            read_all=False,
            limits={} if host else resource_limits(job.limits, already_running=self.already_running()),
            filter=filter_program() if turns_user and way.filtered else b"",
            tmpfs=[TMP, SHARED_MEMORY] if bounded else [],
            inodes=job.limits.files if bounded else 0,
            proc=_WRITABLE_PROC if turns_user else "",
            seal=turns_user and way.seal_users,
            supervise=None,
            landlock=None,
        )

    def _turns_user(self, *, host: bool) -> bool:
        """Whether launcher.py makes the user namespace of the program: from bwrap's own it could not change mounts."""
        return not host and self._way.bounds_files and not self._way.as_root

    def _is_filtered_by_bwrap(self, host: Mapping[str, Path] | None) -> bool:
        """Whether bwrap puts the filter up; the launcher does where it has to make a user namespace first."""
        return self._way.filtered and host is None and not self._turns_user(host=False)

    def _writable_proc(self) -> list[str]:
        """Return the arguments for what launcher.py needs to map users, and takes away."""
        return _directories([Path(_WRITABLE_PROC)]) if self._way.own_proc else ["--bind", "/proc", _WRITABLE_PROC]

    def _privileges(self, *, host: bool, turns_user: bool) -> list[str]:
        way = self._way
        kept = {*(_KEPT_BY_ROOT if way.as_root else ()), *(_KEPT_BY_HOST if host else ())}
        kept |= {*(_KEPT_BY_USER if turns_user else ()), *((_TO_MOUNT,) if way.bounds_files else ())}
        capabilities = [part for name in sorted(kept) for part in ("--cap-add", name)]
        if way.as_root:
            return ["--cap-drop", "ALL", *capabilities]
        if host or turns_user:  # as root of the user namespace: as anybody else it had no rights over its mounts
            return ["--unshare-user", "--uid", "0", "--gid", "0", *capabilities]
        ids = ["--unshare-user", "--uid", str(UID_IN_USER_NAMESPACE), "--gid", str(UID_IN_USER_NAMESPACE)]
        return [*ids, "--disable-userns"] if self._way.seal_users else ids

    def _kernel_file_systems(self, job: Job, *, host: bool) -> list[str]:
        # Where /proc is the outer one, the host itself writes to it, and shows it read-only to what it runs.
        proc = ["--proc", "/proc"] if self._way.own_proc else ["--bind" if host else "--ro-bind", "/proc", "/proc"]
        nodes = [part for node in job.policy.devices for part in ("--dev-bind", str(node), str(node))]
        return [
            *proc,
            *("--dev", "/dev", *nodes),
            *_tmpfs(SHARED_MEMORY, job.limits.shared_memory_mib),
            *_tmpfs(TMP, job.limits.scratch_mib),
        ]

    def already_running(self) -> int:
        """Linux counts processes per user namespace since 5.14; before, a user's other processes count as well."""
        release = tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])
        return 0 if self._way.as_root or release >= (5, 14) else threads_of(os.getuid())


def _open_init(reader: BinaryIO, writer: BinaryIO) -> int:
    """Return a pidfd of the sandbox's first process, whose pid bwrap reports before it lets it go on; -1: no report."""
    writer.close()
    found = re.search(rb'"child-pid": (\d+)', reader.read(4096))
    try:
        return os.pidfd_open(int(found[1])) if found else -1
    except ProcessLookupError:
        return -1


def _directories(paths: Iterable[Path]) -> list[str]:
    """Make directories in which every user may look: bwrap makes the parents of a mount for root alone."""
    every = {ancestor for path in paths for ancestor in (path, *path.parents)} - {Path("/")}
    return [part for path in sorted(every) for part in ("--perms", "0755", "--dir", str(path))]


def _read_only(paths: Sequence[Path]) -> list[str]:
    arguments = _directories(path.parent for path in paths)
    for path in paths:
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        else:
            arguments += ["--ro-bind", str(path), str(path)]
    return arguments


def _shown(source: Path, target: str) -> tuple[str, str, str]:
    return "--ro-bind", str(source), target


def _tmpfs(path: str, size_mib: int) -> tuple[str, ...]:
    return "--perms", "1777", "--size", str(size_mib << 20), "--tmpfs", path


def _made_up(directory: Path, uid: int) -> list[str]:
    """Write the few files of /etc that libraries look for, and return the arguments that show them."""
    arguments: list[str] = []
    for name, text in etc_files(uid, home=HOME).items():
        path = directory / name
        path.write_text(text)
        path.chmod(0o644)
        arguments += _shown(path, f"/etc/{name}")
    return arguments
