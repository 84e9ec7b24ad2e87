"""A job on all nodes: started together, watched together, ended together."""

from __future__ import annotations

import sys
import tarfile
import tempfile
import time
import uuid
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from typing import IO, Any

from labkit._cluster.addresses import interface_of
from labkit._cluster.blame import Ending, blame, consequence
from labkit._cluster.nodes import ClusterError, Node
from labkit._cluster.probe import Facts
from labkit._cluster.session import Ended, Line, Session
from labkit._cluster.ssh import ALIVE_S, command

__all__ = ["Job", "ranks_of", "run"]

# A rank that lost another one may report before the other's own node, which ssh gives up after ALIVE_S seconds.
_GRACE_S = ALIVE_S + 5.0
_END_S = 20.0
_KEPT_LINES = 40


@dataclass(frozen=True)
class Job:
    """What to run. ranks: a node, where its entry gives no number; 0: one a GPU, or 1.

    files: more files or folders that go along with the script. restarts: how often all ranks are started again after
    one has failed. timeout_s: for the whole job, None: no limit. port: of the rendezvous, 0: one that is free.
    interface: the network interface that ranks talk through, "": the one that the head reaches. python: the
    interpreter in an ssh session.
    """

    script: Path
    arguments: Sequence[str] = ()
    files: Sequence[Path] = ()
    ranks: int = 0
    restarts: int = 0
    timeout_s: float | None = None
    port: int = 0
    interface: str = ""
    python: str = "python"
    id: str = field(default_factory=lambda: uuid.uuid4().hex)


def ranks_of(job: Job, facts: Mapping[Node, Facts]) -> list[int]:
    """Return the number of ranks on each node: the command's, the hosts file's, or the number of its GPUs."""
    return [job.ranks or node.ranks or len(fact.gpus) or 1 for node, fact in facts.items()]


def run(job: Job, facts: Mapping[Node, Facts], show: Callable[[str, int | None, str], None]) -> None:
    """Run a job on these nodes; show(node's name, rank, line) gets every line that a rank prints.

    The first node holds the rendezvous and rank 0. When this returns or raises, nothing of the job is left on any node
    that can be reached; on the others it ends when the connection does.

    Raises ClusterError if a rank fails, a node is lost or the time is up: the one to blame first.
    """
    nodes, counts = list(facts), ranks_of(job, facts)
    events: Queue[Line | Ended] = Queue()
    sessions: list[Session] = []
    with tempfile.TemporaryFile() as archive:  # without a name: nothing is left of it, whatever happens
        pack(job, archive)
        try:
            for number, request in enumerate(requests(job, facts)):
                words = command(nodes[number], job.python)
                sessions.append(Session(number, words, request, archive, events))
            watch = _Watch(nodes, counts, show)
            watch.until(events, job.timeout_s)
        finally:
            _end(sessions, nodes)
    if problem := watch.problem(job.timeout_s):
        raise ClusterError(*problem)


def pack(job: Job, archive: IO[bytes]) -> None:
    """Write the script and the files that go along into a tar archive, each under its own name.

    Raises ClusterError if one is not there, or two have the same name.
    """
    names: dict[str, Path] = {}
    with tarfile.open(fileobj=archive, mode="w") as files:
        for path in (job.script, *job.files):
            real = path.resolve()
            if not real.exists():
                raise ClusterError(f"{path}: no such file", "give the path from here, or an absolute one")
            if real.name in names:
                raise ClusterError(f"{path}: {names[real.name]} has the same name", "they lie side by side on a node")
            names[real.name] = path
            files.add(real, arcname=real.name)
    archive.flush()


def requests(job: Job, facts: Mapping[Node, Facts]) -> list[dict[str, Any]]:
    """Return what each node is asked to run."""
    nodes, counts = list(facts), ranks_of(job, facts)
    first, port = nodes[0], job.port or facts[nodes[0]].free_port
    found = []
    for number, node in enumerate(nodes):
        own, interface = _place(node, facts)
        # The head may have several addresses: each node is told the one that it sees.
        seen = facts[node].head if first.local and not (node.local or job.interface) else _place(first, facts)[0]
        address = own if node is first else seen
        options = {
            "nnodes": len(nodes),
            "nproc-per-node": counts[number],
            "max-restarts": job.restarts,
            "monitor-interval": 0.1,
            "rdzv-backend": "ordered",
            "rdzv-endpoint": f"[{address}]:{port}" if ":" in address else f"{address}:{port}",
            "rdzv-id": job.id,
            "rdzv-conf": f"is_host={number == 0},number={number},first={address},join_timeout=120",
            "local-addr": own,
        }
        found.append(
            {
                "what": "run",
                "part": f"{job.id}.{number}",  # of its own: several nodes may be one machine
                "node": node.name,
                "script": job.script.resolve().name,
                "arguments": list(job.arguments),
                "ranks": counts[number],
                "interface": interface,
                "torchrun": options,
            }
        )
    return found


def _place(node: Node, facts: Mapping[Node, Facts]) -> tuple[str, str]:
    """Return a node's address and interface; this machine's are those that another node sees."""
    fact = facts[node]
    if fact.address:
        return fact.address, fact.interface
    seen = next((other.head for other in facts.values() if other.head), "127.0.0.1")
    return seen, interface_of(seen)


class _Watch:
    """Sees what comes from the nodes, until all have ended or it is clear why they cannot."""

    def __init__(
        self, nodes: Sequence[Node], counts: Sequence[int], show: Callable[[str, int | None, str], None]
    ) -> None:
        self._nodes, self._counts, self._show = nodes, counts, show
        self._said: dict[tuple[int, int | None], deque[str]] = defaultdict(lambda: deque(maxlen=_KEPT_LINES))
        self._ended: list[Ended] = []
        self._in_time = True

    def until(self, events: Queue[Line | Ended], timeout_s: float | None) -> None:
        """Show lines until the job has ended or its time is up."""
        deadline = time.monotonic() + (timeout_s or float("inf"))
        grace = False
        while len(self._ended) < len(self._nodes):
            if time.monotonic() > deadline:
                self._in_time = grace  # the time that is up may be the one after a failure
                return
            try:
                event = events.get(timeout=0.2)
            except Empty:
                continue
            if isinstance(event, Line):
                self._line(event)
                continue
            self._ended.append(event)
            if event.code != 0:
                if not all(consequence(ending) for ending in self._endings()):
                    self._rest(events)
                    return
                if not grace:
                    grace, deadline = True, min(deadline, time.monotonic() + _GRACE_S)

    def _rest(self, events: Queue[Line | Ended]) -> None:
        """Show what has come already."""
        while True:
            try:
                event = events.get_nowait()
            except Empty:
                return
            if isinstance(event, Line):
                self._line(event)
            else:
                self._ended.append(event)

    def _line(self, line: Line) -> None:
        rank = None if line.rank is None else sum(self._counts[: line.node]) + line.rank
        self._said[line.node, rank].append(line.text)
        if rank is not None:
            self._show(self._nodes[line.node].name, rank, line.text)

    def _endings(self) -> list[Ending]:
        endings = []
        for ended in self._ended:
            node = self._nodes[ended.node]
            for rank, code in sorted(ended.failures.items()):
                endings.append(Ending(node, rank, code, tuple(self._said[ended.node, rank])))
            if not ended.failures and ended.code != 0:
                log = tuple(ended.said.splitlines()) or tuple(self._said[ended.node, None])
                endings.append(Ending(node, None, ended.code, log))
        return endings

    def problem(self, timeout_s: float | None) -> tuple[str, str] | None:
        """Return what went wrong and a hint, or None if nothing did."""
        if not self._in_time:
            done = {ended.node for ended in self._ended}
            still = ", ".join(node.name for number, node in enumerate(self._nodes) if number not in done)
            return (
                f"the job was still running on {still} after {timeout_s:g} s",
                "a longer job needs a larger --timeout",
            )
        endings = self._endings()
        return blame(endings, sum(self._counts)) if endings else None


def _end(sessions: Sequence[Session], nodes: Sequence[Node]) -> None:
    """End the job on all nodes; say which of them have not said that nothing is left."""
    for session in sessions:
        session.close()
    deadline = time.monotonic() + _END_S
    gone = [session.join(max(0.1, deadline - time.monotonic())) for session in sessions]
    if left := [node.name for node, done in zip(nodes, gone, strict=False) if not done]:
        names = ", ".join(left)
        print(f"cluster: no answer from {names}: what runs there ends when its ssh server notices", file=sys.stderr)
