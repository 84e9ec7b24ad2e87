"""Collectives between ranks, the trusted end: the links between the student's ranks are the test's own.

Each rank is a thread here that plays `labkit.count.collective`, and a process that has the student's function and
answers it over a socket of its own (see rank_host).
Messages go from rank to rank through this process: what was sent, and to whom, was seen here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.boundary.frames import Carrier, Connection, ProcessDied, WireError
from autograder.boundary.handles import plain, plain_all
from autograder.boundary.network import LinkDown, Network
from autograder.boundary.peer import Peer
from autograder.boundary.rank_failures import failure, whole
from autograder.boundary.replay import Replay, Told, chosen, is_same
from autograder.boundary.trusted import Trusted
from labkit._collective import Job, by_job, play
from labkit._launch.errors import RankError
from labkit._launch.fresh_process import as_process_error

__all__ = ["MOST_RANKS", "Host", "collective", "computed"]

MOST_RANKS = 64
_JOIN_S = 5.0


class Host:
    """The process that starts the ranks, as tests ask it: see rank_host."""

    def __init__(self, connection: Carrier) -> None:
        self.connection = connection
        self.peer = Peer(connection, Trusted(), writable=False, only_when_asked=False)
        self._launches = 0

    def begin(self, deadline: float | None) -> Peer:
        """Return who to ask for one launch more."""
        self._launches += 1
        self.peer.begin(self._launches)
        self.peer.deadline = deadline
        return self.peer


def collective(
    peer: Peer,
    host: Host | None,
    fn: Any,
    jobs: Sequence[Job],
    *,
    gains: Sequence[float] = (1,),
    timeout_s: float = 20.0,
) -> list[list[dict[str, Any]]]:
    """Do what labkit.count.collective does, with fn of the student's. Raises what it raises, and what Peer.ask does.

    peer: who speaks with the process that fn lies in. host: with the one that starts ranks.
    """
    jobs = [plain_all(job) for job in jobs]
    if not jobs or not gains or not 1 <= (size := max(size for size, *_ in jobs)) <= MOST_RANKS:
        raise ValueError(f"collective: expected at least one job and one gain, and 1 to {MOST_RANKS} ranks")
    if host is None:
        raise WireError("no process was started for the ranks of this notebook")

    def job(rank: _Rank, fn: Any) -> list[dict[str, Any] | None]:
        return play(rank.number, rank.carry, fn, jobs, gains, rank.watched, whole)

    launch = _Launch(peer, host, _packed(peer, fn), size, timeout_s, job)
    ranks = launch.run(Network(size), range(size))
    if (again := chosen(jobs)) is not None:
        _run_again(launch, ranks[again])
    return by_job([rank.found for rank in ranks], jobs, gains)


def computed(peer: Peer, host: Host, fn: Any, *args: Any, timeout_s: float = 60.0) -> Any:
    """Do what labkit.in_fresh_process does with only_compute, with fn of the student's; see `collective`.

    The student's process has no part in it but to pack fn: it is told neither the arguments nor what comes of them.
    """
    args = tuple(map(plain_all, args))
    launch = _Launch(peer, host, _packed(peer, fn), 1, timeout_s, lambda _rank, fn: whole(fn(*args)))
    try:
        return launch.run(Network(1), [0])[0].found
    except RankError as error:
        raise as_process_error(error, "the function") from error.__cause__


def _packed(peer: Peer, fn: Any) -> bytes:
    packed = plain(peer.ask("packed", fn))
    if type(packed) is not bytes:
        raise WireError("a function that was not packed")
    return packed


@dataclass(frozen=True)
class _Launch:
    """What is launched, and who is asked to."""

    peer: Peer
    host: Host
    packed: bytes
    size: int
    timeout_s: float
    job: Callable[[_Rank, Any], Any]

    def run(self, network: Network, numbers: Sequence[int]) -> list[_Rank]:
        """Return the ranks of these numbers, all or one, when they have done the job. Raises what launch raises."""
        asked = self.host.begin(self.peer.deadline)
        ranks = [_Rank(number, asked, network, self.job) for number in numbers]
        try:
            with _running(self.host, ranks, network, self.timeout_s) as failed:
                try:
                    asked.ask("launch", None, [self.packed, self.size, self.timeout_s, [*numbers]])
                except Exception:  # a process that ended by itself: the launch knows how
                    if not failed:
                        raise
        except BaseException:
            asked.deadline = None
            with suppress(ProcessDied):
                asked.send("stop")
            raise
        finally:
            self.peer.refused = self.peer.refused or any(rank.refused for rank in ranks)
        if failed:
            raise failed[0]
        if any(not rank.ended_well for rank in ranks):
            raise WireError("the ranks ended before the test was done with them")
        return ranks


def _run_again(launch: _Launch, rank: _Rank) -> None:
    """Run one rank again, alone, with the messages that came to it. Raises RankError unless it does the same."""
    network, found = Replay(rank.told), None
    with suppress(RankError, WireError):  # what it says of itself now, it may have from elsewhere
        found = launch.run(network, [rank.number])[0]
    if found is None or not network.complete or not is_same(found.found, rank.found):
        raise RankError(
            f"rank {rank.number} of {launch.size} did something else when it was run once more with its own numbers "
            "and the messages that had come to it",
            rank=rank.number,
            hint="what a rank sends and returns has to follow from these, and from nothing else",
        )


@contextmanager
def _running(host: Host, ranks: Sequence[_Rank], network: Network, timeout_s: float) -> Iterator[list[Exception]]:
    """Let the ranks run while the body does; into the list that it is given comes how they failed, if they do."""
    failed: list[Exception] = []
    awaited, peer = {rank.number: rank for rank in ranks}, host.peer

    def errors() -> dict[int, BaseException]:
        return {rank.number: rank.error for rank in ranks if rank.error is not None}

    def supervise() -> None:
        if not network.ended(timeout_s) and not network.down:
            failed.append(failure(errors, len(ranks), network, timeout_s))
        network.shut()
        for rank in ranks:
            rank.end()
        with suppress(ProcessDied):
            peer.send("over")

    def enter(message: dict[str, Any]) -> None:
        stream, number = host.connection.taken_over(), message["rank"]
        if message.get("cell") == peer.cell and type(number) is int and number in awaited:
            awaited.pop(number).enter(Connection(stream))
            return
        stream.close()
        if message.get("cell") == peer.cell:  # else of a launch that was given up
            raise WireError("a rank that nobody waits for")

    threads = [*ranks, threading.Thread(target=supervise, daemon=True)]
    peer.aside = enter
    for thread in threads:
        thread.start()
    try:
        yield failed
    finally:
        network.shut()
        for rank in ranks:
            rank.hang_up()
        for thread in threads:
            thread.join(_JOIN_S)
        for rank in ranks:
            rank.close()


class _Rank(threading.Thread):
    """One rank: what it found, or the error that ended it."""

    def __init__(self, rank: int, main: Peer, network: Network, job: Callable[[_Rank, Any], Any]) -> None:
        super().__init__(daemon=True)
        self.number, self._network, self._job = rank, network, job
        self._deadline = main.deadline
        self._tests = Trusted()
        self._link: Connection | None = None
        self._changing = threading.Lock()
        self._told, self._entered, self._over = False, threading.Event(), threading.Event()
        self.refused = False
        self.found: Any = None
        self.told = Told()
        self.error: BaseException | None = None
        self.ended_well = False

    def run(self) -> None:
        self._entered.wait()
        try:
            if self._link is not None:
                self._play(Peer(self._link, self._tests, writable=False, only_when_asked=False))
        except LinkDown:
            pass
        except ProcessDied:  # the launch knows how
            self._over.wait()
        except BaseException as error:
            self.error = error
        finally:
            self._network.end(self.number, failed=self.error is not None)

    def _play(self, peer: Peer) -> None:
        peer.deadline = self._deadline
        peer.begin(1)
        self._tests.begin(peer)
        try:
            peer.next()
            self._network.begin(self.number)
            fn = peer.ask("name", None, ["fn"])
            self.found = self._job(self, fn)
            self.ended_well = True
        finally:
            self.refused = peer.refused

    def carry(self, array: np.ndarray | None, to: int | None, source: int | None) -> np.ndarray | None:
        """Take one step of its `comm`."""
        came = self._network.carry(self.number, array, to, source)
        self.told.note(array, to, came, source)
        return came

    def enter(self, link: Connection) -> None:
        """Speak with its process, which has come."""
        with self._changing:
            self._link = link
            told = self._told
        if told:
            self.end()
        self._entered.set()

    def end(self) -> None:
        """Tell its process, when it has come, that it has ended."""
        with self._changing:
            self._told = True
            link = self._link
        if link is not None:
            with suppress(ProcessDied):
                link.send({"k": "end", "cell": 1})

    def hang_up(self) -> None:
        """Let it not wait for its process, nor that for it."""
        self._over.set()
        self._entered.set()
        if self._link is not None:
            self._link.shut()

    def close(self) -> None:
        """Close the socket to its process."""
        if self._link is not None:
            self._link.close()

    def watched(self, x: Any) -> Callable[[], bool]:
        """Return a function that says later whether it has left an argument as it was."""
        self._tests.forget_changes(x)
        return lambda: not self._tests.was_changed(x)
