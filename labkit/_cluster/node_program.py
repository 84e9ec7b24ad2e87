"""What runs on a node: it tells about the machine, or runs its part of a job until that or the connection ends.

A request comes in through standard input, one line of JSON, for a job followed by the files as a tar archive. Answers
go out as lines of JSON. Standard input stays open as long as the job shall go on: whatever becomes of the head, of ssh
or of the network, the ranks here end soon after.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from labkit._cluster.addresses import address_of, interface_of, interfaces
from labkit._ranks.environment import ONE_THREAD
from labkit._system import end_marked

_MARK = "LABKIT_CLUSTER_PART"
_POLL_S = 0.1
_TERMINATE_S = 5.0
_LONGEST_LINE = 1 << 16


def main() -> int:
    """Serve one request."""
    request = json.loads(sys.stdin.buffer.readline() or "{}")
    if request.get("what") == "probe":
        answer(**probe(request["interface"]))
    elif request.get("what") == "run":
        Part(request).run()
    return 0


def answer(**values: Any) -> None:
    """Send one answer."""
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


def probe(interface: str) -> dict[str, Any]:
    """Return what the head has to know of this machine; `interface`: the one that ranks shall talk through, or ""."""
    import socket

    from labkit._machine import cores, gpus

    client, _, server, _ = (os.environ.get("SSH_CONNECTION") or "   ").split(" ")
    address = address_of(interface) if interface else server
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    return {
        "labkit": _version("dl-scale-practicum"),
        "torch": _version("torch"),
        "cores": cores(),
        "gpus": [gpu.name for gpu in gpus()],
        "head": client,
        "address": address,
        "interface": interface or interface_of(address),
        "interfaces": [name for name, addresses in interfaces().items() if addresses],
        "free_port": port,
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


class Part:
    """This node's part of a job: an agent of torchrun, its ranks, and the folder that they work in."""

    def __init__(self, request: dict[str, Any]) -> None:
        self._request = request
        self._mark = f"{_MARK}={request['part']}"
        self._lines: dict[int | None, bytes] = {}  # the beginning of a line, of each local rank; None: the agent
        self._selector = selectors.DefaultSelector()

    def run(self) -> None:
        """Run it, send what is printed, and at the end how it ended, when nothing of it is left."""
        scratch = Path(tempfile.mkdtemp(prefix="labkit-node-"))
        code = -1
        failures: dict[str, int] = {}
        # sshd may end this process politely; the ranks have to go first.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        try:
            self._unpack(scratch)
            agent = self._start(scratch)
            try:
                code = self._watch(agent)
            finally:
                self._end(agent)
            end_marked(self._mark)
            self._drain()
            report = scratch / "failures.json"
            failures = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
        finally:
            end_marked(self._mark)
            shutil.rmtree(scratch, ignore_errors=True)
        answer(kind="ended", code=code, failures=failures)

    def _unpack(self, scratch: Path) -> None:
        archive, left = scratch / "files.tar", self._request["bytes"]
        with archive.open("wb") as file:
            while left:
                came = sys.stdin.buffer.read(min(left, 1 << 20))
                if not came:
                    raise EOFError("the connection ended before all files had come")
                left -= file.write(came)
        # Python has the filter since 3.11.4. The archive is the head's own, made a moment ago.
        safely: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        with tarfile.open(archive) as files:
            files.extractall(scratch / "work", **safely)
        archive.unlink()

    def _start(self, scratch: Path) -> subprocess.Popen[bytes]:
        request, work = self._request, scratch / "work"
        (scratch / "notes").mkdir()
        # A rank's two streams go into one pipe, in order, and not through the agent.
        command = ["/bin/sh", "-c", f'exec "$@" >{scratch}/out-$LOCAL_RANK 2>&1', "rank"]
        command += [sys.executable, "-u", request["script"], *request["arguments"]]
        for rank in range(request["ranks"]):
            os.mkfifo(scratch / f"out-{rank}")
            # Open at both ends: neither the first rank nor its successor after a restart has to wait for the other.
            pipe = os.open(scratch / f"out-{rank}", os.O_RDWR | os.O_NONBLOCK)
            self._selector.register(pipe, selectors.EVENT_READ, rank)
        options = {**request["torchrun"], "log-dir": str(scratch / "log")}
        plan = {"options": options, "report": str(scratch / "failures.json"), "parent": os.getpid(), "mark": self._mark}
        words = [json.dumps(plan), *command]
        agent = subprocess.Popen(
            [sys.executable, "-P", "-m", "labkit._cluster.agent_program", *words],
            cwd=work,
            env=self._environment(scratch),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if agent.stdout:
            os.set_blocking(agent.stdout.fileno(), False)
            self._selector.register(agent.stdout, selectors.EVENT_READ, None)
        self._selector.register(sys.stdin, selectors.EVENT_READ, "end")
        return agent

    def _environment(self, scratch: Path) -> dict[str, str]:
        request = self._request
        interface = request["interface"]
        own = {
            _MARK: request["part"],
            "LABKIT_NODE": request["node"],
            "LABKIT_LAUNCH": str(scratch / "notes"),  # a Communicator works in a script, too
            # https://github.com/pytorch/pytorch/issues/135712
            "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
        }
        if interface:
            own |= {"GLOO_SOCKET_IFNAME": interface, "NCCL_SOCKET_IFNAME": interface}
        return {**ONE_THREAD, **os.environ, **own}

    def _watch(self, agent: subprocess.Popen[bytes]) -> int:
        """Pass on what is printed until the agent has ended; return its exit code, -1 if the head has gone before."""
        while agent.poll() is None:
            for key, _ in self._selector.select(_POLL_S):
                if key.data == "end":
                    return -1
                self._read(key)
        return agent.returncode

    def _drain(self) -> None:
        """Pass on what is left in the pipes."""
        came = True
        while came:
            came = False
            for key, _ in self._selector.select(0):
                came |= key.data != "end" and self._read(key)
        for source, rest in self._lines.items():
            if rest:
                self._say(source, rest)

    def _read(self, key: selectors.SelectorKey) -> bool:
        """Pass on the whole lines that have come; return whether anything came."""
        try:
            came = os.read(key.fd, _LONGEST_LINE)
        except BlockingIOError:
            return False
        if not came:
            self._selector.unregister(key.fileobj)
            return False
        *lines, rest = (self._lines.get(key.data, b"") + came).split(b"\n")
        if len(rest) > _LONGEST_LINE:
            lines, rest = [*lines, rest], b""
        self._lines[key.data] = rest
        for line in lines:
            self._say(key.data, line)
        return True

    def _say(self, source: int | None, line: bytes) -> None:
        answer(kind="line", rank=source, text=line.decode("utf-8", "replace"))

    def _end(self, agent: subprocess.Popen[bytes]) -> None:
        """End the agent, which ends its ranks, if it can."""
        if agent.poll() is None:
            agent.terminate()
            deadline = time.monotonic() + _TERMINATE_S
            while agent.poll() is None and time.monotonic() < deadline:
                with contextlib.suppress(OSError):  # nobody listens any more
                    for key, _ in self._selector.select(_POLL_S):
                        if key.data != "end":
                            self._read(key)
                        else:
                            self._selector.unregister(key.fileobj)
            agent.kill()
            agent.wait()


if __name__ == "__main__":
    sys.exit(main())
