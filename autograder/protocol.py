"""Names that the checks, the process that runs them and the scoring agree on."""

from __future__ import annotations

__all__ = ["BROKEN", "DIED", "ESSENTIAL_SHARE", "GUARD", "KERNEL_ENDED", "MIME", "NOT_RUN", "TIMED_OUT"]

MIME = "application/vnd.labkit.check+json"
"""Of the output in which `check.score` reports the cases of a test cell; labkit writes it."""

GUARD = "Guard"
"""Name of the error in a guard, a case that counts only beside another that passes, where none passed."""

ESSENTIAL_SHARE = 0.5
"""The most that a cell earns, as a share of its points, where an essential case failed."""

NOT_RUN = "NotRun"
"""Name of the error in a graded cell that was not run."""

KERNEL_ENDED = ("CellTimeoutError", "KernelDied", "KernelBroken")
"""Names of the errors in the cell with which the kernel ended."""

TIMED_OUT, DIED, BROKEN = KERNEL_ENDED
