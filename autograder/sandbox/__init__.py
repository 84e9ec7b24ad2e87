"""Run student code where it can do no harm: `choose` a sandbox, then start a `kernel` in it.

    with kernel(choose(), files=data, limits=Limits(memory_mib=3072)) as manager:
        NotebookClient(notebook, km=manager, timeout=30).execute()

Where many programs need the same frameworks, `Prewarmed(choose(), ("torch",))` is a sandbox that has imported them
before. `bubblewrap`, `limits` and `prewarmed` say in their docstrings what each of them defends, and what not.
"""

from __future__ import annotations

from autograder.sandbox.choice import choose
from autograder.sandbox.contract import Job, Limits, Policy, Sandbox
from autograder.sandbox.devices import gpu_nodes
from autograder.sandbox.kernel import SandboxedKernelManager, kernel
from autograder.sandbox.prewarmed import Prewarmed
from autograder.sandbox.process import Process

__all__ = [
    "Job",
    "Limits",
    "Policy",
    "Prewarmed",
    "Process",
    "Sandbox",
    "SandboxedKernelManager",
    "choose",
    "gpu_nodes",
    "kernel",
]
