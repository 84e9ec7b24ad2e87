"""Processes beside a notebook: what they print, how they end, and that nothing of them stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from labkit import background

LONG_S = 600


def sleeper(word: str) -> None:
    print(word, os.getpid(), flush=True)
    time.sleep(LONG_S)


def gone(pid: int, within_s: float = 20.0) -> bool:
    ends = time.monotonic() + within_s
    while time.monotonic() < ends:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.05)
    return False


def test_a_function_runs_beside_this_process_until_the_block_is_left() -> None:
    with background(sleeper, "hello") as process:
        assert int(process.find(r"hello (\d+)")[1]) == process.pid != os.getpid()
        assert "running" in repr(process)
    assert "ended with 143" in repr(process)
    assert "hello" in process.text
    assert gone(process.pid)


def test_it_ends_by_itself_with_its_exit_code() -> None:
    def brief(x: int) -> None:
        print(x + 1)

    with background(brief, 41) as process:
        assert process.wait() == 0
        assert process.text == "42\n"


def test_a_program_of_python_runs_too() -> None:
    with background("json.tool", "--help") as process:
        assert process.wait() == 0
        assert "usage" in process.text


def test_it_ends_when_an_exception_leaves_the_block() -> None:
    with pytest.raises(KeyboardInterrupt), background(sleeper, "hello") as process:
        process.find("hello")
        raise KeyboardInterrupt
    assert gone(process.pid)


def test_kill_gives_it_no_chance_to_say_goodbye() -> None:
    with background(sleeper, "hello") as process:
        process.find("hello")
        process.kill()
        process.kill()  # it has gone already: nothing happens
        assert process.code == -signal.SIGKILL
        with pytest.raises(RuntimeError, match=r"ended with -9 and never printed 'other'"):
            process.find("other")


def test_what_it_started_ends_with_it() -> None:
    def parent() -> None:
        child = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({LONG_S})"])
        print("child", child.pid, flush=True)
        time.sleep(LONG_S)

    with background(parent) as process:
        child = int(process.find(r"child (\d+)")[1])
    assert gone(child)


def test_it_ends_when_the_process_that_started_it_is_killed(tmp_path: Path) -> None:
    code = (
        "import time; from labkit import background\n"
        "def sleeper(): print('here', flush=True); time.sleep(600)\n"
        "with background(sleeper) as process:\n"
        "    process.find('here'); print(process.pid, flush=True); time.sleep(600)\n"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    ) as one:
        assert one.stdout is not None
        pid = int(one.stdout.readline())
        one.kill()
    assert gone(pid)


def test_waiting_has_an_end() -> None:
    with background(sleeper, "hello") as process:
        with pytest.raises(TimeoutError, match=r"printed no .other. in 0\.1 s"):
            process.find("other", timeout_s=0.1)
        with pytest.raises(TimeoutError, match=r"running after 0\.1 s"):
            process.wait(timeout_s=0.1)


def test_wrong_arguments_are_named_before_anything_starts() -> None:
    with pytest.raises(TypeError, match="sleeper does not take these arguments"), background(sleeper):
        pass


def test_an_error_in_the_function_is_in_what_it_printed() -> None:
    def fails() -> None:
        raise ValueError("no such thing")

    with background(fails) as process:
        assert process.wait() == 1
        assert "ValueError: no such thing" in process.text
