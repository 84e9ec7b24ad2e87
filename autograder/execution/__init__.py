"""Runs a repaired notebook: the student's cells in a sandboxed kernel, test cells in a process of their own."""

from autograder.execution.executor import Executor
from autograder.execution.marks import mark_not_run
from autograder.execution.preload import preloads
from autograder.execution.results import Execution
from autograder.execution.trusted_tests import Checks

__all__ = ["Checks", "Execution", "Executor", "mark_not_run", "preloads"]
