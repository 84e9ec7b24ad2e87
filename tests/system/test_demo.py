"""`make demo` on a machine without bubblewrap: it says so, grades all the same, and what it tells to do next works."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.commands.demo import LAB, make_course
from autograder.errors import CourseError
from autograder.sandbox import choose
from autograder.sandbox.landlock_sandbox import unfit
from tests.system.courses import BIN, process

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

ROOT = Path(__file__).parents[2]
EXPECTED = {
    "another_way": ("16/20", "graded"),
    "blank": ("0/20", "graded"),
    "endless_loop": ("15/20", "partly graded"),
    "full_marks": ("16/20", "graded"),
    "half_done": (None, "graded"),
    "mistake_no_mean": (None, "graded"),
    "mistake_transposed": (None, "graded"),
    "unreadable": ("0/20", "unreadable"),
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("checkout")
    for name in ("solutions", "labs"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("*.ipynb"))
    shutil.copyfile(ROOT / "nbgrader_config.py", copy / "nbgrader_config.py")
    (copy / ".venv").symlink_to(sys.prefix)
    return copy


@pytest.fixture(scope="module")
def demo(checkout: Path) -> subprocess.CompletedProcess[str]:
    """The demo's run, in an environment whose PATH has no bwrap."""
    return process("autograder", "demo", cwd=checkout, env={"PATH": str(BIN)})


def test_it_says_in_one_line_that_there_is_no_bubblewrap_and_how_to_get_it(
    demo: subprocess.CompletedProcess[str],
) -> None:
    assert demo.returncode == 0, demo.stderr
    (said,) = (line for line in demo.stderr.splitlines() if "sandbox:" in line)
    missing = "bubblewrap is not installed (Debian and Ubuntu: apt-get install bubblewrap)"
    isolated = not unfit() and choose("landlock").isolated
    assert said == f"sandbox: landlock, because {missing}" if isolated else "sandbox: " in said
    assert ("these results are marked as not sandboxed" in demo.stderr) is not isolated


def test_eight_students_have_their_points_and_their_status(demo: subprocess.CompletedProcess[str]) -> None:
    header, *rows = demo.stdout.splitlines()
    assert header.split() == ["student", "points", "status", "where", "to", "look"]
    assert [row.split()[0] for row in rows] == sorted(EXPECTED)
    for row in rows:
        student, points = row.split()[:2]
        expected, status = EXPECTED[student]
        assert points == (expected or points)
        assert f"  {status}" in row
        assert 0 <= float(points.split("/")[0]) <= 16
    for loses in ("blank", "half_done", "mistake_no_mean", "mistake_transposed", "endless_loop", "unreadable"):
        row = next(row for row in rows if row.startswith(loses))
        assert len(re.split(r"  +", row)) == 4, f"where to look is empty: {row}"


def test_progress_is_shown_step_by_step(demo: subprocess.CompletedProcess[str]) -> None:
    steps = re.findall(r"^[1-4]/4 \w+", demo.stderr, re.MULTILINE)
    assert steps == ["1/4 release", "2/4 hand", "3/4 grade", "4/4 feedback"]
    assert re.search(rf"^{LAB} 8/8 ", demo.stderr, re.MULTILINE)


def test_the_pages_are_marked_where_nothing_isolated(demo: subprocess.CompletedProcess[str], checkout: Path) -> None:
    assert demo.returncode == 0
    pages = list((checkout / "build/demo/feedback").glob("*/*/*.html"))
    assert len(pages) == 8
    marked = {"without a sandbox" in page.read_text() for page in pages}
    assert marked == {"these results are marked as not sandboxed" in demo.stderr}


def test_what_it_says_to_do_next_can_be_done(demo: subprocess.CompletedProcess[str], checkout: Path) -> None:
    after = demo.stderr.split("Next:\n")[1]
    steps = dict(re.findall(r"^  (.+?) {2,}(.+)$", after, re.MULTILINE))
    assert (checkout / steps["read one feedback page"]).is_file()
    export = subprocess.run(steps["export the grades"], shell=True, cwd=checkout, capture_output=True, check=True)
    assert export.stdout == b""
    assert len(list(csv.reader((checkout / "grades.csv").read_text().splitlines()))) == 1 + 8
    lab = steps["grade by hand"].split("#")[0] + "--version"
    assert subprocess.run(lab, shell=True, cwd=checkout, capture_output=True, check=False).returncode == 0
    assert (ROOT / steps["write a lab of your own"]).is_file()
    assert f"{steps['see what students receive'].split()[1]}:" in (ROOT / "Makefile").read_text()


def test_outside_a_checkout_it_says_where_to_run(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="no such lab\nhint: run the demo in a checkout"):
        make_course(tmp_path / "solutions" / LAB, tmp_path / "demo")
    assert not (tmp_path / "demo").exists()
