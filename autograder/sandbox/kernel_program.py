"""An IPython kernel on sockets that the grader has opened before: run inside a sandbox, by `kernel.py` only.

Standard input holds the connection as JSON, with `descriptors`: the listening socket of each ipc address. So the kernel
shares no directory with the host, and a client that connects early waits in the socket's queue.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import zmq
from ipykernel.kernelapp import IPKernelApp
from ipykernel.zmqshell import ZMQInteractiveShell


def adopt_sockets(descriptors: dict[str, int]) -> None:
    """Let ZeroMQ bind each of these addresses by taking over the listening socket that stands for it."""
    bind = zmq.Socket.bind

    def adopt(self: zmq.Socket[Any], address: str) -> Any:
        if address in descriptors:
            self.setsockopt(zmq.USE_FD, descriptors.pop(address))
        return bind(self, address)

    zmq.Socket.bind = adopt  # type: ignore[method-assign, assignment]


class SandboxedKernelApp(IPKernelApp):  # type: ignore[misc]
    """A kernel without a connection file: the key never lies on a disk that the student's code can read."""

    connection: dict[str, Any]

    def init_connection_file(self) -> None:
        """Take the connection from memory."""
        self.load_connection_info(self.connection)

    def write_connection_file(self, **_kwargs: Any) -> None:
        """Write none."""

    def init_gui_pylab(self) -> None:
        """Choose figures in the notebook, also for a matplotlib that was imported before there was a kernel."""
        super().init_gui_pylab()
        if matplotlib := sys.modules.get("matplotlib"):
            matplotlib.rcParams["backend"] = os.environ["MPLBACKEND"]


def run_commands_without_a_terminal() -> None:
    """Where no terminal is to be had, let `!command` do with pipes."""
    try:
        for descriptor in os.openpty():
            os.close(descriptor)
    except OSError:
        ZMQInteractiveShell.system = ZMQInteractiveShell.system_raw


def main() -> None:
    """Read the connection, detach from standard input, and serve until told to stop."""
    connection = json.load(sys.stdin)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if launcher := sys.modules.get("labkit._launch.server"):
        launcher.fork_server()  # now: after the student's first operator of a framework its forks would hang
    run_commands_without_a_terminal()
    adopt_sockets(connection.pop("descriptors"))
    SandboxedKernelApp.connection = connection
    SandboxedKernelApp.launch_instance(sys.argv[1:])


if __name__ == "__main__":
    main()
