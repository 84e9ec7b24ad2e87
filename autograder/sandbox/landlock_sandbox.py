"""The sandbox where namespaces are unavailable: Landlock, a filter of system calls, and the limits of `limits_only.py`.

It needs no privileges and no setting, so that it stands in an ordinary container too. It needs Linux 6.12, or 6.2 when
the grader runs as root.

Defended, against code that does whatever it likes:

- The host's files. The process can read and run the system's programs and libraries, the Python environment, `labkit`
  and its data sets, and read /proc and a few files of /etc; it can write to its own directories. Of anything else it
  can find out that it is there, if it knows the name, its owner, size and times, and change none of that.
- The network. There are no internet sockets. A lab whose ranks talk by TCP gets them, for those ports of the range that
  the kernel picks from at which nothing of this machine listened when it started; but also to reach other machines.
  Where there is a way to other machines, such results are marked.
- Other processes, the grader's and other submissions' included: it can neither signal, trace nor look into them. It
  sees their names and arguments, and the names of sockets; no secret is among them.
- Privileges, and the rest of the kernel: as in `seccomp.py`.
- The machine: as in `limits_only.py`.

Not defended: as in `bubblewrap.py`; the disk as a whole; and sockets in the file system or, before Linux 6.12, abstract
ones to which the process's user may connect: where there are such sockets, results are marked. /dev/shm and /tmp are
closed, so that locks between processes and loading data in worker processes fail here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from autograder.sandbox.base import Job
from autograder.sandbox.exposure import listening_ports, open_sockets, other_machines
from autograder.sandbox.guest import landlock
from autograder.sandbox.guest.request import ColdStart, Rules
from autograder.sandbox.host_paths import checkout_paths, python_paths, system_paths
from autograder.sandbox.limits_only import ResourceLimits
from autograder.sandbox.seccomp import filter_program

__all__ = ["LandlockSandbox", "unfit"]

_PACKAGES = "packages"
_ETC = ("passwd", "group", "hosts", "nsswitch.conf", "ld.so.conf", "ld.so.conf.d", "mime.types", "timezone")
_CARDS = ("/sys/bus/pci/devices", "/sys/devices")  # gloo looks here for the network's
_READABLE_DEVICES = ("/dev/random", "/dev/urandom")
_WRITABLE_DEVICES = ("/dev/full", "/dev/null", "/dev/zero")


class LandlockSandbox(ResourceLimits):
    """Landlock and a filter of system calls; the module's docstring says what they hold back."""

    name = "landlock"

    def __init__(self, instead: str = "", *, ranks: bool = False) -> None:
        """Say `instead` why it is used in place of a stronger one; with ranks, let its processes talk by TCP."""
        super().__init__(_way_out(ranks=ranks))
        self.isolated = not self.why_not
        self.instead = instead
        self.walls = "landlock, with TCP for ranks" if ranks else "landlock"
        self._ranks = ranks

    @property
    def remark(self) -> str:
        """See Sandbox.remark."""
        return super().remark if self.isolated else f"sandbox: {self.name}, with a gap: {self.why_not}"

    def with_ranks(self) -> LandlockSandbox:
        """See Sandbox.with_ranks."""
        return LandlockSandbox(self.instead, ranks=True)

    def _environment(self, job: Job) -> dict[str, str]:
        # Python lists a folder to find a package in it; a checkout's is closed.
        path = {"PYTHONPATH": str(job.directory / _PACKAGES)}
        # joblib would warn that it finds no locks.
        return {"USER": "student", "JOBLIB_MULTIPROCESSING": "0"} | path | super()._environment(job)

    def _request(self, job: Job) -> ColdStart:
        packages = job.directory / _PACKAGES
        _link_packages(packages)
        reading = [*system_paths(), *python_paths(), *job.policy.read_only, job.program, packages]
        rules = Rules(
            read=[*map(str, reading), *_readable()],
            write=[*(f"{job.directory}/{name}" for name in ("work", "home", "tmp"))],
            devices=[*_WRITABLE_DEVICES, *map(str, job.policy.devices)],
            ports=_free_ports() if self._ranks else None,
            # The machine's /proc: of this process alone. What it starts cannot use a GPU.
            thread_names="/proc/self/task" if job.policy.devices else "",
        )
        request = super()._request(job)
        request["landlock"], request["filter"] = rules, _filter(ranks=self._ranks)
        return request


def unfit() -> str:
    """Return why this kernel cannot confine a process, in a few words; "" if it can."""
    needed, linux = (landlock.TRUNCATES, "6.2") if os.getuid() == 0 else (landlock.SCOPES, "6.12")
    if landlock.version() < needed:
        return f"this kernel's Landlock is older than version {needed} (Linux {linux} has it)"
    return "" if _filter(ranks=False) else "there is no list of system calls for this processor"


def _link_packages(folder: Path) -> None:
    """Make a folder in which Python finds what a student may import of a checkout."""
    folder.mkdir(mode=0o755)
    paths = checkout_paths()
    for path in paths:
        link = folder / path.relative_to(paths[0].parent)
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(path)


def _filter(*, ranks: bool) -> bytes:
    return filter_program(sole_wall=True, tcp=ranks)


def _readable() -> Iterable[str]:
    yield from (f"/etc/{name}" for name in _ETC)
    yield from ("/proc", *_CARDS, *_READABLE_DEVICES)


def _way_out(*, ranks: bool) -> str:
    """Return one line about what such a sandbox leaves open on this machine; "" if nothing."""
    reachable = sorted(open_sockets(abstract=landlock.version() < landlock.SCOPES))
    if reachable:
        return f"Landlock does not keep a process from the socket {reachable[0]}, which listens on this machine"
    if ranks and other_machines():
        return (
            "the lab's ranks need TCP, and Landlock does not keep that on this machine (in a container: --network none)"
        )
    return ""


def _free_ports() -> list[int]:
    """Return the ports that the kernel picks for whoever asks for any, without those at which something listens."""
    first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    return sorted(set(range(first, last + 1)) - listening_ports())
