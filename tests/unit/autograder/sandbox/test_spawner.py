"""The thread that starts sandboxes: one for the whole process, which gives back what it started, or its error."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from autograder.sandbox.spawner import Popen, started_to_stay


def sleeper() -> Popen:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


def test_whoever_asks_it_is_one_thread_that_starts_them() -> None:
    by: list[threading.Thread] = []

    def start() -> Popen:
        by.append(threading.current_thread())
        return sleeper()

    with ThreadPoolExecutor(4) as pool:
        started = list(pool.map(lambda _: started_to_stay(start), range(8)))
    for popen in started:
        popen.kill()
        popen.wait()
    assert len(started) == len({popen.pid for popen in started}) == 8
    (thread,) = set(by)
    assert thread.daemon and thread.is_alive()


def test_an_error_is_the_askers_and_the_next_is_started() -> None:
    with pytest.raises(FileNotFoundError):
        started_to_stay(lambda: subprocess.Popen(["/nowhere"]))
    popen = started_to_stay(sleeper)
    popen.kill()
    assert popen.wait() < 0


def test_what_is_started_while_its_asker_is_interrupted_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Popen] = []
    waited: list[object] = []
    result = Future.result

    def interrupted(future: Future[Popen], timeout: float | None = None) -> Popen:
        waited.append(future)
        if len(waited) == 1:
            raise KeyboardInterrupt
        return result(future, timeout)

    def start() -> Popen:
        started.append(sleeper())
        return started[-1]

    monkeypatch.setattr(Future, "result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        started_to_stay(start)
    assert started[0].wait(10) < 0
