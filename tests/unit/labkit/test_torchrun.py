"""torchrun on one host and on two: ranks that work, die and come back, fail and hang; nothing of them is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from labkit import ProcessError, torchrun
from labkit._launch import torchrun_agents

pytestmark = [pytest.mark.slow, pytest.mark.frameworks, pytest.mark.skipif(sys.platform != "linux", reason="Linux")]

SUM = """
import os, signal, sys
import torch
from torch import distributed as dist
dist.init_process_group("gloo")
rank, life = dist.get_rank(), int(os.environ["TORCHELASTIC_RESTART_COUNT"])
total = torch.tensor([rank + 1.0])
dist.all_reduce(total)
if sys.argv[1] == "dies" and (rank, life) == (1, 0):
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[1] == "fails" and rank == 1:
    raise ValueError("of rank 1")
dist.barrier()
print(f"rank {rank} of {dist.get_world_size()}, life {life}: {total.item():g}\\n", end="", flush=True)
dist.destroy_process_group()
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(SUM)
    return path


def said(lines: list[str]) -> list[str]:
    return sorted(line for line in lines if line.startswith("rank "))


def left_of(script: Path) -> list[int]:
    """Return the processes that run this script, or an agent that was to run it."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if str(script).encode() in words and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


@pytest.fixture
def sleeping(tmp_path: Path) -> tuple[Path, list[str]]:
    """A script that sleeps, and the command of a process that runs it in two ranks."""
    script = tmp_path / "sleeps.py"
    script.write_text("import time\ntime.sleep(300)")
    return script, [sys.executable, "-c", f"from labkit import torchrun\ntorchrun({str(script)!r}, timeout_s=200)"]


def nothing_is_left_of(script: Path) -> bool:
    """Wait until nothing is left."""
    for _ in range(1200):  # two minutes, for a machine that has much else to do
        if not left_of(script):
            return True
        time.sleep(0.1)
    raise AssertionError(left_of(script))


@pytest.mark.parametrize(("hosts", "ranks"), [pytest.param(1, 2, marks=pytest.mark.thorough), (2, 1)])
def test_one_script_runs_on_one_host_and_on_two(hosts: int, ranks: int, script: Path) -> None:
    lines = torchrun(script, "works", hosts=hosts, ranks=ranks)
    assert said(lines) == ["rank 0 of 2, life 0: 3", "rank 1 of 2, life 0: 3"]
    assert not left_of(script)


def test_ranks_come_back_after_one_was_killed(script: Path) -> None:
    lines = torchrun(script, "dies", restarts=1)
    assert said(lines) == ["rank 0 of 2, life 1: 3", "rank 1 of 2, life 1: 3"]


def test_a_rank_that_fails_is_shown_with_its_traceback_first(script: Path) -> None:
    with pytest.raises(ProcessError) as caught:
        torchrun(script, "fails")
    head, _, trace = str(caught.value).partition("\n\n")
    assert head == "torchrun: the agents ended with exit codes [1]"
    assert 'raise ValueError("of rank 1")' in trace and "ValueError: of rank 1" in trace
    assert "torch/distributed/run.py" not in trace


def test_a_job_that_hangs_ends_in_time_and_leaves_nothing(tmp_path: Path) -> None:
    script = tmp_path / "hangs.py"
    script.write_text("import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(300)")
    started = time.monotonic()
    with pytest.raises(ProcessError, match="the job was still running after 8 s"):
        torchrun(script, hosts=2, ranks=1, timeout_s=8)
    assert time.monotonic() - started < 40
    assert not left_of(script)


def test_an_agent_ends_with_the_process_that_started_it(sleeping: tuple[Path, list[str]]) -> None:
    script, command = sleeping
    parent = subprocess.Popen(command)
    for _ in range(600):
        if len(left_of(script)) >= 4:  # the parent, an agent, two ranks
            break
        time.sleep(0.1)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert nothing_is_left_of(script)


def test_ranks_that_are_being_started_end_too(
    sleeping: tuple[Path, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torchrun notes them when all are started: those that it had when SIGTERM came, it did not know of."""
    script, command = sleeping
    (tmp_path / "sitecustomize.py").write_text(f"""
import os, signal, subprocess, time
start = subprocess.Popen.__init__
def fatal(self, *arguments, **options):
    start(self, *arguments, **options)
    if "TORCHELASTIC_RUN_ID" in (options.get("env") or ()):  # a rank
        open({str(tmp_path / "started")!r}, "w").close()
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
subprocess.Popen.__init__ = fatal
""")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert (tmp_path / "started").exists()
    assert nothing_is_left_of(script)


def test_an_agent_whose_parent_has_gone_before_it_could_say_so_ends() -> None:
    code = "from labkit._launch.torchrun_agents import ending_with\nwith ending_with(1, 'NO_SUCH=mark'): print('begun')"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (143, "")


def test_a_wrong_call_starts_nothing(tmp_path: Path, script: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such script"):
        torchrun(tmp_path / "none.py")
    with pytest.raises(ValueError, match="ranks=0"):
        torchrun(script, ranks=0)


def test_the_log_of_agents_is_not_what_ranks_said() -> None:
    lines = [
        "W1121 23:20:50 closing",
        "mine",
        "Traceback (most recent call last):",
        '  File "<string>", line 1, in <module>',
        "x",
    ]
    assert torchrun_agents._of_ranks(lines) == ["mine"]
    assert torchrun_agents._of_ranks(["a", "b"]) == ["a", "b"]
