"""Who runs the submissions of a lab: threads of this process, each waiting for a sandbox, or a cluster's workers."""

from __future__ import annotations

import logging
import queue
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from autograder.errors import AutograderError
from autograder.execution import Checks, Executor
from autograder.grading.attempt import Attempt
from autograder.grading.grade_one import Setup, attempt
from autograder.grading.placement import Modes
from autograder.records.fingerprint import environment
from autograder.sandbox import choose
from autograder.sandbox.scratch_dir import ScratchDir
from autograder.submission.handin import Handin

__all__ = ["Cluster", "Runner", "Threads"]

_CONNECT_S = 10
_SHOWN = 3


class Runner(Protocol):
    """Takes submissions; `at_once` of them are worth having under way."""

    @property
    def at_once(self) -> int: ...

    def submit(self, handin: Handin) -> Future[Attempt]:
        """Begin to run a submission."""

    def stop(self) -> None:
        """Give up what is under way."""

    def close(self) -> None:
        """Wait for what is under way, and let go."""


class Threads:
    """Runs submissions side by side in sandboxes of this machine."""

    def __init__(self, setup: Setup, workers: int, others: Sequence[Executor] = ()) -> None:
        """others: further executors, such as one for each GPU; each then runs one submission at a time.

        Where submissions would share what one user may have, one is run at a time whatever was asked for.
        """
        executors = [setup.executor, *others]
        self.at_once = len(executors) if others else workers
        if setup.executor.sandbox.one_at_a_time:
            self.at_once = 1
        self._setup = setup
        self._free: queue.SimpleQueue[Executor] = queue.SimpleQueue()
        for number in range(self.at_once):
            self._free.put(executors[number % len(executors)])
        self._executors = executors
        self._pool = ThreadPoolExecutor(max_workers=self.at_once, thread_name_prefix="grade")

    def submit(self, handin: Handin) -> Future[Attempt]:
        """See Runner; raises SandboxError if what the lab imports cannot be imported in the sandbox."""
        for executor in self._executors:
            executor.warm()
        return self._pool.submit(self._attempt, handin)

    def stop(self) -> None:
        """See Runner: every kernel is killed."""
        for executor in self._executors:
            executor.stop()

    def close(self) -> None:
        """See Runner."""
        self._pool.shutdown(cancel_futures=True)

    def _attempt(self, handin: Handin) -> Attempt:
        executor = self._free.get()
        try:
            return attempt(replace(self._setup, executor=executor), handin)
        finally:
            self._free.put(executor)


# ----------------------------------------------------------------------------------------------------------- a cluster
class Cluster:
    """Runs submissions on the workers of a Dask cluster; everything they need goes with each of them.

    A worker that is lost is Dask's to notice: what it was running is run by another one.
    """

    def __init__(self, setup: Setup, address: str) -> None:
        """Raises AutograderError if there is no scheduler at this address, or it has no workers."""
        try:
            from distributed import Client
        except ModuleNotFoundError:
            raise AutograderError(
                "--scheduler needs Dask, which is not installed", hint="pip install 'dl-scale-practicum[cluster]'"
            ) from None
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        client = None
        try:
            client = Client(address, timeout=_CONNECT_S)
            client.wait_for_workers(1, timeout=_CONNECT_S)
        except (OSError, ValueError, TimeoutError) as error:
            if client is not None:
                client.close()
            raise AutograderError(
                f"{address}: no scheduler with a worker answers ({str(error).splitlines()[0] or type(error).__name__})",
                hint=f"start them: dask scheduler, and on each machine: dask worker {address}",
            ) from error
        self._client = client
        self._pool = self._client.get_executor(pure=False)
        self._setup = setup
        self._given = {name: path.read_bytes() for name, path in setup.given.items()}

    @property
    def at_once(self) -> int:
        """Twice as many as the workers have threads, so that none waits for the next; of workers that come, too."""
        return max(1, 2 * sum(int(threads) for threads in self._client.nthreads().values()))

    def submit(self, handin: Handin) -> Future[Attempt]:
        """See Runner."""
        future: Future[Attempt] = self._pool.submit(run_task, self._task(handin))
        return future

    def stop(self) -> None:
        """See Runner."""
        self._pool.shutdown(wait=False)

    def close(self) -> None:
        """See Runner."""
        self._pool.shutdown(wait=False)
        self._client.close()

    def _task(self, handin: Handin) -> Task:
        setup = self._setup
        return Task(
            handin=replace(handin, files={}),
            files={name: path.read_bytes() for name, path in handin.files.items()},
            setup=replace(setup, executor=None, given={}, modes=Modes({})),  # type: ignore[arg-type]
            given=self._given,
            checks={name: replace(checks, files={}) for name, checks in setup.modes.checks.items()},
            preload=setup.executor.preload,
            environment=environment(),
        )


@dataclass(frozen=True)
class Task:
    """One submission and all that it is run with, by value."""

    handin: Handin
    files: Mapping[str, bytes]
    setup: Setup
    given: Mapping[str, bytes]
    checks: Mapping[str, Checks]
    preload: tuple[str, ...]
    environment: Mapping[str, str]


def run_task(task: Task) -> Attempt:
    """Run a submission on the worker that this is; raise AutograderError if other packages are installed here."""
    here = environment()
    if other := sorted(name for name in {*here, *task.environment} if here.get(name) != task.environment.get(name)):
        shown = [f"{name} {here.get(name, 'missing')[:20]}" for name in other[:_SHOWN]]
        raise AutograderError(
            f"a worker has other packages: {', '.join(shown)}", hint="install the same environment on every machine"
        )
    room = ScratchDir()
    try:
        files, given = (_written(room.path / part, of) for part, of in (("files", task.files), ("given", task.given)))
        modes = Modes({name: replace(checks, files=given) for name, checks in task.checks.items()})
        setup = replace(task.setup, executor=_executor(task.preload), given=given, modes=modes)
        done = attempt(setup, replace(task.handin, files=files))
        done.handin = task.handin
        return done
    finally:
        room.leave()


@cache
def _executor(preload: tuple[str, ...]) -> Executor:
    """Return this worker's executor for such labs; its processes end with the worker."""
    return Executor(choose(), preload)


def _written(folder: Path, files: Mapping[str, bytes]) -> dict[str, Path]:
    paths: dict[str, Path] = {}
    for name, content in files.items():
        paths[name] = folder / name
        paths[name].parent.mkdir(parents=True, exist_ok=True)
        paths[name].write_bytes(content)
    return paths


def result_of(future: Future[Any]) -> Attempt | Exception:
    """Return what a submission's future holds: the attempt, or why there is none."""
    error = future.exception()
    if isinstance(error, Exception):
        return error
    if error is not None:
        raise error
    found: Attempt = future.result()
    return found
