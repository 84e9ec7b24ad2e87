"""Start programs by forking a process that has already imported the frameworks, behind two walls.

torch takes a second to import, keras with tensorflow more than three: for each program where it is started cold.
Here bubblewrap, the outer wall, stands around one process that imports them once and runs no student's code; each
program is a fork of it that first puts up an inner wall between itself and the others: see `guest/namespaces.py`. There
are two such processes, each behind an outer wall of its own: trusted programs are forks of the second, so that no
address which a student's program finds in its memory is worth anything in theirs.

Defended is what `bubblewrap.py` lists, and one program from another: pids, files, sockets and memory of each are out of
the other's reach. What a fork has in memory when it starts is what any import would have put there.

Not defended: as in `bubblewrap.py`; students' programs have one memory layout in common, and trusted ones another; and
the outer wall is weaker than a cold one against the part of the kernel that
makes namespaces, for it must let the inner walls be made.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from autograder.errors import SandboxError
from autograder.sandbox.base import Job, Policy, Sandbox
from autograder.sandbox.bubblewrap import Bubblewrap
from autograder.sandbox.lineage import Lineage
from autograder.sandbox.process import Process
from autograder.sandbox.select import complaint
from autograder.sandbox.zygote import ZygoteFault

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


class Prewarmed(Sandbox, AbstractContextManager["Prewarmed"]):
    """Another sandbox, with processes that have imported what its programs need before they start.

    Where the inner wall cannot be put up, programs are started cold, one by one, in the other sandbox; `walls` says so.

    Attributes:
        walls: in words, what stands around a program.
        why_cold: one line: why its programs are started cold; "" when they are not.
    """

    def __init__(
        self,
        outer: Sandbox,
        preload: Sequence[str],
        *,
        policy: Policy | None = None,
        recycle_after: int = 200,
        trusted: bool = True,
    ) -> None:
        """Start the processes side by side, import the modules named in preload, and wait for the students' one.

        Every job must come with this policy; only its environment may add to that of the policy. After recycle_after
        forks a fresh process takes over. trusted: start the trusted programs' process now; else with the first of them.

        Raises SandboxError when a module cannot be imported in the sandbox.
        """
        self.name = outer.name
        self.isolated = outer.isolated
        self.why_not = outer.why_not
        self.instead = outer.instead
        self._outer = outer
        self._policy = policy or Policy()
        self._preload = (*_KERNEL, *preload, *(more for name in preload for more in _USED_SOON.get(name, ())))
        self._lineages: dict[bool, Lineage] = {}
        """By whether what they are forked for is trusted."""
        if isinstance(outer, Bubblewrap):
            self._lineages = {
                each: Lineage(outer, self._preload, self._policy, recycle_after) for each in (False, True)
            }
        self.why_cold = self._first(trusted)
        self.walls = outer.walls or outer.name if self.why_cold else f"{outer.name}, pre-warmed"

    @property
    def remark(self) -> str:
        """See Sandbox.remark."""
        return self._outer.remark

    def start(self, job: Job) -> Process:
        """See Sandbox.start. This sandbox must outlive the process."""
        if self.why_cold:
            return self._outer.start(job)
        self._check(job.policy)
        try:
            return self._lineages[job.trusted].start(job)
        except ZygoteFault as fault:
            raise SandboxError(f"sandbox: the pre-warmed process failed twice: {fault}") from fault

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the pre-warmed processes, and every program that still runs. Safe to call twice."""
        for lineage in self._lineages.values():
            lineage.close()

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

    def _first(self, trusted: bool) -> str:
        """Start the first processes and try one; return why programs must be started cold, or ""."""
        if not self._lineages:
            return f"{self._outer.name} starts each program by itself"
        self.why_cold = ""
        for each in self._lineages if trusted else (False,):
            self._lineages[each].begin()
        try:
            self._lineages[False].warm()
            reason = complaint(self, self._policy)
        except ZygoteFault as fault:
            reason = str(fault)
        except BaseException:
            self.close()
            raise
        if reason:
            self.close()
        return reason
