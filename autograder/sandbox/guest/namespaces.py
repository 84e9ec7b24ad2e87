"""The inner wall: what a fork of the pre-warmed process puts up around itself before it runs a student's code.

The outer wall, bubblewrap's, stands around the pre-warmed process and all its forks. This one stands between two of
them: each has pid, mount, ipc, uts, network and cgroup namespaces of its own, a /proc, /tmp, /dev/shm and /dev/pts of
its own, and a uid (root) or a user namespace (an ordinary user) of its own. It ends with what a program that is started
cold has around it, too: no capabilities, resource limits, the filter of system calls; and with Landlock.

Imports nothing of this package at run time: it is shown inside the outer wall as a single file.
"""

# Every path is one word here, and made by the kernel.
# ruff: noqa: PTH103, PTH110, PTH120, PTH123, PTH211

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import stat
import struct
from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from autograder.sandbox.guest.request import ForkStart

__all__ = [
    "be_opaque",
    "drop_privileges",
    "enter_namespaces",
    "forgo_capabilities",
    "mount_own",
    "restrict_system_calls",
    "seal_users",
    "show",
    "take_proc",
]

_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 4, 22, 24, 38, 47
_AMBIENT_CLEAR_ALL, _SECCOMP_MODE_FILTER, _CAPABILITIES = 4, 2, 64
_NEW_CGROUP, _NEW_USER = 0x02000000, 0x10000000
_NEW_ALL = 0x00020000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000  # mount, uts, ipc, pid, net
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
_DETACH = 2
_TERMINALS = 64  # of the whole machine there are 4096
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
# Of a fresh /proc, what concerns the whole machine; the same list as bubblewrap's.
_MACHINE_WIDE = ("sys", "sysrq-trigger", "irq", "bus")

_LIBC = ctypes.CDLL(None, use_errno=True)


def enter_namespaces() -> None:
    """Enter namespaces of one's own; the next child is the first process of its pid namespace."""
    _call("unshare", _NEW_ALL)
    try:
        _call("unshare", _NEW_CGROUP)
    except OSError:
        return  # a kernel without them, as with bwrap's --unshare-cgroup-try


def mount_own(request: ForkStart) -> None:
    """Mount what must not be shared with other forks, and bring up the loopback interface; within the new pid 1."""
    _mount("", "/", "", _REC | _PRIVATE)
    for path, size in request["sizes"].items():
        bounds = f"size={size},nr_inodes={request['inodes']},mode=1777"
        _cover(path, bounds, [kept for kept in request["kept"] if kept.startswith(f"{path}/")])
    terminals = f"newinstance,ptmxmode=0666,mode=0620,max={_TERMINALS}"
    _mount("devpts", "/dev/pts", "devpts", _NOSUID | _NOEXEC, terminals)
    if request["own_proc"]:
        _mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
        for name in _MACHINE_WIDE:
            if os.path.exists(f"/proc/{name}"):
                _mount(f"/proc/{name}", f"/proc/{name}", "", _BIND | _REC)
                _read_only(f"/proc/{name}", _NOEXEC)
    else:
        _read_only("/proc", _NOEXEC)
    _bring_up_loopback()


def show(request: ForkStart, program: bytes) -> str:
    """Cover the outer wall's own directory by one with the program in it; return the program's path."""
    own = request["own"]
    _mount("tmpfs", own, "tmpfs", _NOSUID | _NODEV, "size=16m,mode=0755")
    path = f"{own}/program.py"
    for name, content in ("program.py", program), *((name, text.encode()) for name, text in request["etc"].items()):
        with open(f"{own}/{name}", "xb") as file:
            file.write(content)
            os.fchmod(file.fileno(), 0o644)
    for name in request["etc"]:
        _call(
            "umount2", f"/etc/{name}".encode(), _DETACH
        )  # the outer wall's, a file that is gone: no place to mount on
        _mount(f"{own}/{name}", f"/etc/{name}", "", _BIND)
        _read_only(f"/etc/{name}")
    _read_only(own)
    return path


def take_proc(place: str) -> int:
    """Return a directory descriptor of a /proc that can be written to, and that is seen nowhere from now on.

    It is mounted at place, or could be; else the one that is there is taken away.
    """
    if not os.path.exists(f"{place}/self"):
        _mount("proc", place, "proc", _NOSUID | _NODEV | _NOEXEC)
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    _call("umount2", place.encode(), _DETACH)
    return descriptor


def seal_users(proc: int) -> None:
    """Forbid user namespaces below the one that `drop_privileges` makes next; by the /proc with this descriptor."""
    with open(f"/proc/self/fd/{proc}/sys/user/max_user_namespaces", "w") as file:
        file.write("1")


def drop_privileges(uid: int, proc: int, *, as_root: bool) -> None:
    """Become the student: no groups, no capabilities in any set, and no way to gain any.

    proc is a directory descriptor of a /proc that can be written to: one's own may be read-only. as_root: the uid is
    the machine's; else it is one in a user namespace.
    """
    if not as_root:
        _call("unshare", _NEW_USER)
        for name, text in ("setgroups", "deny"), *((f"{kind}_map", f"{uid} 0 1") for kind in ("uid", "gid")):
            with open(f"/proc/self/fd/{proc}/self/{name}", "w") as file:
                file.write(text)
    forgo_capabilities(bounding_only=as_root)
    if as_root:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        forgo_capabilities()
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    # The kernel takes this away with the uid and gives it back on exec, which does not come here. Without it the
    # student's /proc/self belongs to root.
    _prctl(_PR_SET_DUMPABLE, 1)


def forgo_capabilities(*, bounding_only: bool = False) -> None:
    """Empty the bounding set, and then all other sets of capabilities."""
    for capability in range(_CAPABILITIES):
        if _LIBC.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), *(ctypes.c_ulong(0),) * 3) != 0:
            break  # there are no more
    if bounding_only:
        return
    _prctl(_PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
    header = struct.pack("=Ii", 0x20080522, 0)  # version 3, this process
    if _LIBC.capset(header, bytes(24)) != 0:
        raise _error("capset")


def be_opaque() -> None:
    """Let nobody without capabilities look into this process."""
    _prctl(_PR_SET_DUMPABLE, 0)


def restrict_system_calls(program: bytes) -> None:
    """Put the filter, an array of struct sock_filter, on this process and its descendants."""
    if program:
        instructions = ctypes.create_string_buffer(program, len(program))
        # struct sock_fprog: the number of instructions, and where they are.
        array = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(instructions)))
        _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(array))


def _cover(path: str, bounds: str, kept: Sequence[str]) -> None:
    """Mount a tmpfs with these options on path, and show on it again what is to be kept."""
    held = [(each, os.open(each, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)) for each in kept]
    _mount("tmpfs", path, "tmpfs", _NOSUID | _NODEV, bounds)
    for each, descriptor in held:
        mode = os.fstat(descriptor).st_mode
        os.makedirs(each if stat.S_ISDIR(mode) else os.path.dirname(each), mode=0o755, exist_ok=True)
        if stat.S_ISLNK(mode):
            os.symlink(os.readlink("", dir_fd=descriptor), each)
        else:
            if not stat.S_ISDIR(mode):
                os.close(os.open(each, os.O_CREAT | os.O_WRONLY))
            _mount(f"/proc/self/fd/{descriptor}", each, "", _BIND | _REC)  # read-only as it was
        os.close(descriptor)


def _bring_up_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        answer = fcntl.ioctl(control, _SIOCGIFFLAGS, struct.pack("16sH22x", b"lo", 0))
        (flags,) = struct.unpack_from("16xH", answer)
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", flags | _IFF_UP))


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    _call("mount", *(text.encode() for text in (source, target, kind)), ctypes.c_ulong(flags), options.encode())


def _read_only(path: str, more: int = 0) -> None:
    _mount("", path, "", _REMOUNT | _BIND | _RDONLY | _NOSUID | _NODEV | more)


def _prctl(option: int, value: int, *more: int) -> None:
    _call("prctl", option, *(ctypes.c_ulong(number) for number in (value, *more, 0, 0, 0)[:4]))


def _call(name: str, *arguments: object) -> None:
    if getattr(_LIBC, name)(*arguments) != 0:
        raise _error(" ".join([name, *(part.decode() for part in arguments if isinstance(part, bytes) and part)]))


def _error(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), what)
