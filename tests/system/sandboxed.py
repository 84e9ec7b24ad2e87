"""Helpers of the sandbox tests: a kernel to type code into, and small programs without one."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.errors import SandboxError
from autograder.sandbox import (
    Job,
    Policy,
    Prewarmed,
    Process,
    ProcessLimits,
    Sandbox,
    SandboxedKernelManager,
    choose,
    kernel,
)

NAMES = ("bubblewrap", "landlock", "limits", "prewarmed")
ISOLATED = ("bubblewrap", "prewarmed")


def in_sandbox(*names: str) -> pytest.MarkDecorator:
    """Run a test in these sandboxes, and in all the others in `make test-all`; its module has a fixture `sandbox`."""
    every = [pytest.param(name, marks=() if name in names else pytest.mark.thorough) for name in NAMES]
    return pytest.mark.parametrize("sandbox", every, indirect=True)


@contextlib.contextmanager
def sandbox_or_skip(name: str, policy: Policy | None = None) -> Iterator[Sandbox]:
    """Yield the sandbox of this name; where it does not work, skip the test with the reason."""
    try:
        outer = choose("bubblewrap" if name == "prewarmed" else name)
    except SandboxError as error:
        pytest.skip(str(error))
    if name != "prewarmed":
        yield outer
        return
    with Prewarmed(outer, ("numpy",), policy=policy) as sandbox:
        assert sandbox.why_cold == ""
        yield sandbox


class Console:
    """A kernel in a sandbox, one cell at a time."""

    def __init__(self, manager: SandboxedKernelManager, timeout_s: int) -> None:
        self.manager = manager
        self.client = NotebookClient(nbformat.v4.new_notebook(), km=manager, timeout=timeout_s, allow_errors=True)
        self.client.interrupt_on_timeout = True

    def cell(self, source: str) -> Any:
        """Execute source and return the cell with its outputs."""
        cell = nbformat.v4.new_code_cell(textwrap.dedent(source))
        self.client.nb.cells.append(cell)
        return self.client.execute_cell(cell, len(self.client.nb.cells) - 1)

    def run(self, source: str) -> str:
        """Execute source and return what it printed, its last value, and `Error: message` if it raised."""
        return "".join(text_of(output) for output in self.cell(source).outputs).strip()


def meet_abstract_socket(prompt: Console) -> str:
    """Return what a kernel says that connects to an abstract socket at which this process listens."""
    address = f"\0autograder-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        return prompt.run(f"import socket; socket.socket(socket.AF_UNIX).connect({address!r})")


def text_of(output: Any) -> str:
    """Return an output as text."""
    if output.output_type == "stream":
        return str(output.text)
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}"
    return str(output.data.get("text/plain", ""))


@contextlib.contextmanager
def console(
    sandbox: Sandbox,
    *,
    files: Path | None = None,
    limits: ProcessLimits | None = None,
    policy: Policy | None = None,
    timeout_s: int = 60,
) -> Iterator[Console]:
    """Yield a running kernel."""
    with kernel(sandbox, files=files, limits=limits, policy=policy) as manager:
        prompt = Console(manager, timeout_s)
        with prompt.client.setup_kernel():
            yield prompt


class Program:
    """A Python program in a sandbox that talks to the test by a pipe, which all its processes hold open."""

    def __init__(self, sandbox: Sandbox, directory: Path, source: str, job: Job) -> None:
        path = directory / "program.py"
        path.write_text("import os, sys, time\ntest = int(sys.argv[1])\n" + textwrap.dedent(source))
        self._reader, writer = os.pipe()
        room = directory / "room"
        room.mkdir(mode=0o700)
        try:
            self.process: Process = sandbox.start(
                replace(job, program=path, directory=room, arguments=(str(writer),), descriptors=(writer,))
            )
        finally:
            os.close(writer)

    def line(self, timeout_s: float = 20) -> str:
        """Return the next thing that the program wrote to the pipe; "" when no process holds the other end any more."""
        assert select.select([self._reader], [], [], timeout_s)[0], f"nothing came within {timeout_s} s"
        return os.read(self._reader, 4096).decode()

    def close(self) -> None:
        """End the program."""
        self.process.close()
        os.close(self._reader)


@contextlib.contextmanager
def program(sandbox: Sandbox, directory: Path, source: str, **job: Any) -> Iterator[Program]:
    """Yield source, running. It has `test`, the descriptor to write to."""
    running = Program(sandbox, directory, source, Job(program=Path(), directory=Path(), **job))
    try:
        yield running
    finally:
        running.close()
