"""The commands as scripts and people at terminals use them, from release to a CSV file."""

from __future__ import annotations

import copy
import csv
import fcntl
import json
import os
import pty
import re
import shutil
import struct
import termios
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograder.commands import grade as grade_module
from autograder.commands import release as release_module
from autograder.commands.notes import notes_on
from autograder.course import open_course
from autograder.sandbox import Gpu, Policy, Sandbox, choose
from tests.system.courses import ADD, BIN, DOUBLE, FULL, TINY, answered, autograder, copied, grade, hand_in, process

pytestmark = pytest.mark.slow

KEYS = {"student", "lab", "status", "score", "max_score", "seconds", "messages", "to_grade", "unchanged", "was",
        "sandbox", "isolated", "tests", "cells"}  # fmt: skip


@pytest.fixture(scope="module")
def graded_template(tiny_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = copied(tiny_template, tmp_path_factory.mktemp("graded"))
    hand_in(course, "ann", answered(course, **FULL))
    hand_in(course, "bob", answered(course, add=ADD, double=DOUBLE.replace("2 *", "3 *")))
    hand_in(course, "[red]", b"{")
    grade(course)
    return course


@pytest.fixture
def course(graded_template: Path, tmp_path: Path) -> Path:
    """A course of its own in which three were graded."""
    return copied(graded_template, tmp_path / "graded")


def test_json_is_one_object_a_student_and_nothing_else_on_stdout(course: Path) -> None:
    done = process("autograder", "grade", TINY, "--json", "--workers", "2", "--force", cwd=course)
    assert done.returncode == 0, done.stderr
    lines = {line["student"]: line for line in map(json.loads, done.stdout.splitlines())}
    assert sorted(lines) == ["[red]", "ann", "bob"]
    assert all(set(line) == KEYS for line in lines.values())
    ann = lines["ann"]
    assert (ann["lab"], ann["status"], ann["score"], ann["max_score"]) == (TINY, "graded", 5, 8)
    assert ann["messages"] == ["1 written answer to grade by hand"]
    assert (ann["to_grade"], ann["unchanged"]) == (1, False)
    assert {c["grade_id"]: (c["points"], c["failed"]) for c in ann["cells"] if not c["points"]} == {"why": (None, [])}
    (lost,) = [cell for cell in lines["bob"]["cells"] if cell["failed"]]
    assert (lost["grade_id"], lost["failed"][0]["title"]) == ("double-check", "two is doubled")
    assert lost["failed"][0]["message"]
    assert ann["seconds"] > 0
    assert ann["sandbox"] in {choose().name, f"{choose().name}, pre-warmed"}
    assert (ann["isolated"], ann["tests"]) == (choose().isolated, "isolated")
    assert lines["[red]"]["messages"] == ["01_tiny.ipynb: not JSON; hand in the .ipynb file that JupyterLab saves"]
    assert re.search(r"^01_tiny 3/3 \S+: (graded|unreadable)$", done.stderr, re.MULTILINE)
    assert "3 students: 2 graded, 1 unreadable\n" in done.stderr


def test_the_table_is_on_stdout_and_progress_is_not(course: Path) -> None:
    done = process("autograder", "grade", f"{TINY}/", cwd=course)
    assert done.stdout.splitlines() == [
        "student  points  status      where to look",
        "[red]       0/8  unreadable  01_tiny.ipynb: not JSON; hand in the .ipynb file that JupyterLab saves",
        "ann         5/8  graded",
        "bob         2/8  graded      double-check 0/3: two is doubled; why 0/3: no answer",
    ]
    assert "3 unchanged, not run again" in done.stderr


def _on_a_terminal(course: Path, columns: int, *options: str, **environment: str) -> str:
    """Return everything that grading writes to a terminal of this width."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(course)
        kept = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "COLUMNS", "LINES"}}
        command = str(BIN / "autograder")
        os.execve(command, [command, "grade", TINY, *options], {**kept, "TERM": "xterm-256color", **environment})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    chunks = []
    try:
        while chunk := os.read(terminal, 65536):
            chunks.append(chunk)
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    return b"".join(chunks).decode()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_terminal_gets_a_bar_colours_and_lines_that_fit(course: Path) -> None:
    written = _on_a_terminal(course, 80, "--force")
    assert "3/3" in written
    assert re.search(r"left .*\d+/min", written), "time left and rate"
    assert "\x1b[32mgraded" in written
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written)
    assert max(len(line) for line in re.split(r"[\r\n]+", plain)) <= 80
    assert "\n    " in plain.replace("\r", ""), "long lines go on below"


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_no_color_is_respected(course: Path) -> None:
    colours = re.findall(r"\x1b\[(?!1m|0m)[0-9;]+m", _on_a_terminal(course, 120, NO_COLOR="1"))
    assert colours == []


def test_without_a_sandbox_one_line_says_so_and_the_results_are_marked(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grade_module, "choose", lambda: choose("limits"))
    result = autograder("grade", TINY, "--course", course, "--json", "--student", "ann")
    assert result.exit_code == 0
    assert result.stderr.startswith("no sandbox: limits was asked for by name\n")
    line = json.loads(result.stdout)
    assert (line["sandbox"], line["isolated"], line["unchanged"]) == ("limits", False, False)
    page = course / "feedback/ann" / TINY / f"{TINY}.html"
    assert autograder("feedback", TINY, "--course", course, "--student", "ann").stdout == f"{page}\n"
    assert "without a sandbox" in page.read_text()


def test_feedback_prints_the_pages_it_wrote(course: Path) -> None:
    done = process("autograder", "feedback", TINY, cwd=course)
    assert done.returncode == 0
    pages = [Path(line) for line in done.stdout.splitlines()]
    assert sorted(page.parts[-3] for page in pages) == ["[red]", "ann", "bob"]
    assert all(page.is_file() for page in pages)


def test_feedback_for_one_goes_on_where_another_one_fails(course: Path) -> None:
    (course / "autograded/ann" / TINY / f"{TINY}.ipynb").unlink()
    result = autograder("feedback", TINY, "--course", course)
    assert result.exit_code == 1
    assert "hint: grade it again: autograder grade 01_tiny --force" in result.stderr
    assert sorted(path.parts[-3] for path in course.glob("feedback/*/*/*.html")) == ["[red]", "bob"]


def test_a_report_on_a_submission_is_the_instructors_and_feedback_stays_the_students(course: Path) -> None:
    hand_in(course, "cat", answered(course, add=ADD.replace("a + b", "abs(a) + abs(b)")))
    grade(course)
    result = autograder("report", TINY, "--course", course, "--student", "cat", "--student", "ann")
    pages = [course / f"{TINY}_{student}_report.html" for student in ("cat", "ann")]
    assert (result.exit_code, result.stdout.split()) == (0, [str(page) for page in pages])
    own, private = (course / "feedback/cat" / TINY / f"{TINY}.html"), pages[0].read_text()
    autograder("feedback", TINY, "--course", course)
    assert ("For the instructor." in private, "For the instructor." in own.read_text()) == (True, False)
    assert ("expected -2, got 2" in private, "expected -2, got 2" in own.read_text()) == (True, False)
    assert autograder("report", TINY, "--course", course, "--student", "cat").exit_code == 0, "it is an earlier one"


def test_a_report_on_a_submission_writes_over_nothing_else_and_names_who_is_missing(course: Path) -> None:
    (course / f"{TINY}_bob_report.html").write_text("mine")
    result = autograder("report", TINY, "--course", course, "--student", "bob")
    assert (result.exit_code, "is no report on a submission" in result.stderr) == (1, True)
    assert (course / f"{TINY}_bob_report.html").read_text() == "mine"
    assert "eve: no such student" in autograder("report", TINY, "--course", course, "--student", "eve").stderr
    assert autograder("report", TINY, "--course", course, "--student", "bob", "--json").exit_code == 2


# --------------------------------------------------------------------------------------------------------------- export
WAITING = (
    f"{TINY}: written answers of 1 student are still to be graded by hand: ann\n"
    f"{TINY}: what 1 student handed in could not be read, and nobody has looked at it (0 points by the grader): [red];"
    " ask for the file, or give points by hand in formgrader\n"
)


def test_export_writes_a_file_and_an_earlier_export_is_replaced(course: Path) -> None:
    target = course / "grades.csv"
    for _ in range(2):
        result = autograder("export", "--course", course, "--to", target)
        assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"{WAITING}3 rows in {target}\n")
    rows = {row["student_id"]: row for row in csv.DictReader(target.read_text().splitlines())}
    assert (rows["ann"]["assignment"], rows["ann"]["score"], rows["ann"]["max_score"]) == (TINY, "5", "8")


def test_export_to_a_dash_prints_it(course: Path) -> None:
    result = autograder("export", "--course", course, "--lab", TINY, "--to", "-")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 4
    assert result.stderr == f"{WAITING}3 rows\n"


def test_export_replaces_nothing_that_is_not_an_export(course: Path) -> None:
    notes = course / "notes.csv"
    notes.write_text("mine\n")
    os.mkfifo(course / "pipe")
    (course / "empty").write_text("")
    for name, said in (("notes.csv", "not an export"), ("pipe", "not an export"), ("none/x.csv", "no such directory")):
        result = autograder("export", "--course", course, "--to", course / name)
        assert result.exit_code == 1
        assert said in result.stderr
        assert "\nhint: " in result.stderr
    assert notes.read_text() == "mine\n"
    assert autograder("export", "--course", course, "--to", course).exit_code == 2


# -------------------------------------------------------------------------------------------------------------- release
QUICKLY = ("--skip-solution",)


def test_release_of_what_has_not_changed_says_so_and_check_finds_drift(course: Path) -> None:
    assert autograder("release", "--course", course, *QUICKLY).stdout == f"{TINY}: unchanged\n"
    assert autograder("release", "--course", course, "--check").exit_code == 0
    handout = course / "release" / TINY / f"{TINY}.ipynb"
    handout.write_text(handout.read_text().replace("# Tiny", "# Tinier"))
    drift = autograder("release", "--course", course, "--check")
    assert drift.exit_code == 1
    assert '-    "# Tinier' in drift.stdout
    assert "what was released is not what the sources say\nhint: autograder release" in drift.stderr
    assert "# Tinier" in handout.read_text()
    again = autograder("release", TINY, "--course", course, *QUICKLY, "--replace").stdout
    assert again.startswith(f"{TINY}: 1 file written; what was there is in .autograder/replaced/{TINY}/_released/")
    source = course / "source" / TINY / f"{TINY}.py"
    source.write_text(source.read_text().replace("add(-1, -1), -2", "add(-1, -2), -3"))
    said = f"{TINY}: unchanged for students; hidden tests or solutions have changed\n"
    assert autograder("release", TINY, "--course", course, *QUICKLY).stdout == said


def test_release_does_not_write_over_a_notebook_that_somebody_solved_in_its_place(course: Path) -> None:
    handout = course / "release" / TINY / f"{TINY}.ipynb"
    solved = handout.read_text().replace("raise NotImplementedError", "return a + b  #")
    handout.write_text(solved)
    source = course / "source" / TINY / f"{TINY}.py"
    source.write_text(source.read_text().replace("# # Tiny", "# # Tinier"))
    kept = autograder("release", *QUICKLY, "--course", course)
    assert (kept.exit_code, kept.stdout) == (1, "")
    assert (
        f"release/{TINY}/{TINY}.ipynb: not as it was released, so it was kept; its lab was not released" in kept.stderr
    )
    assert "autograder release --replace" in kept.stderr
    assert handout.read_text() == solved
    again = autograder("release", *QUICKLY, "--course", course, "--replace")
    assert again.exit_code == 0
    assert "return a + b" not in handout.read_text()
    place = re.search(r"what was there is in (\S+)", again.stdout)
    assert place is not None
    assert (course / place[1] / f"{TINY}.ipynb").read_text() == solved
    assert autograder("release", *QUICKLY, "--course", course).stdout == f"{TINY}: unchanged\n"


def test_release_in_a_foreign_course_keeps_a_notebook_with_answers_too(foreign: Path) -> None:
    root = foreign
    handout = root / "release/ps1/ps1.ipynb"
    solved = handout.read_text().replace("raise NotImplementedError", "return a + b  #")
    handout.write_text(solved)
    kept = autograder("release", *QUICKLY, "--course", root)
    assert (kept.exit_code, handout.read_text()) == (1, solved)
    assert "release/ps1/ps1.ipynb: not as it was released" in kept.stderr
    again = autograder("release", *QUICKLY, "--course", root, "--replace")
    assert again.exit_code == 0
    assert handout.read_text() != solved
    place = re.search(r"what was there is in (\S+)", again.stdout)
    assert place is not None
    assert (root / place[1] / "ps1.ipynb").read_text() == solved


def test_release_in_a_foreign_course_keeps_any_file_that_was_changed(foreign: Path) -> None:
    """A word below a task, where nbgrader has no checksum, is somebody's work as well."""
    autograder("release", *QUICKLY, "--course", foreign)
    handout = foreign / "release/ps1/ps1.ipynb"
    book = nbformat.read(handout, as_version=4)
    book.cells.append(nbformat.v4.new_markdown_cell("my answer to task 3"))
    nbformat.write(book, handout)
    for more in ([], ["--replace"]):
        done = autograder("release", *QUICKLY, "--course", foreign, *more)
        assert done.exit_code == (0 if more else 1), done.output
        assert ("my answer" in handout.read_text()) == (not more)
    place = re.search(r"what was there is in (\S+)", done.stdout)
    assert place is not None
    assert "my answer" in (foreign / place[1] / "ps1.ipynb").read_text()


def test_pages_are_packed_over_a_file_of_pages_and_over_no_other(course: Path, tmp_path: Path) -> None:
    archive = tmp_path / "pages.zip"
    hand_in(course, "ada", answered(course, **FULL))
    assert autograder("grade", TINY, "--course", course, "--student", "ada").exit_code == 0
    pack = ("feedback", TINY, "--course", course, "--student", "ada", "--zip", archive)
    for _ in range(2):
        assert autograder(*pack).exit_code == 0
    with zipfile.ZipFile(archive, "a") as found:
        found.writestr("submission.html", "a student's")
    before = archive.read_bytes()
    refused = autograder(*pack)
    assert (refused.exit_code, archive.read_bytes()) == (1, before)
    assert "pages.zip: is there already and is no zip file of such pages" in refused.stderr


def test_release_in_a_foreign_course_loses_no_file_of_anybodys(foreign: Path) -> None:
    (foreign / "release/ps1/own").mkdir()
    (foreign / "release/ps1/own/data.csv").write_text("1,2\n")
    again = autograder("release", "ps1", *QUICKLY, "--course", foreign)
    place = re.search(r"^ps1: generated by nbgrader; what was there is in (\S+)$", again.stdout, re.MULTILINE)
    assert place is not None, again.output
    there = [path.relative_to(foreign / place[1]).as_posix() for path in (foreign / place[1]).rglob("*")]
    assert sorted(there) == ["own", "own/data.csv"]
    again = autograder("release", "ps1", *QUICKLY, "--course", foreign)
    assert again.stdout == "ps1: generated by nbgrader\n"


def test_a_release_that_nbgrader_refuses_leaves_what_was_released(foreign: Path) -> None:
    before = {path: path.read_bytes() for path in (foreign / "release").rglob("*") if path.is_file()}
    assert before
    assert autograder("grade", "ps1", "--course", foreign).exit_code == 0
    source = foreign / "source/ps1/ps1.ipynb"
    source.write_text(source.read_text().replace("add-check", "sum-check"))
    refused = autograder("release", "ps1", *QUICKLY, "--course", foreign)
    assert refused.exit_code == 1
    assert "Cannot add or remove cells" in refused.stderr
    assert "hint: students have handed in the old version: keep its cells, or use a new lab name" in refused.stderr
    assert {path: path.read_bytes() for path in (foreign / "release").rglob("*") if path.is_file()} == before
    assert not list((foreign / ".autograder").rglob("_released/*"))


def test_release_refuses_a_course_in_which_nbgrader_would_hand_out_solutions(course: Path) -> None:
    (course / "nbgrader_config.py").write_text("c = get_config()\n")
    result = autograder("release", "--course", course)
    assert result.exit_code == 1
    assert f"nbgrader would copy {TINY}/{TINY}.py beside every student's notebook" in result.stderr
    assert "hint: write into nbgrader_config.py: c.CourseDirectory.ignore = [" in result.stderr


def test_release_in_a_foreign_course_runs_nbgraders_own(foreign: Path) -> None:
    (foreign / "source/ps1/ps1.ipynb").write_text("{")
    failed = autograder("release", "ps1", "--course", foreign)
    assert failed.exit_code == 1
    assert "error: ps1/ps1.ipynb: nbgrader: " in failed.stderr
    assert "JSON" in failed.stderr
    assert "Traceback" not in failed.stderr


@pytest.fixture(scope="module")
def foreign_template(tmp_path_factory: pytest.TempPathFactory, tiny_template: Path) -> Path:
    """A course in nbgrader's own form, released, with one submission of the release."""
    root = tmp_path_factory.mktemp("foreign")
    (root / "source/ps1").mkdir(parents=True)
    notebook = tiny_template / "source" / TINY / f"{TINY}.ipynb"
    (root / "source/ps1/ps1.ipynb").write_bytes(notebook.read_bytes())
    result = autograder("release", "ps1", "--course", root)
    assert (result.exit_code, result.stdout) == (0, "ps1: generated by nbgrader\n"), result.stderr
    assert result.stderr == "ps1: grading its solution\n"
    assert (root / "release/ps1/ps1.ipynb").is_file()
    (root / "submitted/ada/ps1").mkdir(parents=True)
    shutil.copy(root / "release/ps1/ps1.ipynb", root / "submitted/ada/ps1")
    return root


@pytest.fixture
def foreign(foreign_template: Path, tmp_path: Path) -> Path:
    """One of its own."""
    return copied(foreign_template, tmp_path / "foreign")


def _notes(root: Path) -> list[str]:
    """Return what the commands that grade note before anything is tried."""
    return [line for line in notes_on(open_course(root), "ps1", keep=False) if "not as in the source" in line]


def test_a_source_that_was_changed_after_the_release_is_said(foreign: Path) -> None:
    root, source = foreign, foreign / "source/ps1/ps1.ipynb"
    check = autograder("release", "--check", "--course", root)
    assert (check.exit_code, check.output) == (0, "")
    assert _notes(root) == []
    before = (root / "release/ps1/ps1.ipynb").read_bytes(), (root / "gradebook.db").read_bytes()

    source.write_text(source.read_text().replace("check.score(2)", "check.score(2)  # corrected"))
    check = autograder("release", "--check", "--course", root)
    assert check.exit_code == 1
    assert '+    "check.score(2)  # corrected"' in check.stdout
    assert "what was released is not what the sources say\nhint: autograder release" in check.stderr
    graded = autograder("grade", "ps1", "--course", root, "--dry-run").stderr
    assert "note: ps1: add-check" in graded
    assert "to grade with the source's: autograder release ps1\n" in graded
    assert before == ((root / "release/ps1/ps1.ipynb").read_bytes(), (root / "gradebook.db").read_bytes())

    assert autograder("release", "ps1", *QUICKLY, "--course", root).exit_code == 0
    assert autograder("release", "--check", "--course", root).exit_code == 0
    assert _notes(root) == []


def test_a_changed_test_of_our_own_source_is_said_and_a_broken_source_stops_no_grading(course: Path) -> None:
    source = course / "source" / TINY / f"{TINY}.py"
    text = source.read_text()
    source.write_text(text.replace("check.score(2)", "check.score(2)  # corrected"))
    assert "not as in the source" in autograder("grade", TINY, "--course", course, "--dry-run").stderr
    source.write_text("# %% [markdown")
    assert "not as in the source" not in autograder("grade", TINY, "--course", course, "--dry-run").stderr


def test_a_name_that_two_cells_have_is_said_with_the_notebook(foreign: Path) -> None:
    root, source = foreign, foreign / "source/ps1/ps1.ipynb"
    notebook = nbformat.read(source, as_version=4)
    nbformat.write(notebook, source.with_name("another.ipynb"))
    again = copy.deepcopy(next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")))
    again.id = "again"
    notebook.cells.append(again)
    nbformat.write(notebook, source)
    failed = autograder("release", "ps1", "--course", root)
    assert failed.exit_code == 1
    assert "error: ps1/ps1.ipynb: nbgrader: " in failed.stderr
    assert "Duplicate grade id" in failed.stderr


def test_release_refuses_a_lab_whose_own_solution_fails_a_test(course: Path) -> None:
    source = course / "source" / TINY / f"{TINY}.py"
    wrong = source.read_text().replace("check.equal(double(3), 6)", "check.equal(double(3), 7)")
    source.write_text(wrong)
    before = (course / "release" / TINY / f"{TINY}.ipynb").read_bytes(), (course / "gradebook.db").read_bytes()
    result = autograder("release", "--course", course)
    assert result.exit_code == 1
    said = f"error: {TINY}: its own solution does not get full marks: 'double-check': three is doubled: "
    assert result.stderr.startswith(f"{TINY}: grading its solution\n{said}")
    assert f"nothing was released. autograder release {TINY} --skip-solution does not ask\n" in result.stderr
    assert before == (
        (course / "release" / TINY / f"{TINY}.ipynb").read_bytes(),
        (course / "gradebook.db").read_bytes(),
    )
    result = autograder("release", "--course", course, "--skip-solution")
    assert result.exit_code == 0
    assert result.stderr == f"note: {TINY}: its solution was not graded\n"
    assert autograder("release", "--course", course).exit_code == 1, "it is not forgotten"
    source.write_text(wrong.replace("check.equal(double(3), 7)", "check.equal(double(3), 6)"))
    assert autograder("release", "--course", course).exit_code == 0
    assert (course / ".autograder" / f"{TINY}.solution.txt").is_file()


class Shown(Gpu):
    """A GPU of which a sandbox is shown the loader's variable and no more."""

    def works_in(self, sandbox: Sandbox, policy: Policy | None = None) -> None:
        pass


def test_a_solution_that_needs_a_gpu_is_graded_with_one(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = course / "source" / TINY / f"{TINY}.py"
    asks = "import os; return 2 * a if os.environ.get('LD_LIBRARY_PATH') == '/driver' else 0"
    source.write_text(source.read_text().replace("return 2 * a", asks))
    assert "does not get full marks" in autograder("release", "--course", course).stderr
    monkeypatch.setattr(release_module, "find_gpu", lambda number: Shown((), (), {"LD_LIBRARY_PATH": "/driver"}))
    released = autograder("release", "--course", course, "--gpu", "0")
    assert released.exit_code == 0, released.stderr
    assert "does not get full marks" in autograder("release", "--course", course).stderr, "of a GPU, not of none"


def test_a_release_with_a_gpu_that_is_not_there_is_none(course: Path) -> None:
    released = autograder("release", "--course", course, "--gpu", "77")
    assert released.exit_code == 1
    assert "error: /dev/nvidia77: no such GPU" in released.stderr
    both = autograder("release", "--course", course, "--gpu", "0", "--skip-solution")
    assert both.exit_code == 2
    assert "--gpu is for grading the solution" in both.stderr


@pytest.mark.thorough
def test_what_was_found_of_another_release_is_not_believed(course: Path) -> None:
    source = course / "source" / TINY / f"{TINY}.py"
    (course / ".autograder" / f"{TINY}.solution.txt").write_text("of another release")
    source.write_text(source.read_text().replace("return 2 * a", "raise KeyError('no')"))
    assert "'double-check': two is doubled: KeyError: 'no'" in autograder("release", "--course", course).stderr


def test_a_notebook_course_whose_solution_fails_a_test_is_refused_too(foreign: Path) -> None:
    source = foreign / "source/ps1/ps1.ipynb"
    source.write_text(source.read_text().replace("return 2 * a", "return 3 * a"))
    before = (foreign / "release/ps1/ps1.ipynb").read_bytes(), (foreign / "gradebook.db").read_bytes()
    result = autograder("release", "--course", foreign)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error: ps1: its own solution does not get full marks: 'double-check': two is doubled: " in result.stderr
    assert result.stderr.endswith("nothing was released. autograder release ps1 --skip-solution does not ask\n")
    assert "'add-check'" not in result.stderr
    assert before == ((foreign / "release/ps1/ps1.ipynb").read_bytes(), (foreign / "gradebook.db").read_bytes())
    result = autograder("release", "--course", foreign, "--skip-solution")
    assert (result.exit_code, result.stdout) == (0, "ps1: generated by nbgrader\n")
    assert result.stderr == "note: ps1: its solution was not graded\n"
