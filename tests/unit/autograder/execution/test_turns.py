from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from autograder.execution.turns import Turns


def test_many_run_beside_each_other() -> None:
    turns, together = Turns(), threading.Barrier(4)

    def run(_: int) -> None:
        with turns.beside():
            together.wait(30)  # broken unless all four are in

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(4)))


def test_who_is_alone_is_alone_and_nobody_waits_forever() -> None:
    turns, lock = Turns(), threading.Lock()
    running: list[str] = []
    most: dict[str, int] = {"alone": 0, "beside": 0}

    def run(number: int) -> None:
        kind = "alone" if number % 3 == 0 else "beside"
        with getattr(turns, kind)():
            with lock:
                running.append(kind)
                most[kind] = max(most[kind], len(running))
                assert kind == "beside" or running == ["alone"]
                assert kind == "alone" or "alone" not in running
            threading.Event().wait(0.002)
            with lock:
                running.remove(kind)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(run, range(60)))
    assert most["alone"] == 1


def test_who_waits_to_be_alone_goes_before_those_who_come_later() -> None:
    turns, order = Turns(), []

    def later() -> None:
        with turns.beside():
            order.append("beside")

    def alone() -> None:
        with turns.alone():
            order.append("alone")

    with turns.beside():
        first = threading.Thread(target=alone)
        first.start()
        while not turns._alone:
            threading.Event().wait(0.001)
        second = threading.Thread(target=later)
        second.start()
    first.join(30)
    second.join(30)
    assert order == ["alone", "beside"]
