"""What only Linux has is asked for in one module, and labs run without it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit import _system

ROOT = Path(__file__).parents[3]
LINUXISMS = re.compile(
    r"sys\.platform|\bprctl\(|CDLL|sched_getaffinity|Path\(\"/(?:proc|sys)|\bpidfd|os\.unshare|epoll"
)
MARK = "LABKIT_TEST_MARK"


def test_no_other_module_of_labkit_asks_for_what_only_linux_has() -> None:
    users = {
        path.relative_to(ROOT / "labkit").as_posix()
        for path in (ROOT / "labkit").rglob("*.py")
        if LINUXISMS.search(path.read_text(encoding="utf-8").replace("import LINUX, prctl, syscall", ""))
    }
    # Confinement calls the module's own prctl, which does nothing elsewhere; beside it stand the numbers of calls.
    assert users == {"_system.py", "_launch/confinement.py", "_launch/system_calls.py"}
    assert "CDLL" not in (ROOT / "labkit/_launch/confinement.py").read_text(encoding="utf-8")


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine, as if it were no Linux."""
    monkeypatch.setattr(_system, "LINUX", False)


@pytest.fixture
def marked() -> Iterator[subprocess.Popen[bytes]]:
    sleeper = [sys.executable, "-c", "import time; print(flush=True); time.sleep(300)"]
    process = subprocess.Popen(sleeper, env={**os.environ, MARK: "this one"}, stdout=subprocess.PIPE)
    assert process.stdout
    process.stdout.readline()
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.usefixtures("elsewhere")
def test_elsewhere_nothing_is_asked_of_the_kernel_and_the_machine_is_measured_all_the_same() -> None:
    assert (_system.prctl(1, 9), _system.syscall(39)) == (-1, -1)
    assert _system.text(Path("/proc/cpuinfo")) == ""
    assert _system.cores_of_this_process() == os.cpu_count()


@pytest.mark.usefixtures("elsewhere")
def test_elsewhere_marked_processes_are_found_and_ended(marked: subprocess.Popen[bytes]) -> None:
    assert list(_system.started_with(f"{MARK}=that one")) == []
    assert list(_system.started_with(f"{MARK}=this one")) == [marked.pid]
    _system.end_marked(f"{MARK}=this one")
    assert marked.wait(10) == -signal.SIGKILL


@pytest.mark.skipif(not _system.LINUX, reason="elsewhere psutil tells")
def test_a_process_that_has_only_just_begun_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two programs a process has no environment; `Popen` returns while it is there, more often than not."""
    sleeper = [sys.executable, "-S", "-c", "import time; time.sleep(300)"]
    for _ in range(200):
        with subprocess.Popen(sleeper, env={**os.environ, MARK: "this one"}) as process:
            monkeypatch.setattr(_system, "_folders", lambda pid=process.pid: [Path(f"/proc/{pid}")])
            found = list(_system.started_with(f"{MARK}=this one"))
            process.kill()
        assert found == [process.pid]


@pytest.mark.skipif(not _system.LINUX, reason="elsewhere psutil tells")
def test_nobody_waits_for_processes_of_the_kernel() -> None:
    """Only root may ask for their environment, which is empty for ever."""
    seconds = []
    for _ in range(3):  # the fastest: others use this machine, too
        started = time.monotonic()
        list(_system.started_with(f"{MARK}=that one"))
        seconds.append(time.monotonic() - started)
    assert min(seconds) < 0.5


PARENT = """
import os, subprocess, sys, time
child = "import signal, time; from labkit._system import end_with_parent; end_with_parent(signal.SIGTERM); "
subprocess.Popen([sys.executable, "-c", child + "print('ready', flush=True); time.sleep(300)"])
time.sleep(300)
"""


@pytest.fixture
def without_linux(tmp_path: Path) -> dict[str, str]:
    """An environment in which every Python, those that ranks are forked off too, does without what only Linux has."""
    (tmp_path / "sitecustomize.py").write_text("from labkit import _system\n_system.LINUX = False\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTEST_ADDOPTS": ""}
    environment["PYTEST_DEBUG_TEMPROOT"] = str(tmp_path)  # two sessions that tidy one folder meet in it
    asked = [sys.executable, "-c", "from labkit._launch.confinement import LINUX; print(LINUX)"]
    assert subprocess.run(asked, env=environment, capture_output=True, check=True).stdout == b"False\n"
    return environment


@pytest.mark.slow
@pytest.mark.parametrize("here", [True, False], ids=["on Linux", "elsewhere"])
def test_a_process_ends_with_the_one_that_started_it(here: bool, without_linux: dict[str, str]) -> None:
    environment = dict(os.environ) if here else without_linux
    parent = subprocess.Popen([sys.executable, "-c", PARENT], env=environment, stdout=subprocess.PIPE)
    assert parent.stdout
    with parent.stdout as output:
        assert output.readline() == b"ready\n"
        parent.kill()
        parent.wait()
        assert output.read() == b""  # the child has the pipe open as long as it lives


OF_RANKS = [
    "test_launch.py::test_values_come_back_ordered_by_rank_after_a_collective",
    "test_launch.py::test_the_guilty_rank_is_named_with_its_traceback",
    "test_launch.py::test_a_fresh_process_has_no_rank_and_its_own_environment",
    "test_launch.py::test_what_may_only_write_in_its_folder_writes_there",
    "test_launch.py::test_ranks_end_when_the_process_that_launched_them_is_killed",
    "test_communicator.py",
]


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.frameworks
def test_ranks_work_without_what_only_linux_has(without_linux: dict[str, str]) -> None:
    tests = [str(Path(__file__).parent / name) for name in OF_RANKS]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(
        command, cwd=ROOT, env=without_linux, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
