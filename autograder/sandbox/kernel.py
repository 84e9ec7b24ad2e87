"""A Jupyter kernel in a sandbox, managed so that nbclient, nbconvert and nbgrader drive it like any other."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import KernelProvisionerBase

from autograder.errors import SandboxError
from autograder.sandbox.base import Job, Policy, ProcessLimits, Sandbox
from autograder.sandbox.channel import Link
from autograder.sandbox.client import PORTS, KernelClient, link
from autograder.sandbox.guest import KERNEL
from autograder.sandbox.process import Process
from autograder.sandbox.scratch_dir import ScratchDir

__all__ = ["SandboxedKernelManager", "kernel"]

_POLL_S = 0.02


@contextlib.contextmanager
def kernel(
    sandbox: Sandbox,
    *,
    files: Path | None = None,
    limits: ProcessLimits | None = None,
    policy: Policy | None = None,
    descriptors: Sequence[int] = (),
) -> Iterator[SandboxedKernelManager]:
    """Yield a manager to hand to `NotebookClient(nb, km=...)`, which starts the kernel when it executes the first cell.

    The kernel inherits these open descriptors, which must stay open until it has started. Its working directory is
    fresh and holds copies of what is in files; nothing written there comes back. Whatever happens, the kernel, all its
    descendants, its sockets and its files are gone after the with statement.
    """
    job = Job(
        program=KERNEL,
        directory=Path(),  # each start has a room of its own
        descriptors=tuple(descriptors),
        files=files,
        limits=limits or ProcessLimits(),
        policy=policy or Policy(),
    )
    manager = SandboxedKernelManager(sandbox, job)
    try:
        yield manager
    finally:
        manager.close()


class SandboxedKernelManager(AsyncKernelManager):  # type: ignore[misc]
    """Starts our own IPython kernel in a sandbox, whatever kernel a notebook asks for; interrupts it by message."""

    def __init__(self, sandbox: Sandbox, job: Job, **traits: Any) -> None:
        # Not the log of the program around this: formgrader shows its own to a person.
        super().__init__(transport="ipc", client_factory=KernelClient, log=logging.getLogger(__name__), **traits)
        self.sandbox = sandbox
        self.provisioner = _Provisioner(sandbox, job, parent=self)
        self._clients: list[Any] = []

    @property
    def kernel_spec(self) -> KernelSpec:
        """Ours: never one that a notebook or a student's home directory names."""
        return KernelSpec(argv=[], display_name="Python 3 (sandboxed)", language="python", interrupt_mode="message")

    @property
    def last_words(self) -> str:
        """What an ended kernel had written to its raw standard error, such as a fatal signal's traceback.

        The text may be a student's: treat it as data.
        """
        return self.provisioner.last_words

    def client(self, **traits: Any) -> Any:
        """Return a client of the kernel; `close` stops its channels."""
        client = super().client(**traits)
        self._clients.append(client)
        return client

    def _create_connected_socket(self, channel: str, identity: bytes | None = None) -> Link:
        """Return an end of our own of this channel; jupyter_client makes ZeroMQ's."""
        control = link(self, channel, identity)
        control.connect()
        return control

    def processor_s(self) -> float:
        """Return the processor time that the kernel and its descendants have used, in seconds."""
        return self.provisioner.processor_s()

    def held_up_s(self) -> float:
        """Return for how long they were ready to run while others had the processors, in seconds."""
        return self.provisioner.held_up_s()

    def end(self) -> None:
        """Kill the kernel with all its descendants, or keep it from starting; from any thread.

        The thread that uses the kernel finds it dead, within a second, and is still the one to call `close`.
        """
        self.provisioner.end()

    def close(self) -> None:
        """Kill the kernel with all its descendants, stop clients, remove sockets and files. Safe to call twice."""
        try:
            self.provisioner.close()
        finally:
            for client in self._clients:
                if client.channels_running:
                    client.stop_channels()
            self._close_control_socket()
            self.cleanup_connection_file()
            if self._created_context and not self.context.closed:
                self.context.destroy(linger=0)


class _Provisioner(KernelProvisionerBase):  # type: ignore[misc]
    """What jupyter_client's manager asks for a process: a job in the sandbox, with a room of its own."""

    def __init__(self, sandbox: Sandbox, job: Job, parent: Any) -> None:
        super().__init__(parent=parent, kernel_spec=parent.kernel_spec)
        self._sandbox = sandbox
        self._job = job
        self._room: ScratchDir | None = None
        self._process: Process | None = None
        self._ended = False
        self.last_words = ""

    @property
    def has_process(self) -> bool:
        """Whether a kernel was started and not yet closed."""
        return self._process is not None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Give the manager addresses in a fresh room."""
        self.close()
        self._room = ScratchDir()
        self.parent.ip = str(self._room.path / "k")
        self.parent.connection_file = str(self._room.path / "connection.json")
        for name, number in PORTS.items():
            setattr(self.parent, name, number)
        return {"cmd": kwargs.get("extra_arguments", [])}

    async def launch_kernel(self, cmd: Sequence[str], **_kwargs: Any) -> Any:
        """Start the kernel with these extra arguments; its listening sockets exist before it does."""
        assert self._room is not None
        connection = self.parent.get_connection_info()
        with contextlib.ExitStack() as stack:
            addresses = [f"{connection['ip']}-{number}" for number in PORTS.values()]
            sockets = {f"ipc://{address}": stack.enter_context(_listen(Path(address))) for address in addresses}
            descriptors = {address: listener.fileno() for address, listener in sockets.items()}
            request = connection | {"key": connection["key"].decode(), "descriptors": descriptors}
            try:
                self._process = self._sandbox.start(
                    replace(
                        self._job,
                        directory=self._room.path,
                        arguments=tuple(cmd),
                        stdin=json.dumps(request).encode(),
                        descriptors=(*descriptors.values(), *self._job.descriptors),
                    )
                )
                if self._ended:
                    raise SandboxError("sandbox kernel: it was ended before it had started")
            except BaseException:
                self.close()
                raise
        return connection

    async def poll(self) -> int | None:
        """Return the exit code, or None while the kernel runs."""
        return self._process.poll() if self._process else 0

    async def wait(self) -> int | None:
        """Return the exit code once the kernel has ended and its descendants are gone."""
        while self._process and self._process.poll() is None:
            await asyncio.sleep(_POLL_S)
        return self._end()

    async def kill(self, restart: bool = False) -> None:
        """Kill the kernel with all its descendants; they are gone on return."""
        self._end()

    async def terminate(self, restart: bool = False) -> None:
        """Do the same: there is nothing in a sandbox that deserves a farewell."""
        self._end()

    async def send_signal(self, signum: int) -> None:
        """End the kernel by SIGTERM or SIGKILL; it is interrupted by message."""
        if signum not in (signal.SIGTERM, signal.SIGKILL):
            raise SandboxError(f"sandbox kernel: no signal {signum} can be sent", hint="use interrupt_kernel()")
        self._end()

    async def cleanup(self, restart: bool = False) -> None:
        """End what still runs and remove what is left."""
        self.close()

    def processor_s(self) -> float:
        """Return the processor time that the kernel and its descendants have used, in seconds."""
        return self._process.processor_s() if self._process else 0.0

    def held_up_s(self) -> float:
        """Return for how long they were ready to run while others had the processors, in seconds."""
        return self._process.held_up_s() if self._process else 0.0

    def end(self) -> None:
        """Kill the kernel with all its descendants, or keep it from starting; from any thread."""
        self._ended = True
        if process := self._process:
            process.kill()

    def close(self) -> None:
        """Kill the kernel with all its descendants and remove the room. Safe to call twice."""
        try:
            self._end()
        finally:
            if self._room is not None:
                self._room.leave()
                self._room = None

    def _end(self) -> int | None:
        if self._process is None:
            return 0
        process, self._process = self._process, None
        code = process.close()
        self.last_words = process.last_words()
        return code


def _listen(path: Path) -> socket.socket:
    """Listen at path, under a name that does not tell it: names of sockets can be seen in /proc/net/unix."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        listener.bind(f"/proc/self/fd/{folder}/{path.name}")
        listener.listen()
    except OSError:
        listener.close()
        raise
    finally:
        os.close(folder)
    return listener
