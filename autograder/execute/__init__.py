"""Runs a repaired notebook: the student's cells in a sandboxed kernel, test cells in a process of their own."""

from autograder.execute.executor import Executor
from autograder.execute.marks import KERNEL_ENDED, mark_not_run
from autograder.execute.preload import preloads
from autograder.execute.run import Execution
from autograder.execute.trusted import Checks

__all__ = ["KERNEL_ENDED", "Checks", "Execution", "Executor", "mark_not_run", "preloads"]
