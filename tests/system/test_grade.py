"""A class in which most go wrong: each submission ends in a status of its own, and the others are graded."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.course import open_course
from autograder.execution.time_limit import PATIENCE
from autograder.grading.outcome import Outcome
from autograder.model import Status
from autograder.sandbox import choose
from tests.system.courses import ADD, DOUBLE, FULL, answered, cell, copied, edited, grade, hand_in, points

pytestmark = pytest.mark.slow

GRADED, PARTLY = Status.GRADED, Status.PARTLY_GRADED
KERNEL = f"{DOUBLE}\nkernel = get_ipython().kernel\n"
# What stands in the second task's cell (the first is right, 2 points; the second is worth 3), and what comes of it.
ENDINGS: dict[str, tuple[str, Status, float, str]] = {
    "endless": ("while True: pass", PARTLY, 2, "cell 'double' was stopped after"),
    "deaf": (
        "import time\nwhile True:\n    try:\n        time.sleep(0.1)\n    except BaseException:\n        pass",
        PARTLY,
        2,
        "the process did not answer the interrupt and was ended",
    ),
    "exits": ("import os\nos._exit(0)", PARTLY, 2, "the Python process died in cell 'double'"),
    "kills_itself": ("import os\nos.kill(os.getpid(), 9)", PARTLY, 2, "the Python process died in cell 'double'"),
    "kills_all": (f"{DOUBLE}\nimport os\nos.kill(-1, 9)", GRADED, 5, ""),
    "crashes": ("import ctypes\nctypes.string_at(0)", PARTLY, 2, "the Python process died in cell 'double'"),
    "wants_memory": (f"{DOUBLE}\nx = bytearray(1 << 33)", GRADED, 5, ""),
    # How much of such a flood arrives before that depends on the machine.
    "floods": ("while True: print('x' * 1000)", PARTLY, 2, "cell 'double' was stopped after"),
    "floods_below": ("import os\nwhile True: os.write(1, b'x' * 65536)", PARTLY, 2, "cell 'double' was stopped after"),
    "forgot_a_print": (
        f"{DOUBLE}\nfor i in range(3000): print('x' * 1000)",
        GRADED,
        5,
        "more than 64 KiB of output: the rest was dropped",
    ),
    "prints_100_mib": (
        f"print('x' * (100 << 20))\n{DOUBLE}",
        Status.GRADED,
        5,
        "not all that cell 'double' put out has arrived",
    ),
    "displays": (
        f"{DOUBLE}\nfor i in range(2000): display(i)",
        GRADED,
        5,
        "more than 64 KiB of output: the rest was dropped",
    ),
    "invents_errors": (
        f"{KERNEL}error = dict(ename='x' * 500, evalue='', traceback=[])\n"
        "for i in range(200): kernel.send_response(kernel.iopub_socket, 'error', error)",
        GRADED,
        5,
        "more than 64 KiB of output: the rest was dropped",
    ),
    "sends_nonsense": (
        f"{KERNEL}kernel.session.send(kernel.iopub_socket, 'execute_result', {{}}, parent=kernel.get_parent())",
        GRADED,
        5,
        "",
    ),
    "sends_unsigned": (
        f"{KERNEL}kernel.iopub_socket.send_multipart([b'junk'])",
        PARTLY,
        2,
        "what the Python process sent in cell 'double' cannot be read",
    ),
    "exits_politely": (f"{DOUBLE}\nimport sys\nsys.exit()", GRADED, 5, ""),
    "asks": (f"{DOUBLE}\ninput()", GRADED, 5, ""),
    "calls_a_shell": (f"get_ipython().system('echo hello; exit 3')\n{DOUBLE}", GRADED, 5, ""),
    "closes_output": (f"import os, sys\nsys.stdout.close()\nos.close(1)\nos.close(2)\n{DOUBLE}", GRADED, 5, ""),
    "starts_threads": (
        "import threading, time\n"
        "def talk():\n    while True:\n        time.sleep(0.01)\n        print('talk')\n"
        f"threading.Thread(target=talk).start()\n{DOUBLE}",
        GRADED,
        5,
        "",
    ),
    "leaves_a_daemon": (
        f"import subprocess\nsubprocess.Popen('setsid sleep 4242 &', shell=True)\n{DOUBLE}",
        GRADED,
        5,
        "",
    ),
    "prints_no_unicode": (f"{DOUBLE}\nprint('\\ud800')\nraise ValueError('\\udcff\\ud800')", GRADED, 5, ""),
    "is_no_unicode": ("\ud800", GRADED, 2, ""),
}


@pytest.fixture(scope="module")
def course(tiny_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tiny_template, tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def outcomes(course: Path) -> dict[str, Outcome]:
    for student, (code, *_) in ENDINGS.items():
        notebook = answered(course, add=ADD, double=code)
        hand_in(course, student, nbformat.writes(notebook).encode("ascii", "backslashreplace"))
    hand_in(course, "computes", edited(answered(course, **FULL), _compute_between_the_tasks))
    hand_in(course, "honest", answered(course, **FULL))
    return grade(course)


def _compute_between_the_tasks(cells: list[Any]) -> None:
    place = next(number for number, cell in enumerate(cells) if cell.id == "double")
    source = "import time\nend = time.process_time() + 3.5\nwhile time.process_time() < end: pass"
    cells[place:place] = [nbformat.v4.new_code_cell(source) for _ in range(4)]


@pytest.mark.parametrize("student", ENDINGS)
def test_every_ending_has_its_status_its_points_and_its_reason(student: str, outcomes: dict[str, Outcome]) -> None:
    _, status, score, reason = ENDINGS[student]
    result = outcomes[student].result
    assert (result.status, result.score) == (status, score), result
    assert any(reason in message for message in result.messages) or (not reason and not result.messages)
    assert all("\n" not in message for message in result.messages)


def test_no_time_limit_is_overrun_by_more_than_a_few_seconds(outcomes: dict[str, Outcome]) -> None:
    total_time_s, slack_s = PATIENCE * 10, 8
    assert {s: o.result.seconds for s, o in outcomes.items() if o.result.seconds > total_time_s + slack_s} == {}


def test_cells_after_the_time_for_all_of_them_are_zero_and_say_so(outcomes: dict[str, Outcome]) -> None:
    result = outcomes["computes"].result
    assert result.status == PARTLY
    assert points(outcomes["computes"])["add-check"] == 2
    lost = next(cell for cell in result.cells if cell.grade_id == "double-check")
    # By the clock on a machine that is busy.
    limit = next(text for text in ("10 s of computing", f"{PATIENCE * 10:g} s") if f": {text} in all" in lost.message)
    assert (lost.points, lost.message) == (0, f"NotRun: {limit} in all were over before this cell")
    assert any(message.startswith(f"stopped after {limit} in all, before cell") for message in result.messages)


def test_the_honest_student_among_them_gets_full_marks(outcomes: dict[str, Outcome]) -> None:
    assert (outcomes["honest"].result.status, outcomes["honest"].result.score) == (GRADED, 5)
    assert outcomes["honest"].to_grade == 1


def test_no_process_is_left_behind(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["leaves_a_daemon"].result.status == GRADED
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert [command for command in commands if b"4242" in command] == []


def test_nbgrader_and_the_result_agree_on_every_cell(course: Path, outcomes: dict[str, Outcome]) -> None:
    for stored in open_course(course).scores():
        outcome = outcomes[stored.student]
        assert stored.grades == {f"01_tiny/{grade_id}": p or 0.0 for grade_id, p in points(outcome).items()}
        assert stored.score == outcome.result.score


def test_what_is_kept_of_the_flood_is_bounded(course: Path, outcomes: dict[str, Outcome]) -> None:
    assert outcomes["floods"].result.status == PARTLY
    sizes = {path.parts[-3]: path.stat().st_size for path in course.glob("autograded/*/*/*.ipynb")}
    assert max(sizes.values()) < 400_000, sizes


def test_a_test_without_checks_does_not_pass_because_tracebacks_were_switched_off(tiny: Path) -> None:
    hidden = "get_ipython().showtraceback = lambda *a, **k: None\n"
    notebook = answered(tiny, add=hidden + ADD.replace("+", "-"), double=DOUBLE)
    hand_in(tiny, "quiet", notebook)
    outcome = grade(tiny)["quiet"]
    assert points(outcome)["add-check"] == 0
    autograded = nbformat.read(tiny / "autograded/quiet/01_tiny/01_tiny.ipynb", as_version=4)
    assert cell(autograded, "add-check").outputs


@pytest.mark.skipif(not choose().isolated, reason="no bubblewrap here: student code can read what the grader can")
def test_student_code_sees_nothing_of_the_course(tiny: Path) -> None:
    ours = Path(__file__).parents[2]
    shown = tuple(
        f"{path}/"
        for path in (
            ours / "labkit",
            ours / "datasets",
            ours / "autograder/boundary",
            sys.prefix,
            sys.base_prefix,
        )
    )
    code = f"""
        import os
        seen = [os.path.join(d, f) for top in ({str(tiny)!r}, "/tmp") for d, _, fs in os.walk(top) for f in fs]
        seen = [f for f in seen if not f.startswith({shown!r})]  # the checkout may lie below /tmp
        assert not [f for f in seen if f.endswith((".py", ".db", ".ipynb", ".toml"))], seen
    """
    hand_in(tiny, "looks", edited(answered(tiny, **FULL), _insert_first(code)))
    grade(tiny)
    executed = nbformat.read(tiny / "autograded/looks/01_tiny/01_tiny.ipynb", as_version=4)
    assert not [o for o in executed.cells[0].outputs if o.output_type == "error"], executed.cells[0].outputs


def _insert_first(code: str) -> Callable[[list[Any]], object]:
    return lambda cells: cells.insert(0, nbformat.v4.new_code_cell(textwrap.dedent(code)))
