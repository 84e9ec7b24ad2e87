"""An IPython kernel on sockets that the grader has opened before: run inside a sandbox, by `kernel.py` only.

Standard input holds the connection as JSON, with `descriptors`: the listening socket of each ipc address. So the kernel
shares no directory with the host, and a client that connects early waits in the socket's queue.
"""

from __future__ import annotations

import codecs
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import zmq
from ipykernel.kernelapp import IPKernelApp
from ipykernel.zmqshell import ZMQInteractiveShell

_LOOK_MS = 50


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


def run_with_pipes(shell: ZMQInteractiveShell, command: str) -> None:
    """Do `!command` as IPython's own system() does, but for the terminal: what it says is printed before this returns.

    IPython's system_raw would let the command write to the kernel's own output, which a thread forwards some time
    later: perhaps when the cell has ended, and nobody waits for its outputs any more.

    Raises:
        OSError: the command ends in `&`.
    """
    if command.rstrip().endswith("&"):
        raise OSError("Background processes not supported.")
    line = shell.var_expand(command, depth=1)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with subprocess.Popen(["/bin/sh", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            for said in _said_by(process):
                print(decoder.decode(said), end="", flush=True)
        except KeyboardInterrupt:
            process.kill()
    print(decoder.decode(b"", final=True), end="", flush=True)
    code = process.returncode
    shell.user_ns["_exit_code"] = 128 - code if code > 128 else code


def _said_by(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """Yield what a process says until it ends; what processes say that it leaves behind is not waited for."""
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    while True:
        ended = process.poll() is not None
        if waiting.poll(0 if ended else _LOOK_MS):
            said = os.read(descriptor, 1 << 16)
            if not said:
                return
            yield said
        elif ended:
            return


def run_commands_without_a_terminal() -> None:
    """Where there is no terminal, let `!command` do with pipes."""
    try:
        for descriptor in os.openpty():
            os.close(descriptor)
    except OSError:
        ZMQInteractiveShell.system = run_with_pipes


def main() -> None:
    """Read the connection, detach from standard input, and serve until told to stop."""
    connection = json.load(sys.stdin)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if prefork := sys.modules.get("labkit._launch.prefork"):
        prefork.server.fork_server()  # now: after the student's first operator of a framework its forks would hang
    run_commands_without_a_terminal()
    adopt_sockets(connection.pop("descriptors"))
    SandboxedKernelApp.connection = connection
    SandboxedKernelApp.launch_instance(sys.argv[1:])


if __name__ == "__main__":
    main()
