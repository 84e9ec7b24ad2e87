"""A warm executor in a thread of its own, for programs that grade now and then: nbgrader's commands, formgrader."""

from __future__ import annotations

import atexit
import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from autograder.execution.executor import Executor
from autograder.sandbox import choose

__all__ = ["Warm", "warm"]

_Result = TypeVar("_Result")


class Warm:
    """Runs work in one thread, where the event loop of formgrader's server is not, and keeps the executor it used."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="autograder-execute")
        self._executor: Executor | None = None
        self._kind: tuple[tuple[str, ...], bool] = (), False

    def run(self, work: Callable[[], _Result]) -> _Result:
        """Return what work returns; only there `executor` may be called."""
        return self._thread.submit(self._run, work).result()

    def executor(self, names: Sequence[str], *, apart: bool = True) -> Executor:
        """Return an executor that has imported these: the notebooks of a lab mostly import the same."""
        if self._executor is None or self._kind != (tuple(names), apart):
            self._close()
            self._executor = Executor(choose(), names, apart=apart)
            self._kind = tuple(names), apart
        return self._executor

    def close(self) -> None:
        """End the executor's processes."""
        self._close()  # when Python ends its threads have been joined, this one among them
        self._thread.shutdown()

    def _run(self, work: Callable[[], _Result]) -> _Result:
        try:
            return work()
        except BaseException:
            self._close()  # what was stopped starts nothing any more
            raise

    def _close(self) -> None:
        if self._executor is not None:
            self._executor.close()
            self._executor = None


@functools.cache
def warm() -> Warm:
    """Return the one of this process."""
    made = Warm()
    atexit.register(made.close)
    return made
