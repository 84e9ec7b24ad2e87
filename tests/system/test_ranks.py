"""Ranks of a student's function in the grader: each way to fail is explained, ends in time and leaves nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from autograder.execution import Checks, Executor, preloads
from autograder.grading.scoring import score_notebook
from autograder.model import CellSpec, Limits
from autograder.sandbox import choose
from tests.system.executions import notebook

pytestmark = [pytest.mark.slow, pytest.mark.frameworks]

LIMITS = Limits(cell_time_s=20, total_time_s=60, memory_mib=6144, output_kib=64)
RANKS = """
import os, time
import numpy as np
from labkit import Communicator

def total(comm):
    return comm.exchange(np.ones(3), 1 - comm.rank, 1 - comm.rank).sum()

def total_of_four(comm):
    return sum(float(comm.exchange(np.full(1, comm.rank), to, to)[0]) for to in others(comm)) + comm.rank

def others(comm):
    return [comm.rank ^ bit for bit in (1, 2, 3)]

def crash(comm):
    if comm.rank == 1:
        return np.ones(3)[5]
    return comm.recv(1)

def exit_early(comm):
    if comm.rank == 1:
        os._exit(3)
    return comm.recv(1)

def return_early(comm):
    return None if comm.rank == 1 else comm.recv(1)

def everyone_sends(comm):
    comm.send(np.ones(3), 1 - comm.rank)
    return comm.recv(1 - comm.rank)

def hang(comm):
    while comm.rank == 1:
        time.sleep(0.1)
    return comm.recv(1)

def leave_a_process(comm):
    if os.fork() == 0:
        time.sleep(600)
    return 1

def begin(rank, world_size, fn):
    return fn(Communicator())

def processes():
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())

def listening():
    lines = [line.split() for line in open("/proc/net/tcp").read().splitlines()[1:]]
    return sorted(line[1] for line in lines if line[3] == "0A")

def left(look, before):
    for _ in range(400):  # 20 s, for a machine that has much else to do
        if set(look()) <= set(before):
            break
        time.sleep(0.05)
    return sorted(set(look()) - set(before))
"""
TEST = """#test t
from labkit import check, launch
with check.case("first"):
    check.equal(launch(begin, 2, total), [3.0, 3.0])
before, ports = processes(), listening()
for name, fn in (
    ("crash", crash), ("exit_early", exit_early), ("return_early", return_early),
    ("everyone_sends", everyone_sends), ("hang", hang),
):
    with check.case(name):
        launch(begin, 2, fn, timeout_s=6 if fn is hang else 15)
with check.case("a process of its own"):
    check.equal(launch(begin, 2, leave_a_process), [1, 1])
with check.case("no process left"):
    check.equal(left(processes, before), [])
with check.case("no port left"):
    check.equal(left(listening, ports), [])
with check.case("again and again"):  # a store whose locks hold nobody lost a rank in one of ten
    check.equal([launch(begin, 4, total_of_four) for _ in range(20)], [[6.0] * 4] * 20)
with check.case("again"):
    check.equal(launch(begin, 2, total), [3.0, 3.0])
check.score(10)
"""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(True, id="in a process of their own"),
        pytest.param(False, id="in the student's kernel", marks=pytest.mark.thorough),
    ],
)
def messages(request: pytest.FixtureRequest) -> dict[str, str]:
    """What each case says, empty if it passed: tests isolated, and in the kernel as a notebook runs them."""
    cells = RANKS, TEST
    checks = Checks(isolated=frozenset({"t"}) if request.param else frozenset())
    with Executor(choose(), preloads(cells, ("numpy", "torch"))) as executor:
        execution = executor.run(notebook(*cells), limits=LIMITS, files={}, checks=checks)
    row = CellSpec("t", "code", TEST, "", True, True, False, False, 10.0)
    (score,) = score_notebook("ranks", execution, [row])
    return {case["title"]: case["message"] for case in score.cases}


def test_the_guilty_rank_comes_first_with_its_traceback(messages: dict[str, str]) -> None:
    first, _, trace = messages["crash"].partition("\n\n")
    assert "rank 1 of 2 raised IndexError: index 5 is out of bounds" in first
    assert trace.startswith("rank 1: Traceback") and "in crash\n    return np.ones(3)[5]" in trace


def test_a_rank_that_ends_early_is_blamed_and_not_the_one_that_lost_it(messages: dict[str, str]) -> None:
    assert "rank 1 of 2 ended with exit code 3 before it returned" in messages["exit_early"]
    assert "rank 0 lost the connection: a consequence, not the cause" in messages["exit_early"]


def test_waiting_for_a_rank_that_has_returned_is_explained(messages: dict[str, str]) -> None:
    assert "rank 1 had returned\n      rank 0 waits to receive from rank 1" in messages["return_early"]


def test_a_deadlock_is_explained(messages: dict[str, str]) -> None:
    assert "a circle: 0 for 1, 1 for 0" in messages["everyone_sends"]
    assert "in everyone_sends\n    comm.send(" in messages["everyone_sends"]


def test_a_hang_ends_in_time_with_the_rank_that_hung_first(messages: dict[str, str]) -> None:
    said, _, trace = messages["hang"].partition("\n\n")
    assert "still running after 6 s" in said and "rank 0 waits to receive from rank 1" in said
    assert trace.startswith("rank 1 was here when the time was up") and "in hang" in trace.split("rank 0")[0]


def test_nothing_is_left_behind_and_the_next_launch_works(messages: dict[str, str]) -> None:
    assert all(messages[name] == "" for name in ("first", "again and again", "again", "a process of its own"))
    assert messages["no process left"] == messages["no port left"] == ""


def _said(code: str, test: str, files: Mapping[str, Path] | None = None) -> dict[str, str]:
    """Return what each case of an isolated test says, empty if it passed."""
    checks = Checks(isolated=frozenset({"t"}))
    with Executor(choose(), preloads((code, test, "launch("), ("numpy", "torch"))) as executor:
        execution = executor.run(notebook(code, test), limits=LIMITS, files=files or {}, checks=checks)
    row = CellSpec("t", "code", test, "", True, True, False, False, 1.0)
    (score,) = score_notebook("ranks", execution, [row])
    return {case["title"]: case["message"] for case in score.cases}


PACKER = """
import labkit, labkit._launch.fresh_process as fresh

KEPT = []

def write(numbers):
    KEPT.append(list(numbers))
    return b"ticket %d" % (len(KEPT) - 1)

def read(data):
    return KEPT[int(data.split()[1])] if KEPT else "nothing was kept"

labkit.in_fresh_process = fresh.in_fresh_process = lambda fn, *args, **more: fn(*args)
"""


def test_a_process_that_only_computes_is_not_of_the_student_s_making() -> None:
    said = _said(PACKER, """#test t
from labkit import check, in_fresh_process
with check.case("what was written is read"):
    data = in_fresh_process(write, [1.5, 2.5], only_compute=True)
    check.equal(in_fresh_process(read, data, only_compute=True), [1.5, 2.5])
check.score(1)
""")  # fmt: skip
    assert said["what was written is read"] == "expected the list [1.5, 2.5], got the str 'nothing was kept'"


HUB = """
import builtins, sys
import numpy as np

SEEN, own = [], builtins.print

def collected(*texts, **options):
    SEEN.append(repr(texts))
    frame = sys._getframe()
    while frame is not None:  # the pipes of a launch of this process would lie in one of these
        SEEN.extend(repr(value) for value in frame.f_locals.values() if type(value).__name__ == "Run")
        frame = frame.f_back

builtins.print = collected

def total(comm, x):
    print("x of", comm.rank, x.tolist(), flush=True)
    return x + comm.exchange(x, 1 - comm.rank, 1 - comm.rank)

def failing(comm, x):
    print("x of", comm.rank, x.tolist(), flush=True)
    if comm.rank == 0:
        raise ValueError(f"{x.tolist()}")
    return comm.recv(0)

def heard():
    return [text for text in SEEN if "x of" in text or "Run" in text]
"""
ASKING = """#test t
import contextlib
import numpy as np
from labkit import RankError, check, count
jobs = [(2, [np.ones(2), np.full(2, 7.0)])]
with check.case("sums"):
    check.close(count.collective(total, jobs)[0][0]["value"], [8.0, 8.0])
with contextlib.suppress(RankError):
    count.collective(failing, jobs, timeout_s=6)
with check.case("after one that failed"):
    check.close(count.collective(total, jobs)[0][1]["value"], [8.0, 8.0])
with check.case("nothing is heard"):
    check.equal(heard(), [])
check.score(3)
"""


def test_no_process_with_the_student_s_code_hears_of_a_rank_but_that_rank() -> None:
    """A kernel that hears two ranks could add up what should have travelled between them."""
    said = _said(HUB, ASKING)
    assert said == dict.fromkeys(["sums", "after one that failed", "nothing is heard"], "")


def test_a_function_of_a_module_that_a_cell_has_written_comes_to_the_ranks() -> None:
    written = (
        "from pathlib import Path\n"
        "Path('helper.py').write_text('def doubled(x):\\n    return 2 * x\\n')\n"
        "import helper\n"
        "def total(comm, x):\n    return helper.doubled(x)\n"
    )
    test = (
        "#test t\nimport numpy as np\nfrom labkit import check, count\n"
        "with check.case('doubled'):\n"
        "    check.close(count.collective(total, [(1, [np.ones(2)])])[0][0]['value'], [2.0, 2.0])\n"
        "check.score(1)\n"
    )
    said = _said(written, test)
    assert list(said.values()) == [""]


def test_no_rank_finds_what_ranks_before_have_looked_up(tmp_path: Path) -> None:
    """Files that were handed in, too: nothing of a rank's is left where the one that runs again could look."""
    handed_in = {"bits/1": tmp_path / "1"}
    handed_in["bits/1"].write_text("1")
    code = (
        "import os\n"
        "def read(comm, x):\n"
        "    for look in (os.stat, os.path.exists, open, os.listdir):\n"
        "        try:\n"
        "            if look('bits') and look is not os.path.exists:\n"
        "                return 1.0\n"
        "        except OSError:\n"
        "            pass\n"
        "    return float(os.path.exists('bits/1'))\n"
    )
    test = (
        "#test t\nimport numpy as np\nfrom labkit import check, count\n"
        "with check.case('unseen'):\n"
        "    check.equal([done['value'] for done in count.collective(read, [(2, [np.ones(2)] * 2)])[0]], [0.0, 0.0])\n"
        "check.score(1)\n"
    )
    said = _said(code, test, handed_in)
    assert list(said.values()) == [""]
