"""torchrun's agents on this machine: one stands for one host."""

from __future__ import annotations

import contextlib
import math
import os
import re
import runpy
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

from labkit._launch.fresh_process import ProcessError
from labkit._ranks.environment import LOOPBACK, ONE_THREAD
from labkit._ranks.messages import LOG
from labkit._system import end_marked, end_with_parent

__all__ = ["torchrun"]

_AGENT = "import sys; from labkit._launch import torchrun_agents; torchrun_agents.run_agent(int(sys.argv.pop(1)))"
_MARK = "LABKIT_TORCHRUN_AGENT"
# The second line of an agent's own traceback.
_AGENTS_OWN = re.compile(r'File "<string>", line 1, in <module>')
_END_S = 10.0
_SHOWN_LINES = 40


def torchrun(
    script: str | Path, *arguments: object, hosts: int = 1, ranks: int = 2, restarts: int = 0, timeout_s: float = 180.0
) -> list[str]:
    """Run a script in `ranks` ranks on each of `hosts` hosts, as torchrun does; return the lines that were printed.

    This machine plays every host: an agent stands for each. If a rank dies, all are started again, at most `restarts`
    times. A rank finds its number in RANK, and in TORCHELASTIC_RESTART_COUNT how often ranks of its own host have died.
    The agents and all that they started are gone afterwards.

    Raises ProcessError if the job fails or takes longer than timeout_s seconds, with what the ranks printed, ValueError
    for a wrong option, and FileNotFoundError if there is no such script.
    """
    if not Path(script).is_file():
        raise FileNotFoundError(f"torchrun: no such script: {script}")
    if not (hosts >= 1 and ranks >= 1 and restarts >= 0 and 0 < timeout_s < math.inf):
        raise ValueError(f"torchrun: {hosts=}, {ranks=}, {restarts=}, {timeout_s=}: expected at least 1, 1, 0, above 0")
    job = uuid.uuid4().hex
    marks = [f"{job}.{host}" for host in range(hosts)]
    command = [sys.executable, "-c", _AGENT, str(os.getpid()), *_options(job, hosts, ranks, restarts), str(script)]
    command += map(str, arguments)
    # After a restart, ranks must not read in the agents' store what the ranks before them left there:
    # https://github.com/pytorch/pytorch/issues/135712
    variables = {**os.environ, **LOOPBACK, **ONE_THREAD, "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    agents = [subprocess.Popen(command, env={**variables, _MARK: mark}, **pipes) for mark in marks]
    lines: list[str] = []
    readers = [Thread(target=_read, args=(agent, lines), daemon=True) for agent in agents]
    try:
        for reader in readers:
            reader.start()
        finished = _wait(agents, timeout_s)
    finally:
        _end(agents, marks)
    for reader in readers:
        reader.join(_END_S)
    if not finished or any(agent.returncode for agent in agents):
        raise _failure(lines, [agent.returncode for agent in agents], None if finished else timeout_s)
    return lines


def run_agent(parent: int) -> None:
    """Be an agent of torchrun, whose options are this process's; see `ending_with`."""
    with ending_with(parent, f"{_MARK}={os.environ[_MARK]}"):
        runpy.run_module("torch.distributed.run", run_name="__main__")


@contextlib.contextmanager
def ending_with(parent: int, mark: str) -> Iterator[None]:
    """End this agent when the process that started it has gone, and with it all that carries its mark.

    SIGTERM lets torchrun end its ranks. But when it comes while torchrun starts them, it forgets those that it has.
    """
    end_with_parent(signal.SIGTERM)
    if os.getppid() != parent:  # gone before this was said
        sys.exit(128 + signal.SIGTERM)
    try:
        yield
    finally:
        end_marked(mark)


def _options(job: str, hosts: int, ranks: int, restarts: int) -> list[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    options: dict[str, object] = {
        "nnodes": hosts,
        "nproc-per-node": ranks,
        "max-restarts": restarts,
        "monitor-interval": 0.1,
    }
    options |= {"rdzv-backend": "c10d", "rdzv-endpoint": address, "rdzv-id": job, "local-addr": "127.0.0.1"}
    return [f"--{name}={value}" for name, value in options.items()]


def _read(agent: subprocess.Popen[str], lines: list[str]) -> None:
    if agent.stdout:
        with agent.stdout as pipe:
            lines.extend(line.rstrip("\n") for line in pipe)


def _wait(agents: Sequence[subprocess.Popen[str]], timeout_s: float) -> bool:
    """Return whether all agents have ended in time; one that failed ends the wait."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        codes = [agent.poll() for agent in agents]
        if None not in codes:
            return True
        if any(codes):
            deadline = min(deadline, time.monotonic() + _END_S)
        time.sleep(0.05)
    return any(agent.poll() for agent in agents)


def _end(agents: Sequence[subprocess.Popen[str]], marks: Sequence[str]) -> None:
    """End the agents, which end their ranks; then whatever is left of them."""
    for agent in agents:
        agent.terminate()
    for agent in agents:
        try:
            agent.wait(_END_S)
        except subprocess.TimeoutExpired:
            agent.kill()
            agent.wait()
    for mark in marks:
        end_marked(f"{_MARK}={mark}")


def _failure(lines: Sequence[str], codes: Sequence[int], timeout_s: float | None) -> ProcessError:
    what = f"the agents ended with exit codes {list(codes)}"
    if timeout_s is not None:
        what = f"the job was still running after {timeout_s:g} s"
    said = "\n".join(_of_ranks(lines)[:_SHOWN_LINES])
    return ProcessError(f"torchrun: {what}", rank=0, what=what, traceback=said)


def _of_ranks(lines: Sequence[str]) -> list[str]:
    """Return what the ranks said, without the agents' log and the agents' own traceback, which follows."""
    own = next((i for i, line in enumerate(lines) if _AGENTS_OWN.search(line)), len(lines) + 1)
    return [line for line in lines[: own - 1] if not LOG.match(line)]
