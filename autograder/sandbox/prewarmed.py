"""Start programs by forking a process that has already imported the frameworks, behind two walls.

torch takes a second to import, keras with tensorflow more than three: for each program anew where it is started cold.
Here bubblewrap, the outer wall, stands around one process that imports them once and runs no student's code; each
program is a fork of it that first puts up an inner wall between itself and the others: see `inner.py`.

Defended is what `bubblewrap.py` lists, and one program from another: pids, files, sockets and memory of each are out of
the other's reach. What a fork has in memory when it starts is what any import would have put there.

Not defended: as in `bubblewrap.py`; and the outer wall is weaker than a cold one against the part of the kernel that
makes namespaces, for it must let the inner walls be made.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from autograder.closing import Closing
from autograder.errors import SandboxError
from autograder.sandbox.bubblewrap import Bubblewrap
from autograder.sandbox.choice import complaint
from autograder.sandbox.contract import Job, Policy, Sandbox
from autograder.sandbox.process import Process
from autograder.sandbox.zygote import Zygote, ZygoteFault

__all__ = ["Prewarmed"]

# What every kernel imports.
_KERNEL = ("IPython", "ipykernel.kernelapp", "ipykernel.zmqshell", "ipykernel.debugger", "sqlite3", "zmq")
# What importing the first does not import, and its first use would.
_USED_SOON = {"torch": ("torch._dynamo",)}
# Variables that are read when a module is imported: too late for a program to change them.
_READ_AT_IMPORT = {
    "": ("LD_", "MALLOC_", "MKL_", "MPLCONFIG", "OMP_", "OPENBLAS_", "PYTHON", "XDG_"),
    "keras": ("KERAS_",),
    "tensorflow": ("CUDA_", "TF_", "XLA_"),
    "torch": ("CUDA_", "TORCH", "PYTORCH"),
}


class Prewarmed(Sandbox, Closing):
    """Another sandbox, with processes that have imported what its programs need before they start.

    Where the inner wall cannot be put up, programs are started cold, one by one, in the other sandbox; `walls` says so.

    Attributes:
        walls: in words, what stands around a program.
        why_cold: one line: why its programs are started cold; "" when they are not.
    """

    def __init__(
        self, outer: Sandbox, preload: Sequence[str], *, policy: Policy | None = None, recycle_after: int = 200
    ) -> None:
        """Start the first process, and import the modules named in preload.

        Every job must come with this policy; only its environment may add to that of the policy. After recycle_after
        forks a fresh process takes over.

        Raises SandboxError when a module cannot be imported in the sandbox.
        """
        self.name = outer.name
        self.isolated = outer.isolated
        self.why_not = outer.why_not
        self.instead = outer.instead
        self._outer = outer
        self._policy = policy or Policy()
        self._preload = (*_KERNEL, *preload, *(more for name in preload for more in _USED_SOON.get(name, ())))
        self._recycle_after = recycle_after
        self._lock = threading.Lock()
        # The thread that starts a sandbox must outlive it.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="autograder-prewarmed")
        self._zygotes: list[Zygote] = []
        self.why_cold = self._first()
        self.walls = outer.walls or outer.name if self.why_cold else f"{outer.name}, pre-warmed"

    @property
    def remark(self) -> str:
        """See Sandbox.remark."""
        return self._outer.remark

    def start(self, job: Job) -> Process:
        """See Sandbox.start. The calling thread need not outlive the process; this sandbox must."""
        if self.why_cold:
            return self._outer.start(job)
        self._check(job.policy)
        try:
            zygote = self._ready()
            try:
                return zygote.start(job)
            except ZygoteFault:
                return self._replace(zygote).start(job)
        except ZygoteFault as fault:
            raise SandboxError(f"sandbox: the pre-warmed process failed twice: {fault}") from fault

    def close(self) -> None:
        """End the pre-warmed processes, and every program that still runs. Safe to call twice."""
        with self._lock:
            zygotes, self._zygotes = self._zygotes, []
        for zygote in zygotes:
            zygote.close()
        self._thread.shutdown()

    def _check(self, policy: Policy) -> None:
        own = self._policy
        same = (policy.read_only, policy.devices, policy.threads) == (own.read_only, own.devices, own.threads)
        read = tuple(prefix for name in ("", *self._preload) for prefix in _READ_AT_IMPORT.get(name, ()))
        names = {name for name in {*policy.environment, *own.environment} if name.startswith(read)}
        late = sorted(name for name in names if policy.environment.get(name) != own.environment.get(name))
        if not same or late:
            what = f"the environment variable {late[0]}" if late else "the paths, devices or threads"
            raise SandboxError(
                f"sandbox: a job's policy differs from that of the pre-warmed process in {what}",
                hint="make one Prewarmed for each policy",
            )

    def _first(self) -> str:
        """Start the first process and try it; return why programs must be started cold, or ""."""
        if not isinstance(self._outer, Bubblewrap):
            return f"{self._outer.name} starts each program by itself"
        self.why_cold = ""
        try:
            self._zygotes.append(self._fresh())
            reason = complaint(self, self._policy)
        except ZygoteFault as fault:
            reason = str(fault)
        except BaseException:
            self.close()
            raise
        if reason:
            self.close()
        return reason

    def _ready(self) -> Zygote:
        """Return the process to fork from, a fresh one if the last has served its time."""
        zygote = self._last()
        return zygote if zygote.forks < self._recycle_after else self._replace(zygote)

    def _last(self) -> Zygote:
        with self._lock:
            if not self._zygotes:
                raise SandboxError("sandbox: the pre-warmed processes were closed")
            return self._zygotes[-1]

    def _replace(self, old: Zygote) -> Zygote:
        """Retire old, unless another thread was faster, and return the one in its place."""
        with self._lock:
            if self._zygotes and self._zygotes[-1] is old:
                self._zygotes.append(self._fresh())
                old.retire()
                self._zygotes = [zygote for zygote in self._zygotes if not zygote.closed]
        return self._last()

    def _fresh(self) -> Zygote:
        assert isinstance(self._outer, Bubblewrap)
        return self._thread.submit(Zygote, self._outer, self._preload, self._policy).result()
