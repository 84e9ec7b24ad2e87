"""Pre-warmed processes, one after the other: the last is forked, until it has served its time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager

from autograder.errors import SandboxError
from autograder.sandbox.base import Job, Policy
from autograder.sandbox.bubblewrap import Bubblewrap
from autograder.sandbox.process import Process
from autograder.sandbox.zygote import Zygote, ZygoteFault

__all__ = ["Lineage"]


class Lineage(AbstractContextManager["Lineage"]):
    """Programs of two lineages have nothing in common that one of them could look up about the other.

    All forks of one process have its memory layout: the address of a library, a module or an object in one of them is
    its address in the others. Processes of two lineages are each laid out at random.
    """

    def __init__(self, outer: Bubblewrap, preload: Sequence[str], policy: Policy, recycle_after: int) -> None:
        """Hold what its processes are started with; none is yet."""
        self._outer = outer
        self._preload = preload
        self._policy = policy
        self._recycle_after = recycle_after
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="autograder-prewarmed")
        self._first: Future[Zygote] | None = None
        self._zygotes: list[Zygote] = []
        self._closed = False

    def begin(self) -> None:
        """Let the first process be warmed, without waiting for it."""
        self._first = self._thread.submit(self._made)

    def warm(self) -> None:
        """Wait for a process that can be forked. Raises as `start` does."""
        self._last()

    def start(self, job: Job) -> Process:
        """Fork a process for the job; a pre-warmed process at fault is replaced once.

        Raises ZygoteFault when the next one is at fault, too, and SandboxError when the fault lies in the job or in
        what is to be imported.
        """
        zygote = self._ready()
        try:
            return zygote.start(job)
        except ZygoteFault:
            return self._replace(zygote).start(job)

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the pre-warmed processes, and every program that still runs. Safe to call twice."""
        with self._lock:
            self._closed = True
            zygotes, self._zygotes = self._zygotes, []
            first, self._first = self._first, None
        if first is not None:
            with contextlib.suppress(ZygoteFault, SandboxError):  # of which nobody asked anything
                zygotes.append(first.result())
        for zygote in zygotes:
            zygote.close()
        self._thread.shutdown()

    def _ready(self) -> Zygote:
        """Return the process to fork, a fresh one if the last has served its time."""
        zygote = self._last()
        return zygote if zygote.forks < self._recycle_after else self._replace(zygote)

    def _last(self) -> Zygote:
        with self._lock:
            if not self._zygotes:
                self._zygotes.append(self._fresh())
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
        if self._closed:
            raise SandboxError("sandbox: the pre-warmed processes were closed")
        first, self._first = self._first, None
        return (first or self._thread.submit(self._made)).result()

    def _made(self) -> Zygote:
        return Zygote(self._outer, self._preload, self._policy)
