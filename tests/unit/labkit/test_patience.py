"""What a rank may take is reckoned without the time in which others have the processors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from labkit import _system
from labkit._launch.patience import MOST, Patience, present

pytestmark = pytest.mark.skipif(not _system.LINUX, reason="elsewhere nobody tells how long a process has waited")


def test_time_without_a_processor_is_not_counted(tmp_path: Path) -> None:
    core = min(os.sched_getaffinity(0))
    pinned = [sys.executable, "-c", f"import os; os.sched_setaffinity(0, {{{core}}})\nwhile True: pass"]
    others = [subprocess.Popen(pinned) for _ in range(4)]
    try:
        for rank, process in enumerate(others[:2]):
            present(tmp_path, rank, process.pid)
        patience = Patience(tmp_path, 2, 1.0)
        time.sleep(1.5)
        held_up = 0.5 + patience.left()
        assert held_up > 0.5  # each of four has the core a quarter of the time
    finally:
        for process in others:
            process.send_signal(signal.SIGKILL)
            process.wait()


def test_who_sleeps_or_is_not_there_has_as_long_as_the_clock_says(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as asleep:
        present(tmp_path, 0, asleep.pid)
        patience = Patience(tmp_path, 2, 1.0)
        time.sleep(1.0)
        assert patience.left() < 0.5
        asleep.kill()


@pytest.mark.parametrize("said", ["", "x", "-1", "1/../2", "0"])
def test_what_is_no_process_is_nobody(said: str, tmp_path: Path) -> None:
    (tmp_path / "process-0").write_text(said)
    assert Patience(tmp_path, 1, 1.0).left() <= 1.0


def test_there_is_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    present(tmp_path, 0, os.getpid())
    monkeypatch.setattr(_system, "text", lambda _path: f"1 {10**15} 1")
    assert MOST - 0.5 < Patience(tmp_path, 1, 1.0).left() <= MOST
