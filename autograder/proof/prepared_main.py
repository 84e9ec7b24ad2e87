"""Runs a lab's cells once, then forks for each set of other answers; JSON lines in, JSON lines out."""

from __future__ import annotations

import ast
import contextlib
import importlib
import json
import linecache
import math
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
import traceback
import types
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from autograder.proof import apart

Cell = dict[str, Any]


class _Failed(BaseException):
    """A case has not passed, and nobody asks for the others."""


class _UntilOneFails(list[Any]):
    """The cases of a cell; raises _Failed at the first that does not pass."""

    def append(self, case: Any) -> None:
        super().append(case)
        if not case.passed:
            raise _Failed


def main() -> None:
    """Serve until standard input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what cells print
    module = sys.modules["__main__"] = types.ModuleType("__main__")  # where launched functions are looked for
    first = json.loads(sys.stdin.readline())
    cells: list[Cell] = first["cells"]
    asks_labkit = [cell["id"] for cell in cells if cell["test"] and "labkit" in cell["source"]]
    apart.tests.update(f"<{key}>" for key in asks_labkit)
    os.environ.setdefault("MPLBACKEND", "agg")
    for name in first["modules"]:
        importlib.import_module(name)
    if prefork := sys.modules.get("labkit._launch.prefork"):
        fork_servers_here(prefork.server)
    reply: dict[str, Any] = {}
    try:
        for cell in cells:
            if not cell["test"]:
                run(cell["id"], cell["source"], vars(module))
    except Exception as error:
        reply = {"error": f"{cell['id']}: {type(error).__name__}: {error}"}
    while True:
        answers.write(json.dumps(reply) + "\n")
        answers.flush()
        line = sys.stdin.readline()
        if not line:
            return
        reply = in_fork(cells, json.loads(line), vars(module))


def fork_servers_here(launcher: Any) -> None:
    """Go on in a fork; this process stays without an operator of a framework run, and forks what ranks are forked of.

    Forks of a process that has used a framework's threads would hang.
    """
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        here.close()
        launcher._python = lambda channel, log: _Elsewhere(there, channel, log)
        return
    there.close()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them: they end with their channel
    while True:
        data, descriptors, _, _ = socket.recv_fds(here, 1, 2)
        if not data:
            os._exit(0)
        with socket.socket(fileno=descriptors[0]) as channel, os.fdopen(descriptors[1], "rb", buffering=0) as log:
            here.send(str(launcher._Fork(channel, log)._pid).encode())


class _Elsewhere:
    """A process that another one has forked, as `labkit._launch.server` holds it."""

    def __init__(self, factory: socket.socket, channel: socket.socket, log: Any) -> None:
        socket.send_fds(factory, [b"s"], [channel.fileno(), log.fileno()])
        self._pid = int(factory.recv(32))

    def poll(self) -> int | None:
        try:
            os.kill(self._pid, 0)
        except ProcessLookupError:
            return 0
        return None

    def wait(self, timeout: float | None = None) -> int:
        deadline = time.monotonic() + (timeout or 0)
        while self.poll() is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("launch", timeout or 0)
            time.sleep(0.005)
        return 0

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)


def in_fork(cells: Sequence[Cell], request: Mapping[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    """Return what the tests gave with these sources; the fork is killed, with its children, when its time is over."""
    reading, writing = os.pipe()
    if faults := sys.modules.get("autograder.proof.met"):
        faults.met.clear()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        os.setsid()
        if address_space := request["memory_mib"] << 20:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
        if cpu_s := math.ceil(request["cpu_s"]):
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
        try:
            with os.fdopen(writing, "w") as pipe:
                for key, found in tests(cells, request, names):
                    pipe.write(json.dumps([key, found]) + "\n")
                    pipe.flush()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writing)
    lines = _read(reading, time.monotonic() + request["time_s"])
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    found = dict(json.loads(line) for line in lines)
    idle = found.pop("", False)
    wanted = [cell["id"] for cell in cells if cell["test"] and cell["id"] in request["again"]]
    if request["first"] and any(one["error"] or one["failed"] for one in found.values()):
        wanted = [key for key in wanted if key in found]
    missing = _nothing("its process ended, or its time was over: does every loop come to an end?")
    return {"tests": {key: found.get(key, missing) for key in wanted}, "idle": idle}


def _nothing(error: str) -> dict[str, Any]:
    return {"points": 0.0, "max_points": 1.0, "failed": [], "error": error[:500]}


def tests(cells: Sequence[Cell], request: Mapping[str, Any], names: dict[str, Any]) -> Any:
    """Run the cells that see a change, in order; yield what each test gave, and last whether faults were idle."""
    problem = ""
    for cell in cells:
        key = cell["id"]
        if key not in request["again"]:
            continue
        source = request["sources"].get(key, cell["source"])
        if cell["test"]:
            found = _nothing(problem) if problem else tested(key, source, names, first=request["first"])
            yield key, found | {"cpu_s": time.process_time()}
            if request["first"] and (found["error"] or found["failed"]):
                return
            continue
        try:
            run(key, source, names)
        except Exception as error:
            problem = problem or f"{key}: {type(error).__name__}: {error}"
    if wrongly := sys.modules.get("autograder.proof.wrongly"):
        yield "", wrongly.idle()


def tested(key: str, source: str, names: Mapping[str, Any], *, first: bool = False) -> dict[str, Any]:
    """Run a test cell among its own names; what it imports and defines is not seen by other cells.

    A cell of another course may end without a score: it passes if nothing is raised. first: end at the first case that
    does not pass.
    """
    from labkit import check

    check.begin()
    if first:
        check._ledger.cases = _UntilOneFails()
    try:
        result = run(key, source, dict(names))
    except _Failed:
        case = asdict(check._ledger.cases[-1])
        return {"points": 0.0, "max_points": 1.0, "failed": [case], "error": ""}
    except BaseException as error:
        return _nothing(f"{type(error).__name__}: {error}")
    if not isinstance(result, check.Score):
        return {"points": 1.0, "max_points": 1.0, "failed": [], "error": "", "passed": []}
    score = result.to_dict()
    failed = [case for case in score["cases"] if not case["passed"]]
    passed = [case["title"] for case in score["cases"] if case["passed"]]
    points = {"points": score["points"], "max_points": score["max_points"]}
    return points | {"failed": failed, "error": "", "passed": passed}


def run(key: str, source: str, names: dict[str, Any]) -> Any:
    """Run a cell; return the value of its last line, if that is an expression."""
    name = f"<{key}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    tree = ast.parse(source, name)
    value = None
    if tree.body and isinstance(end := tree.body[-1], ast.Expr):
        tree.body.pop()
        value = ast.Expression(end.value)
    exec(compile(tree, name, "exec"), names)
    return None if value is None else eval(compile(value, name, "eval"), names)


def _read(descriptor: int, deadline: float) -> list[bytes]:
    content = b""
    with os.fdopen(descriptor, "rb", buffering=0) as pipe:
        while (left := deadline - time.monotonic()) > 0 and select.select([pipe], [], [], left)[0]:
            chunk = pipe.read(1 << 16)
            if not chunk:
                break
            content += chunk
    return content.split(b"\n")[:-1]


if __name__ == "__main__":
    main()
