"""Messages between ranks: they arrive whole and are counted, and a deadlock is explained."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labkit import Communicator, RankError, launch
from labkit._communicator import Endpoint
from labkit._launch.deadlock import EXCHANGE, RECEIVE, SEND, Wait, Waits, explain, read_waits, stuck

pytestmark = pytest.mark.frameworks


def to_the_next(rank: int, world_size: int, arrays: list[np.ndarray]) -> tuple[list[np.ndarray], dict[str, int]]:
    comm = Communicator()
    assert (comm.rank, comm.size) == (rank, world_size)
    after, before = (rank + 1) % world_size, (rank - 1) % world_size
    return [comm.exchange(array, after, before) for array in arrays], comm.counts()


def test_arrays_of_every_kind_arrive_as_they_were_sent() -> None:
    draw = np.random.default_rng(0)
    arrays: list[np.ndarray[Any, Any]] = [
        draw.normal(size=(3, 4)),
        draw.normal(size=7).astype(np.float32),
        np.arange(6, dtype=np.int64).reshape(2, 3)[:, ::2],
        np.array([True, False]),
        np.array(2.5),
        np.zeros((0, 3)),
        draw.normal(size=200_000),
    ]
    for came, counts in launch(to_the_next, 3, arrays):
        for got, sent in zip(came, arrays, strict=True):
            assert (got.shape, got.dtype) == (sent.shape, sent.dtype)
            assert np.array_equal(got, sent)
            assert got.flags.writeable
        assert counts == {"messages": 7, "bytes": sum(array.nbytes for array in arrays), "steps": 7}


def test_messages_of_two_ranks_keep_their_order_and_are_counted_where_they_are_sent() -> None:
    def talk(rank: int, world_size: int) -> tuple[list[float], dict[str, int]]:
        comm = Communicator()
        if rank == 0:
            for value in range(4):
                comm.send(np.array([value], np.float32), 1)
            return [], comm.counts()
        return [float(comm.recv(0)[0]) for _ in range(4)], comm.counts()

    (_, first), (values, second) = launch(talk, 2)
    assert values == [0, 1, 2, 3]
    assert first == {"messages": 4, "bytes": 16, "steps": 4}
    assert second == {"messages": 0, "bytes": 0, "steps": 4}


def test_what_is_sent_may_be_changed_at_once() -> None:
    def talk(rank: int, world_size: int) -> float:
        comm, array = Communicator(), np.full(3, float(rank))
        came = comm.exchange(array, 1 - rank, 1 - rank)
        array[:] = 9
        return float(came[0])

    assert launch(talk, 2) == [1.0, 0.0]


@pytest.mark.parametrize("talk", ["c.exchange(x, None, None)", "c.exchange(x, 1, None)", "c.exchange(x, None, 1)",
                                  "c.exchange(None, None, None)", "c.send(x, None)", "c.recv(None)",
                                  "c.exchange(x, 1.0, 1)", "c.exchange(Noisy(), 1, None)"])  # fmt: skip
def test_a_message_that_goes_to_nobody_is_no_message(talk: str) -> None:
    class Noisy:
        nbytes, shape, ndim = 1000, (), 0

    end = Endpoint(0, 2, lambda *_: np.ones(1))
    with pytest.raises((TypeError, ValueError), match=r"cannot (talk to rank|send)"):
        eval(talk, {"c": end, "x": np.ones(2), "Noisy": Noisy})
    assert end.counts() == {"messages": 0, "bytes": 0, "steps": 0}


@pytest.mark.parametrize("other", [-1, 2, 0])
def test_only_another_rank_can_be_talked_to(other: int) -> None:
    def talk(rank: int, world_size: int) -> None:
        if rank == 0:
            Communicator().send(np.ones(1), other)

    with pytest.raises(RankError, match=f"rank 0 of 2 cannot talk to rank {other}"):
        launch(talk, 2)


@pytest.mark.parametrize(
    ("value", "words"),
    [(np.array(["text"]), "cannot send 1 axes of <U4"), (None, "cannot send None")],
)
def test_what_is_no_array_of_numbers_is_refused(value: Any, words: str) -> None:
    def talk(rank: int, world_size: int) -> None:
        Communicator().exchange(value, 1 - rank, 1 - rank)

    with pytest.raises(RankError, match=words):
        launch(talk, 2)


def test_outside_a_launch_there_is_nobody_to_talk_to() -> None:
    with pytest.raises(RuntimeError, match="no other ranks here"):
        Communicator()


# ------------------------------------------------------------------------------------------------------------ deadlocks
def deadlock(fn: Callable[..., Any], world_size: int) -> str:
    start = time.monotonic()
    with pytest.raises(RankError) as caught:
        launch(fn, world_size, timeout_s=30)
    assert time.monotonic() - start < 15  # seen long before the time is up
    return str(caught.value)


def test_ranks_that_all_send_first_are_told_about_their_circle() -> None:
    def send_first(rank: int, world_size: int) -> np.ndarray:
        comm = Communicator()
        comm.send(np.ones(1), (rank + 1) % world_size)
        return comm.recv((rank - 1) % world_size)

    words = deadlock(send_first, 3)
    assert words.startswith("launch: ranks 0, 1 and 2 of 3 wait for messages that cannot come\n")
    assert "a circle: 0 for 1, 1 for 2, 2 for 0" in words
    assert "use exchange" in words
    assert "comm.send(np.ones(1)" in words
    assert "labkit/_communicator.py" not in words


def test_an_exchange_with_the_wrong_neighbour_is_explained() -> None:
    def around(rank: int, world_size: int) -> None:
        right = (rank + 1) % world_size
        Communicator().exchange(np.ones(2), right, right)

    with pytest.raises(RankError, match="a circle: 0 for 1, 1 for 2, 2 for 0") as caught:
        launch(around, 3, timeout_s=30)
    assert "who sends to the right receives from the left" in str(caught.value)


def test_ranks_that_all_receive_first_are_told_that_one_has_to_send() -> None:
    def receive_first(rank: int, world_size: int) -> None:
        comm = Communicator()
        comm.recv(1 - rank)
        comm.send(np.ones(1), 1 - rank)

    assert "one of them has to send first" in deadlock(receive_first, 2)


def test_a_rank_that_returned_while_another_waits_for_its_message_is_named() -> None:
    def one_leaves(rank: int, world_size: int) -> None:
        if rank != 1:
            Communicator().recv(1)

    words = deadlock(one_leaves, 3)
    assert "ranks 0 and 2 of 3 wait for messages that cannot come" in words
    assert "rank 1 had returned" in words


def test_a_slow_rank_is_no_deadlock() -> None:
    def slow(rank: int, world_size: int) -> float:
        comm = Communicator()
        if rank == 0:
            time.sleep(1.5)
        return float(comm.exchange(np.array([rank]), 1 - rank, 1 - rank)[0])

    assert launch(slow, 2) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("waits", "done", "found"),
    [
        ({0: Wait(SEND, 1), 1: Wait(SEND, 0)}, [], {0, 1}),
        ({0: Wait(SEND, 1), 1: Wait(RECEIVE, 0)}, [], set()),
        ({0: Wait(RECEIVE, 1), 1: Wait(RECEIVE, 2), 2: Wait(RECEIVE, 0)}, [], {0, 1, 2}),
        ({0: Wait(EXCHANGE, 1, to=1), 1: Wait(EXCHANGE, 0, to=0)}, [], set()),
        ({0: Wait(EXCHANGE, 1, to=1), 1: Wait(EXCHANGE, 2, to=2), 2: Wait(EXCHANGE, 0, to=0)}, [], {0, 1, 2}),
        ({0: Wait(EXCHANGE, 2, to=1), 1: Wait(EXCHANGE, 0, to=2), 2: Wait(EXCHANGE, 1, to=0)}, [], set()),
        ({0: Wait(SEND, 1), 1: Wait(EXCHANGE, 0, to=2), 2: Wait(RECEIVE, 1)}, [], set()),
        ({0: Wait(RECEIVE, 1), 1: Wait(EXCHANGE, 0, to=2)}, [], {0, 1}),
        ({0: Wait(SEND, 1), 1: Wait(SEND, 2), 2: Wait(RECEIVE, 0)}, [], {0, 1, 2}),
        ({0: Wait(SEND, 1), 2: Wait(RECEIVE, 0)}, [], set()),
        ({3: Wait(SEND, 0), 0: Wait(SEND, 1), 1: Wait(SEND, 0)}, [], {0, 1}),
        ({0: Wait(EXCHANGE, 1)}, [1], {0}),
        ({}, [0], set()),
    ],
)
def test_what_cannot_end(waits: dict[int, Wait], done: list[int], found: set[int]) -> None:
    assert set(stuck(waits, done)) == found


def test_each_waiting_rank_gets_a_sentence() -> None:
    assert explain({1: Wait(EXCHANGE, 0, to=2), 0: Wait(SEND, 2)}) == [
        "rank 0 waits to send to rank 2",
        "rank 1 sends to rank 2 and waits to receive, in an exchange, from rank 0",
    ]


def test_a_note_stands_while_a_rank_waits(tmp_path: Path) -> None:
    waits = Waits(tmp_path, 3)
    for number in (1, 2):
        with waits.noted(SEND, 0):
            assert read_waits(tmp_path, [3, 4]) == {3: Wait(SEND, 0, number)}
        assert read_waits(tmp_path, [3, 4]) == {}
