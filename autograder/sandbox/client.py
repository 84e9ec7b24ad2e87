"""A client of a sandboxed kernel for nbclient: jupyter_client's own, on channels that keep a bounded amount."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_client.asynchronous import AsyncKernelClient

from autograder.sandbox.channel import Channel, Link, OutputChannel

__all__ = ["PORTS", "KernelClient", "link"]

PORTS = {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5}
"""What stands for a port where the sockets lie in a directory."""
_READY_S = 60.0
_ALIVE_S = 0.5
_SUBSCRIBED_S = 0.1
"""How long a message on the output channel may take; one that is late was sent before the subscription stood."""


def link(connection: Any, channel: str, identity: bytes | None) -> Link:
    """Return the grader's end of a channel, not connected yet; connection: a manager's or client's information."""
    path = Path(f"{connection.ip}-{PORTS[f'{channel}_port']}")
    return Link(path, "SUB" if channel == "iopub" else "DEALER", identity or b"")


class KernelClient(AsyncKernelClient):  # type: ignore[misc]
    """A client that is ready as soon as both channels have answered; jupyter_client's own then waits for silence.

    Its channels are ours; those that nobody reads are not connected. Sending to a kernel that does not read fails in
    time: a student's process may become another program.
    """

    shell_channel_class = stdin_channel_class = control_channel_class = Channel
    iopub_channel_class = OutputChannel

    def start_channels(self, *args: Any, **kwargs: Any) -> None:
        # Without the heartbeat: its thread could wait for such a process forever, and the process itself is watched.
        super().start_channels(*args, **{**kwargs, "hb": False, "stdin": False, "control": False})

    def connect_iopub(self, identity: bytes | None = None) -> Link:
        return self._create_connected_socket("iopub", identity)

    def _create_connected_socket(self, channel: str, identity: bytes | None = None) -> Link:
        return link(self, channel, identity)

    async def _async_wait_for_ready(self, timeout: float | None = None) -> None:
        deadline = time.monotonic() + (_READY_S if timeout is None else timeout)
        opened = False
        while (left_s := deadline - time.monotonic()) > 0:
            if not opened:
                opened = await self._opened(min(left_s, _ALIVE_S))
                continue
            request = self.kernel_info()
            if not await self._answered(self.get_shell_msg, request, left_s):
                continue
            if await self._answered(self.get_iopub_msg, request, _SUBSCRIBED_S):
                return
        raise RuntimeError("the kernel did not answer in time")

    async def _opened(self, timeout_s: float) -> bool:
        """Whether both channels can be used in time."""
        for channel in (self.shell_channel, self.iopub_channel):
            if not await channel.is_open(timeout_s):
                await self._check_alive()
                return False
        return True

    async def _check_alive(self) -> None:
        if not await self.parent.is_alive():
            raise RuntimeError("the kernel died before it answered")

    async def _answered(self, get: Callable[..., Any], request: str, timeout_s: float) -> bool:
        """Whether the last message about this request comes in time; those before it are dropped."""
        deadline = time.monotonic() + timeout_s
        while (left_s := deadline - time.monotonic()) > 0:
            try:
                message = await get(timeout=min(left_s, _ALIVE_S))
            except queue.Empty:
                await self._check_alive()
                continue
            last = message["msg_type"] != "status" or message["content"].get("execution_state") == "idle"
            if message["parent_header"].get("msg_id") == request and last:
                return True
        return False

    wait_for_ready = _async_wait_for_ready
