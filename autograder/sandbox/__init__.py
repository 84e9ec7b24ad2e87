"""Run student code where it can do no harm: `choose` a sandbox, then start a `kernel` in it.

    with kernel(choose(), files=data, limits=ProcessLimits(memory_mib=3072)) as manager:
        NotebookClient(notebook, km=manager, timeout=30).execute()

Where many programs need the same frameworks, `Prewarmed(choose(), ("torch",))` is a sandbox that has imported them
before. `bubblewrap`, `limits_only` and `prewarmed` say in their docstrings what each of them defends, and what not.
"""

from __future__ import annotations

from autograder.sandbox.base import Job, Policy, ProcessLimits, Sandbox
from autograder.sandbox.gpu import Gpu, find_gpu
from autograder.sandbox.kernel import SandboxedKernelManager, kernel
from autograder.sandbox.prewarmed import Prewarmed
from autograder.sandbox.process import Process
from autograder.sandbox.select import choose

__all__ = [
    "Gpu",
    "Job",
    "Policy",
    "Prewarmed",
    "Process",
    "ProcessLimits",
    "Sandbox",
    "SandboxedKernelManager",
    "choose",
    "find_gpu",
    "kernel",
]
