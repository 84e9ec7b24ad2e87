"""The one thread that starts sandboxes: the kernel kills a sandbox when the thread that started it ends."""

from __future__ import annotations

import functools
import os
import queue
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

__all__ = ["started_to_stay"]

Popen = subprocess.Popen[bytes]
_MAKING = threading.Lock()
"""functools.cache lets two threads that come first at the same time both make one."""


def started_to_stay(start: Callable[[], Popen]) -> Popen:
    """Return what start() returns, called in a thread that ends with this process; raise what it raises.

    PR_SET_PDEATHSIG, by which a sandbox dies with the grader, looks at the thread that called fork, not at its process:
    started here, a sandbox may outlive the worker that asked for it, and never the grader.
    """
    with _MAKING:
        spawner = _spawner(os.getpid())
    return spawner.run(start)


class _Spawner:
    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[tuple[Callable[[], Popen], Future[Popen]]] = queue.SimpleQueue()
        # A daemon: others are joined when Python begins to end, and the sandboxes are still to be closed then.
        threading.Thread(target=self._serve, name="autograder-spawner", daemon=True).start()

    def run(self, start: Callable[[], Popen]) -> Popen:
        future: Future[Popen] = Future()
        self._asked.put((start, future))
        try:
            return future.result()
        except BaseException:  # Ctrl-C perhaps: then nobody would hold what is being started
            with suppress(Exception):
                future.result().kill()
            raise

    def _serve(self) -> None:
        while True:
            start, future = self._asked.get()
            try:
                future.set_result(start())
            except BaseException as error:
                future.set_exception(error)


@functools.cache
def _spawner(_process: int) -> _Spawner:
    """Return the spawner of this process: a fork has none of its parent's threads."""
    return _Spawner()
