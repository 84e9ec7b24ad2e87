"""The lock that threads get in the order in which they asked."""

from __future__ import annotations

import ctypes
import threading
import time

from autograder.boundary.turns import InTurn


def _started(function: object, *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=function, args=arguments)  # type: ignore[arg-type]
    thread.start()
    return thread


def _until_waiting(lock: InTurn, number: int) -> None:
    while len(lock._waiting) < number:
        time.sleep(0.001)


def test_threads_get_it_in_the_order_in_which_they_asked() -> None:
    lock, order = InTurn(), list[int]()

    def take(number: int) -> None:
        with lock:
            time.sleep(0.001)
            order.append(number)

    with lock:
        threads = []
        for number in range(20):
            threads.append(_started(take, number))
            _until_waiting(lock, number + 1)
    for thread in threads:
        thread.join()
    assert order == [*range(20)]


def test_who_has_it_may_take_it_again_and_nobody_else_does() -> None:
    lock, inside, most = InTurn(), list[int](), list[int]()

    def work(number: int) -> None:
        for _ in range(50):
            with lock, lock:
                inside.append(number)
                most.append(len(inside))
                time.sleep(0)
                inside.remove(number)

    for thread in [_started(work, number) for number in range(8)]:
        thread.join()
    assert len(most) == 400 and set(most) == {1}


def test_who_is_interrupted_while_waiting_leaves_the_others_their_turn() -> None:
    lock, taken = InTurn(), list[str]()

    def take(name: str) -> None:
        try:
            with lock:
                taken.append(name)
        except KeyboardInterrupt:
            taken.append(f"{name} interrupted")

    with lock:
        first = _started(take, "first")
        _until_waiting(lock, 1)
        second = _started(take, "second")
        _until_waiting(lock, 2)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(first.ident or 0), ctypes.py_object(KeyboardInterrupt)
        )
    for thread in (first, second):
        thread.join(10)
        assert not thread.is_alive()
    assert sorted(taken) in (["first interrupted", "second"], ["first", "second"])
    with lock:
        pass
