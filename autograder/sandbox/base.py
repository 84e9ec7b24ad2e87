"""What a sandbox promises: what a process may see and use, and how it is started, watched and ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.sandbox.process import Process

__all__ = ["Job", "Policy", "ProcessLimits", "Sandbox"]


@dataclass(frozen=True, kw_only=True)
class ProcessLimits:
    """What one submission may use. Cell time, total time and output bytes are the executor's to enforce.

    The defaults leave room for torch and tensorflow in one process (2.1 GiB of address space once both are imported).

    Attributes:
        memory_mib: address space of each process, in MiB. Virtual memory, not resident: a reservation counts in full.
        processes: processes and threads of the submission together; an idle kernel has about a dozen.
        file_size_mib: size of any one file, in MiB.
        open_files: descriptors a process may hold.
        cpu_s: processor time of each process, in seconds: a net below the executor's time-outs.
        scratch_mib: the working directory, HOME and /tmp together, in MiB (`bubblewrap` only).
        shared_memory_mib: /dev/shm, in MiB (`bubblewrap` only).
        files: files and directories in each of these two: an empty one takes a kilobyte of the kernel's memory
            (`bubblewrap` only).
    """

    memory_mib: int = 4096
    processes: int = 256
    file_size_mib: int = 256
    open_files: int = 1024
    cpu_s: int = 3600
    scratch_mib: int = 512
    shared_memory_mib: int = 256
    files: int = 50_000


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What the processes of a class may see, beyond the system, the Python environment, labkit and its data sets.

    Attributes:
        read_only: further host paths, shown read-only at the same place, such as a cache of downloaded data sets.
        devices: device nodes to let in, such as /dev/nvidia0.
        environment: variables set on top of the sandbox's own short list; nothing of the grader's own is passed on.
        threads: how many threads OpenMP, BLAS and the frameworks may use in each process.
    """

    read_only: tuple[Path, ...] = ()
    devices: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    threads: int = 1


@dataclass(frozen=True, kw_only=True)
class Job:
    """One Python program to run in a sandbox.

    Attributes:
        program: the Python file to run, which need not be visible to the program otherwise.
        directory: an empty host directory of this job alone. The caller removes it once the process is gone.
        arguments: the program's command-line arguments; other users of the machine can read them.
        stdin: all that the program can read from standard input, at most 64 KiB.
        descriptors: open file descriptors that the program inherits, under the same numbers.
        files: a host directory whose contents are copied into the fresh working directory.
        trusted: whether the program is the grader's own, and its memory must not be laid out like that of students'.
    """

    program: Path
    directory: Path
    arguments: tuple[str, ...] = ()
    stdin: bytes = b""
    descriptors: tuple[int, ...] = ()
    files: Path | None = None
    limits: ProcessLimits = field(default_factory=ProcessLimits)
    policy: Policy = field(default_factory=Policy)
    trusted: bool = False


class Sandbox(ABC):
    """One way to run a student's process. Get one from `choose`, which callers outside this package start with.

    Attributes:
        name: how a grade records which sandbox it was made in.
        isolated: whether student code is kept from the host's files, network and processes. False means that it is
            merely limited, and that the grade must say so.
        why_not: for a sandbox that is not isolated, one line for a person: what is missing and how to get it.
        instead: for one that is isolated, one line: why a stronger one is not used; "" where there is none.
    """

    name: str
    isolated: bool
    why_not: str = ""
    instead: str = ""
    walls: str = ""
    """In words, what stands around a program, where that is more than the name says."""

    @property
    def one_at_a_time(self) -> bool:
        """Whether two programs in it would share what one user may have, and each could take it from the other."""
        return False

    @abstractmethod
    def start(self, job: Job) -> Process:
        """Return the running process, in place: every wall stands before the program's first instruction.

        From any thread. When the calling process ends, however it ends, the kernel kills the sandbox.

        Raises SandboxError when the sandbox or its working directory could not be set up; then nothing was run.
        """

    @property
    def remark(self) -> str:
        """One line for whoever grades, where this is not the strongest sandbox; else nothing."""
        if not self.isolated:
            return f"no sandbox: {self.why_not}"
        return f"sandbox: {self.name}, because {self.instead}" if self.instead else ""

    def with_ranks(self) -> Sandbox:
        """Return the sandbox for a lab whose processes talk with each other by TCP: this one, if they can in it."""
        return self
