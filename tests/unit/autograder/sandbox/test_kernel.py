from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.errors import SandboxError
from autograder.sandbox import Job, Process, Sandbox, kernel


class Sleeper(Sandbox):
    """A sandbox whose kernel sleeps, and which remembers its job."""

    name = "sleeper"
    isolated = False

    def start(self, job: Job) -> Process:
        self.job = job
        self.listing = sorted(path.name for path in job.directory.iterdir())
        popen = subprocess.Popen(["sleep", "60"], stderr=subprocess.PIPE)
        return Process(popen, os.pidfd_open(popen.pid), signal.SIGKILL)


class Broken(Sandbox):
    """A sandbox that cannot be set up."""

    name = "broken"
    isolated = False

    def start(self, job: Job) -> Process:
        raise SandboxError("sandbox: cannot be set up: no")


@pytest.fixture
def parent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="t-") as directory:
        monkeypatch.setattr(tempfile, "tempdir", directory)
        yield Path(directory)


def test_sockets_and_key_are_ready_before_the_kernel_starts_and_gone_after(parent: Path) -> None:
    sandbox = Sleeper()
    with kernel(sandbox) as manager:
        asyncio.run(manager.start_kernel(extra_arguments=["--HistoryManager.hist_file=:memory:"]))
        assert sandbox.listing == ["k-1", "k-2", "k-3", "k-4", "k-5"]
        assert manager.session.key in sandbox.job.stdin
        assert sandbox.job.arguments == ("--HistoryManager.hist_file=:memory:",)
        assert manager.session.key.decode() not in sandbox.job.arguments
        assert len(sandbox.job.descriptors) == 5
    assert list(parent.iterdir()) == []


def test_the_kernelspec_is_ours_whatever_is_asked_for(parent: Path) -> None:
    with kernel(Sleeper()) as manager:
        manager.kernel_name = "evil"
        assert (manager.kernel_spec.argv, manager.kernel_spec.interrupt_mode) == ([], "message")


def test_a_sandbox_that_fails_leaves_nothing_behind(parent: Path) -> None:
    with kernel(Broken()) as manager:
        with pytest.raises(SandboxError):
            asyncio.run(manager.start_kernel())
        assert list(parent.iterdir()) == []
        assert not manager.has_kernel


def test_a_kernel_ended_by_another_thread_is_found_dead(parent: Path) -> None:
    with kernel(Sleeper()) as manager:
        asyncio.run(manager.start_kernel())
        assert asyncio.run(manager.is_alive())
        manager.end()
        assert asyncio.run(manager.provisioner.wait()) != 0
        assert not asyncio.run(manager.is_alive())


def test_a_kernel_ended_before_it_starts_does_not_start(parent: Path) -> None:
    with kernel(Sleeper()) as manager:
        manager.end()
        with pytest.raises(SandboxError, match="ended before"):
            asyncio.run(manager.start_kernel())
        assert not manager.has_kernel


def test_signals_other_than_the_last_are_refused(parent: Path) -> None:
    with kernel(Sleeper()) as manager:
        asyncio.run(manager.start_kernel())
        with pytest.raises(SandboxError, match="interrupt_kernel"):
            asyncio.run(manager.signal_kernel(signal.SIGINT))
        asyncio.run(manager.signal_kernel(signal.SIGKILL))
        assert not manager.has_kernel
