"""Runs notebooks, each in a kernel and, for its tests, a second process of the same kind of sandbox."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat

from autograder import sandbox as walls
from autograder.boundary import DESCRIPTOR
from autograder.errors import SandboxError
from autograder.execution.canary import watched
from autograder.execution.notebook_run import Run
from autograder.execution.preload import RANKS, has_collectives
from autograder.execution.results import Execution
from autograder.execution.trusted_tests import Checks, TrustedCells
from autograder.model import Limits
from autograder.sandbox.scratch_dir import ScratchDir

__all__ = ["Executor", "storable"]

_POLICY = walls.Policy(environment={"NBGRADER_EXECUTION": "autograde"})
"""Tests may ask nbgrader's variable whether they are being graded."""
_SLACK_S = 60
"""How long after all its time a submission is ended whatever it is that still waits for it."""


class Executor(AbstractContextManager["Executor"]):
    """Runs notebooks in one kind of sandbox; `stop` ends those that are running, from any thread.

    Attributes:
        preload: what is imported before the first notebook comes; nothing: every process starts cold.
        sandbox: where the notebooks run.
        gpu: the one that they may use, if any.
    """

    def __init__(
        self,
        sandbox: walls.Sandbox,
        preload: Sequence[str] = (),
        *,
        gpu: walls.Gpu | None = None,
        apart: bool = True,
        begin: Callable[[], None] | None = None,
    ) -> None:
        """Raises SandboxError if the sandbox cannot import what is to be preloaded, or not use the GPU.

        begin: is called before that, which then waits until `warm` or the first notebook; where nothing is to be run
        nothing is started.
        gpu: with one the processes run without a memory limit. apart: tests will run apart from the
        students' code, in processes that are best warmed at once as well.
        """
        self.preload = tuple(preload)
        self._policy = gpu.shown_by(_POLICY) if gpu else _POLICY
        self.gpu = gpu
        sandbox = sandbox.with_ranks() if RANKS in preload else sandbox
        self.sandbox = sandbox
        self._apart = apart
        self._begin = begin
        self._cold = bool(preload) or gpu is not None
        self._warming = threading.Lock()
        if begin is None:
            self.warm()
        self._running: set[walls.SandboxedKernelManager | TrustedCells] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def warm(self) -> None:
        """Start the pre-warmed processes, if that was put off; raise SandboxError as the constructor does."""
        with self._warming:
            if not self._cold:
                return
            if self._begin is not None:
                self._begin()
            if self.preload:
                self.sandbox = walls.Prewarmed(self.sandbox, self.preload, policy=self._policy, trusted=self._apart)
            if self.gpu is not None:
                self.gpu.works_in(self.sandbox, self._policy)
            self._cold = False

    def run(
        self,
        notebook: nbformat.NotebookNode,
        *,
        limits: Limits,
        files: Mapping[str, Path],
        explore: Collection[str] = (),
        checks: Checks | None = None,
        solution: Callable[[], nbformat.NotebookNode | None] = lambda: None,
        beside: Mapping[str, Path] | None = None,
    ) -> Execution:
        """Return the notebook with outputs; `files` are copied beside it, cells with an id in `explore` are not run.

        Cells that `checks` does not name run in the kernel, as they are. solution: see canary.watched; it runs with the
        files in `beside` only. Raises SandboxError if a process cannot be started: then nothing was run.
        """
        self.warm()
        checks = checks or Checks()
        with _laid_out(files) as folder, _laid_out(checks.files) as given:

            def run(content: nbformat.NotebookNode, place: Path = folder) -> Execution:
                ids = frozenset(explore)
                return asyncio.run(self._execute(storable(content), (place, given), limits, ids, checks))

            def run_own(content: nbformat.NotebookNode) -> Execution:
                with _laid_out(beside or {}) as place:
                    return run(content, place)

            execution = watched(run, notebook, checks.guarded, solution, run_own)
        return replace(execution, notebook=storable(execution.notebook))

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the pre-warmed processes. Safe to call twice."""
        if isinstance(self.sandbox, walls.Prewarmed):
            self.sandbox.close()

    def stop(self) -> None:
        """Kill every process; the threads that wait for them come back within a second."""
        with self._lock:
            self._stopped = True
            for running in self._running:
                running.end()

    async def _execute(
        self,
        notebook: nbformat.NotebookNode,
        folders: tuple[Path, Path],
        limits: Limits,
        explore: frozenset[str],
        checks: Checks,
    ) -> Execution:
        memory_mib = self.gpu.MEMORY_MIB if self.gpu else limits.memory_mib
        bounds = walls.ProcessLimits(memory_mib=memory_mib, cpu_s=int(limits.total_time_s) + 60)
        beside_ranks = folders[0] if has_collectives(notebook) else None
        trusted = TrustedCells(self.sandbox, checks, bounds, self._policy, folders[1], beside_ranks)
        with trusted as tests, self._watched(tests):
            policy = replace(self._policy, environment={**self._policy.environment, DESCRIPTOR: str(tests.descriptor)})
            with (
                walls.kernel(
                    self.sandbox, files=folders[0], limits=bounds, policy=policy, descriptors=(tests.descriptor,)
                ) as manager,
                self._watched(manager),
            ):

                def end() -> None:
                    manager.end()
                    tests.end()

                overdue = threading.Timer(limits.patience * limits.total_time_s + _SLACK_S, end)
                overdue.daemon = True
                overdue.start()
                try:
                    return await Run(manager, notebook, limits, explore, tests).execute()
                finally:
                    overdue.cancel()
                    end()  # both at once; what follows waits for each

    @contextlib.contextmanager
    def _watched(self, running: walls.SandboxedKernelManager | TrustedCells) -> Iterator[None]:
        with self._lock:
            if self._stopped:
                raise SandboxError("grading was stopped")
            self._running.add(running)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(running)


@contextlib.contextmanager
def _laid_out(files: Mapping[str, Path]) -> Iterator[Path]:
    """Copy the files into a folder of their own, which a later run removes should this one be killed."""
    room = ScratchDir()
    try:
        for name, path in files.items():
            target = room.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        yield room.path
    finally:
        room.leave()


def storable(value: Any) -> Any:
    """Return a copy with every lone surrogate replaced: JSON can carry them, a file cannot."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [storable(item) for item in value]
    if isinstance(value, dict):
        return nbformat.NotebookNode({storable(key): storable(item) for key, item in value.items()})
    return value
