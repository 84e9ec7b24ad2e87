"""Bad input of every kind: a clear message with a hint, nothing lost, and the class goes on."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import socket
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.course import open_course
from autograder.grading.outcome import Outcome
from autograder.model import Status
from tests.system.courses import ADD, DOUBLE, FULL, TINY, answered, autograder, copied, grade, hand_in, process

pytestmark = pytest.mark.slow


# ------------------------------------------------------------------------------------------------ courses that are none
def _fails(*arguments: str | Path) -> str:
    """Run a command that cannot do its job, and return what it says: a message, a hint, exit code 1, no output."""
    result = autograder(*arguments)
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    assert result.stderr.startswith("error: "), result.stderr
    assert "\nhint: " in result.stderr
    return result.stderr


COMMANDS = (("grade", TINY), ("feedback", TINY), ("export", "--to", "grades.csv"), ("release",))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c[0])
def test_a_course_that_is_not_there_is_an_error(command: tuple[str, ...], tmp_path: Path) -> None:
    assert f"{tmp_path}/none: no such directory" in _fails(*command, "--course", tmp_path / "none")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c[0])
def test_a_directory_that_is_no_course_is_an_error_and_stays_empty(command: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "not a course: no nbgrader_config.py, gradebook.db or source/" in _fails(
        *command, "--course", tmp_path / "empty"
    )
    assert not list((tmp_path / "empty").iterdir())


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("c = get_config()\n1 / 0\n", "nbgrader_config.py:2: ZeroDivisionError: division by zero"),
        ("c = get_config()\nc.a = = 1\n", "nbgrader_config.py:2: SyntaxError"),
        ("import nothing_of_this_name\n", "nbgrader_config.py:1: ModuleNotFoundError: No module named"),
        ("c = get_config()\nc.CourseDirectory.source_directory = 5\n", "'source_directory' trait"),
        (
            "c = get_config()\nc.CourseDirectory.db_url = 'gradebook.db'\n",
            "gradebook.db: not the address of a database",
        ),
        ("raise SystemExit(3)\n", "nbgrader_config.py:1: SystemExit: 3"),
    ],
    ids=lambda text: text.split("\n")[0],
)
def test_a_configuration_that_raises_is_shown_with_its_line(config: str, message: str, tiny: Path) -> None:
    (tiny / "nbgrader_config.py").write_text(config)
    assert message in _fails("grade", TINY, "--course", tiny)


def test_a_course_without_a_gradebook_is_told_to_release_and_none_is_made(tiny: Path) -> None:
    (tiny / "gradebook.db").unlink()
    said = _fails("grade", TINY, "--course", tiny)
    assert "gradebook.db: there is no gradebook yet\nhint: release a lab first: autograder release LAB" in said
    assert not (tiny / "gradebook.db").exists()
    assert not list((tiny / ".autograder").glob("*.jsonl"))


def test_an_unknown_lab_is_named_with_those_that_are_there(tiny: Path) -> None:
    for command in (("grade", "02_none"), ("feedback", "02_none"), ("export", "--lab", "02_none", "--to", "x.csv")):
        assert f"02_none: no such lab in the gradebook (there: {TINY})" in _fails(*command, "--course", tiny)
    assert f"02_none: no such lab in {tiny}/source\nhint: there: {TINY}" in _fails(
        "release", "02_none", "--course", tiny
    )


def test_a_lab_called_by_its_number_is_told_its_name(tiny: Path) -> None:
    assert f"hint: did you mean {TINY}? release it first" in _fails("grade", TINY[:2], "--course", tiny)
    assert f"hint: did you mean {TINY}? there: {TINY}" in _fails("release", TINY[:2], "--course", tiny)


def test_a_folder_without_a_lab_toml_is_said_to_lack_it(tiny: Path) -> None:
    (tiny / "source" / "02_new").mkdir()
    said = _fails("release", "02_new", "--course", tiny)
    assert "source/02_new: neither a lab.toml nor a notebook in it\nhint: docs/instructors.md, Write a lab" in said


def test_a_gradebook_that_may_not_be_written_to_is_said_in_words(tiny: Path) -> None:
    """What SQLite says of a file on a read-only disk, raised by a trigger; nbgrader logs a traceback as well."""
    source = tiny / "source" / TINY / f"{TINY}.py"
    source.write_text(source.read_text().replace("### Task 3. Why", "### Task 3. Why not"))
    with sqlite3.connect(tiny / "gradebook.db") as database:
        refuse = "SELECT RAISE(ABORT, 'attempt to write a readonly database');"
        for change in ("UPDATE", "DELETE"):
            database.execute(f"CREATE TRIGGER {change}d BEFORE {change} ON solution_cells BEGIN {refuse} END")
    done = process("autograder", "release", "--skip-solution", "--course", tiny, cwd=tiny)
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == [
        f"error: {tiny}/gradebook.db: attempt to write a readonly database",
        "hint: the file or its directory is read-only: change that, or work on a copy of the course",
    ]


def test_a_lab_that_was_never_released_is_told_to_be(tiny: Path) -> None:
    with Gradebook(f"sqlite:///{tiny}/gradebook.db", "tiny") as book:
        book.add_assignment("later")
    assert "hint: release it first: autograder release later" in _fails("grade", "later", "--course", tiny)


def test_an_unknown_student_is_named(tiny: Path) -> None:
    hand_in(tiny, "a", answered(tiny, **FULL))
    assert "nobody: no such student" in _fails("grade", TINY, "--student", "nobody", "--course", tiny)
    feedback = ("feedback", TINY, "--course", tiny, "--student")
    assert "nobody: no such student\nhint: graded for 01_tiny: nobody" in _fails(*feedback, "nobody")
    assert "a: 01_tiny has not been graded\nhint: autograder grade 01_tiny --student a" in _fails(*feedback, "a")
    (tiny / "submitted/b").mkdir()
    (tiny / "submitted/b" / TINY).mkdir()
    assert "b: nothing handed in for 01_tiny, so there is no page\nhint: leave this student out" in _fails(
        *feedback, "b"
    )


def test_a_class_that_handed_in_nothing_is_told_where_submissions_go(tiny: Path) -> None:
    said = _fails("grade", TINY, "--course", tiny)
    assert f"nobody has handed in anything\nhint: submissions go into {tiny}/submitted/STUDENT/{TINY}" in said


@pytest.mark.parametrize(
    "arguments",
    [("grade",), ("grade", TINY, "--workers", "0"), ("grade", TINY, "--frobnicate"), ("export",), ("gade",)],
)
def test_wrong_usage_exits_with_two(arguments: tuple[str, ...]) -> None:
    result = autograder(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Usage: " in result.stderr


def test_a_lab_in_another_language_is_refused_instead_of_failed(tiny: Path) -> None:
    with contextlib.closing(sqlite3.connect(tiny / "gradebook.db")) as book, book:
        book.execute("update notebook set kernelspec = ?", [json.dumps({"name": "ir", "language": "R"})])
    hand_in(tiny, "a", answered(tiny, **FULL))
    assert "01_tiny: its notebooks are in R\nhint: only Python is graded here" in _fails(
        "grade", TINY, "--course", tiny
    )


# ----------------------------------------------------------------------------------------------------------- gradebooks
KEEP = "keep a copy of the file aside, and put a backup in its place: points by hand, due dates and extensions stand"


def _rubbish(book: Path) -> None:
    book.write_bytes(b"student,score\nann,3\n" * 100)


def _cut(book: Path) -> None:
    book.write_bytes(book.read_bytes()[: book.stat().st_size // 2])


def _emptied(book: Path) -> None:
    book.write_bytes(b"")
    log = book.parent / ".autograder" / f"{TINY}.jsonl"
    log.write_text("{}\n")  # of a grade, whatever it was


def _directory(book: Path) -> None:
    book.unlink()
    book.mkdir()


def _older(book: Path) -> None:
    with contextlib.closing(sqlite3.connect(book)) as database, database:
        database.execute("alter table assignment drop column duedate")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            _rubbish,
            "file is not a database\nhint: if db_url in nbgrader_config.py names another file, correct it; else"
            f" {KEEP}",
        ),
        (_cut, f"database disk image is malformed\nhint: {KEEP}"),
        (_emptied, "the gradebook is gone; 01_tiny had been graded\nhint: put a backup there: points by hand"),
        (_directory, "unable to open database file\nhint: is its directory there"),
        (
            _older,
            "no such column: assignment.duedate\nhint: it was made by an older nbgrader; back it up, then: nbgrad",
        ),
    ],
)
def test_a_gradebook_that_cannot_be_used_is_left_alone(
    damage: Callable[[Path], None], message: str, tiny: Path
) -> None:
    hand_in(tiny, "a", answered(tiny, **FULL))
    damage(tiny / "gradebook.db")
    before = (tiny / "gradebook.db").read_bytes() if (tiny / "gradebook.db").is_file() else b""
    reading = (
        ("grade", TINY),
        ("feedback", TINY),
        ("report", TINY),
        ("verify",),
        ("export", "--to", tiny / "grades.csv"),
    )
    for command in (*reading, ("collect", TINY, tiny / "submitted"), ("grade", TINY, "--dry-run")):
        assert f"{tiny}/gradebook.db: " + message in _fails(*command, "--course", tiny)
    assert not before or (tiny / "gradebook.db").read_bytes() == before
    assert not (tiny / "grades.csv").exists()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nbgrader wait for a locked gradebook for a moment only."""
    monkeypatch.setattr("sqlite3.dbapi2.connect", partial(sqlite3.connect, timeout=0.2))


@pytest.mark.usefixtures("impatient")
def test_a_locked_gradebook_says_who_may_hold_it(tiny: Path) -> None:
    hand_in(tiny, "a", answered(tiny, **FULL))
    with contextlib.closing(sqlite3.connect(tiny / "gradebook.db", isolation_level=None)) as database:
        database.execute("begin exclusive")
        said = _fails("grade", TINY, "--course", tiny)
    assert "database is locked\nhint: another program is writing to it, formgrader perhaps" in said
    assert grade(tiny)["a"].result.score == 5


@pytest.mark.usefixtures("impatient")
def test_a_gradebook_locked_later_costs_nothing_but_another_run(tiny: Path) -> None:
    hand_in(tiny, "a", answered(tiny, **FULL))
    database = sqlite3.connect(tiny / "gradebook.db", isolation_level=None, check_same_thread=False)
    with contextlib.closing(database):
        database.execute("begin immediate")  # others may read, and not write
        result = autograder("grade", TINY, "--course", tiny, "--json")
    assert result.exit_code == 1
    line = json.loads(result.stdout)
    assert (line["status"], line["score"], line["max_score"]) == ("failed", 0, 8)
    assert "database is locked" in line["messages"][0]
    assert "a: not graded\nhint: the messages above say why; run the command again" in result.stderr
    assert grade(tiny)["a"].result.score == 5


# ---------------------------------------------------------------------------------------------------------- submissions
def _changed(text: str, change: Callable[[dict[str, Any]], object]) -> bytes:
    notebook = json.loads(text)
    change(notebook)
    return json.dumps(notebook).encode()


def _submissions(text: str) -> dict[str, tuple[bytes, Status, float, str]]:
    """Return what is handed in by whom, and what is to become of it."""
    unreadable, graded, tampered = Status.UNREADABLE, Status.GRADED, Status.TAMPERED
    json_hint = "not JSON; hand in the .ipynb file that JupyterLab saves"

    def change(change: Callable[[dict[str, Any]], object]) -> bytes:
        return _changed(text, change)

    def cells(change: Callable[[dict[str, Any]], object], *ids: str) -> bytes:
        return _changed(text, lambda nb: [change(cell) for cell in nb["cells"] if cell["id"] in ids or not ids])

    def without(*ids: str) -> bytes:
        return change(lambda nb: nb.update(cells=[cell for cell in nb["cells"] if cell["id"] not in ids]))

    def twice(*ids: str) -> bytes:
        return change(lambda nb: nb["cells"].extend([cell for cell in nb["cells"] if cell["id"] in ids]))

    worksheet = {"cells": [{"cell_type": "code", "input": ["1"], "language": "python", "outputs": [], "metadata": {}}]}
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [worksheet]}
    return {
        "empty": (b"", unreadable, 0, "the file is empty"),
        "blanks": (b" \n", unreadable, 0, "the file is empty"),
        "half": (text.encode()[:500], unreadable, 0, json_hint),
        "binary": (b"\xff\xfe\xfa", unreadable, 0, "not a text file (byte 0 is not UTF-8)"),
        "utf_16": (text.encode("utf-16"), unreadable, 0, "not a text file"),
        "list": (b"[]", unreadable, 0, "not a notebook"),
        "null": (b"null", unreadable, 0, "not a notebook"),
        "deep": (b"[" * 100_000, unreadable, 0, "not JSON"),
        "no_cells": (b"{}", unreadable, 0, "not a notebook"),
        "cells_no_list": (change(lambda nb: nb.update(cells={})), unreadable, 0, "no list of cells"),
        "nbformat_3": (json.dumps(old).encode(), unreadable, 0, "no cell has nbgrader's metadata"),
        "nbformat_5": (change(lambda nb: nb.update(nbformat=5)), unreadable, 0, "saved in a newer format, nbformat 5"),
        "too_large": (change(lambda nb: nb["metadata"].update(x="x" * (25 << 20))), unreadable, 0, "25 MiB, more than"),
        "byte_order_mark": (b"\xef\xbb\xbf" + text.encode(), graded, 5, ""),
        "no_ids": (change(lambda nb: (nb.update(nbformat_minor=4), [c.pop("id") for c in nb["cells"]])), graded, 5, ""),
        "long_ids": (cells(lambda c: c.update(id="x" * 100)), graded, 5, ""),
        "skips_itself": (cells(lambda c: c["metadata"].update(tags=["skip-execution"])), graded, 5, ""),
        "more_points": (
            cells(lambda c: c["metadata"]["nbgrader"].update(points=100), "add-check", "why"),
            graded,
            5,
            "",
        ),
        "fewer_locks": (
            cells(lambda c: c["metadata"]["nbgrader"].update(locked=False, grade=False, solution=True), "add-check"),
            graded,
            5,
            "",
        ),
        "deleted_check": (without("add-check"), tampered, 5, "cell 'add-check' was deleted: put back"),
        "doubled": (twice("add", "add-check"), tampered, 5, "cell 'add-check' is there more than once"),
        "retyped": (
            cells(lambda c: (c.update(cell_type="markdown"), c.pop("outputs")), "add-check"),
            tampered,
            5,
            "cell 'add-check' was made a markdown cell: restored",
        ),
        "rewritten": (
            cells(lambda c: c.update(source="2"), "add-check"),
            tampered,
            5,
            "locked cell 'add-check' was cha",
        ),
        "reordered": (change(lambda nb: nb["cells"].reverse()), graded, 5, "its place among the others"),
        "metadata_no_table": (cells(lambda c: c["metadata"].update(nbgrader=[]), "add"), graded, 5, ""),
        "grade_id_no_text": (cells(lambda c: c["metadata"]["nbgrader"].update(grade_id=[1]), "add"), graded, 5, ""),
    }


_NAMES = ("a b", " a", "a ", "[ab]", "*", "?", "-x", "--help", "it's", 'a"b', "{student_id}", "%s", "a+b", "<b>", "~",
          "müßig", "日本", "a\nb", "a\u2028b", "x" * 200)  # fmt: skip


@pytest.fixture(scope="module")
def course(tiny_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tiny_template, tmp_path_factory.mktemp("class"))


@pytest.fixture(scope="module")
def text(course: Path) -> str:
    return str(nbformat.writes(answered(course, **FULL)))


@pytest.fixture(scope="module")
def outcomes(course: Path, text: str) -> dict[str, Outcome]:
    for student, (content, *_) in _submissions(text).items():
        hand_in(course, student, content)
    for student in _NAMES:
        hand_in(course, student, text.encode())
    hand_in(course, "renamed", text.encode(), "my lab (2).ipynb")
    hand_in(course, "two", text.encode())
    hand_in(course, "two", b"rubbish", "Untitled.ipynb")
    hand_in(course, "honest", text.encode())
    for student, make in _PLACES.items():
        path = hand_in(course, student, b"")
        path.unlink()
        make(path)
    unencodable = os.fsencode(course / "submitted") + b"/\xff"
    Path(os.fsdecode(unencodable), TINY).mkdir(parents=True)
    Path(os.fsdecode(unencodable), TINY, f"{TINY}.ipynb").write_text(text)
    return grade(course)


def _listen(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server, contextlib.chdir(path.parent):  # a socket's path may not be long
        server.bind(path.name)


_PLACES: dict[str, Callable[[Path], object]] = {
    "folder": lambda path: path.mkdir(),
    "pipe": os.mkfifo,
    "socket": _listen,
    "link": lambda path: path.symlink_to(path.parents[3] / "source" / TINY / f"{TINY}.ipynb"),
    "dangling": lambda path: path.symlink_to("/nowhere"),
}


def test_every_submission_has_the_status_the_points_and_the_reason_that_it_should(
    text: str, outcomes: dict[str, Outcome]
) -> None:
    for student, (_, status, score, reason) in _submissions(text).items():
        result = outcomes[student].result
        assert (result.status, result.score) == (status, score), result
        assert any(reason in message for message in result.messages) or not reason, (student, result.messages)
        assert all("\n" not in message for message in result.messages), result.messages


@pytest.mark.parametrize("student", _PLACES)
def test_what_is_not_a_file_is_not_read_and_does_not_hang(student: str, outcomes: dict[str, Outcome]) -> None:
    assert outcomes[student].result.status == Status.UNREADABLE
    assert outcomes[student].result.messages


@pytest.mark.parametrize("student", [*_NAMES, "two", "honest"])
def test_a_student_of_any_name_is_graded(student: str, course: Path, outcomes: dict[str, Outcome]) -> None:
    result = outcomes[student].result
    assert (result.student, result.status, result.score) == (student, Status.GRADED, 5)
    assert (course / "autograded" / student / TINY / f"{TINY}.ipynb").is_file()


def test_a_renamed_notebook_counts_as_missing_and_is_named(outcomes: dict[str, Outcome]) -> None:
    result = outcomes["renamed"].result
    assert (result.status, result.max_score) == (Status.MISSING, 8)
    assert result.messages == ("no 01_tiny.ipynb; there is my lab (2).ipynb: was it renamed?",)


def test_a_folder_whose_name_is_no_text_is_reported_and_stops_nobody(outcomes: dict[str, Outcome]) -> None:
    result = outcomes["\\udcff"].result
    assert (result.status, result.messages) == (
        Status.FAILED,
        ("the name of this folder is not UTF-8; rename it",),
    )


def test_json_lines_pages_and_csv_hold_all_of_them(course: Path, outcomes: dict[str, Outcome]) -> None:
    graded = [student for student, outcome in outcomes.items() if outcome.result.cells]
    again = autograder("grade", TINY, "--course", course, "--json")
    assert again.exit_code == 1, "one of them could not be graded"
    lines = [json.loads(line) for line in again.stdout.splitlines()]
    assert sorted(line["student"] for line in lines) == sorted(outcomes)
    assert all(line["unchanged"] for line in lines if line["student"] in graded)
    assert autograder("feedback", TINY, "--course", course).exit_code == 0
    pages = {path.parts[-3] for path in course.glob("feedback/*/*/*.html")}
    assert pages == set(graded)
    assert autograder("export", "--course", course, "--to", course / "grades.csv").exit_code == 0
    rows = (course / "grades.csv").read_text().count("\n01_tiny,")
    assert rows == len(graded)


def test_one_student_with_a_dash_in_front_can_be_named(course: Path, outcomes: dict[str, Outcome]) -> None:
    assert outcomes["-x"].result.status == Status.GRADED
    for arguments in (["--student", "-x"], ["--student=--help"]):
        result = autograder("grade", TINY, "--course", course, "--json", *arguments)
        assert result.exit_code == 0
        assert len(result.stdout.splitlines()) == 1


# ----------------------------------------------------------------------------------- saved by a program of another kind
def test_a_notebook_without_metadata_is_shown_and_a_person_asked_to_look(tiny: Path) -> None:
    notebook = answered(tiny, **FULL)
    for cell in notebook.cells:
        cell.metadata = {}
    hand_in(tiny, "a", notebook)
    hand_in(tiny, "b", notebook)
    outcome = grade(tiny)["a"]
    why = "no cell has nbgrader's metadata: another program may have saved the file"
    assert outcome.result.status == Status.UNREADABLE
    assert outcome.result.messages == (f"{TINY}.ipynb: {why}; hand in the file that JupyterLab saves",)
    assert (outcome.result.score, outcome.to_grade) == (0, 1)
    assert open_course(tiny).score("a", TINY).pending == {f"{TINY}/why"}
    autograder("feedback", TINY, "--course", tiny)
    page = (tiny / "feedback/a" / TINY / f"{TINY}.html").read_text()
    assert "Your code" not in page
    assert "NotImplementedError" not in page
    assert page.count("What was handed in") == 1
    assert FULL["why"] in page
    assert "Hidden cases" not in page
    assert '"alike": []' in autograder("report", TINY, "--course", tiny, "--json").stdout


def test_the_stub_that_was_put_back_is_not_shown_as_the_student_s(tiny: Path) -> None:
    notebook = answered(tiny, **FULL)
    notebook.cells = [cell for cell in notebook.cells if cell.id != "double"]
    hand_in(tiny, "a", notebook)
    hand_in(tiny, "b", b"not a notebook")
    grade(tiny)
    autograder("feedback", TINY, "--course", tiny)
    pages = {s: (tiny / "feedback" / s / TINY / f"{TINY}.html").read_text() for s in "ab"}
    assert (pages["a"].count("Your code"), pages["b"].count("Your code")) == (1, 0)


def test_a_page_that_cannot_be_written_is_named_and_the_others_are_there(tiny: Path) -> None:
    for student in "abc":
        hand_in(tiny, student, answered(tiny, **FULL))
    grade(tiny)
    (tiny / "feedback").mkdir(exist_ok=True)
    for student in "ab":
        (tiny / "feedback" / student).write_text("no folder")
    found = autograder("feedback", TINY, "--course", tiny)
    assert found.exit_code == 1
    assert (tiny / "feedback/c" / TINY / f"{TINY}.html").is_file()
    assert "Traceback" not in found.output
    for student in "ab":
        assert f"error: {student}: {tiny / 'feedback' / student / TINY}: Not a directory" in found.output
    assert f"hint: mend that, then: autograder feedback {TINY} --student a" in found.output


# ---------------------------------------------------------------------------------------------- files beside a notebook
def test_files_beside_the_notebook_are_there_when_it_runs_and_links_are_not(tiny: Path) -> None:
    """Read from inside the sandbox: data and helpers come along, a link to the solution does not."""
    config = (tiny / "nbgrader_config.py").read_text().replace('"*.py"', f'"{TINY}.py"')
    (tiny / "nbgrader_config.py").write_text(config + "c.CourseDirectory.max_dir_size = 100\n")
    (tiny / "source" / TINY / "given.txt").write_text("the instructor's")
    code = f"""
        import os
        names = sorted(os.path.join(d, f) for d, _, fs in os.walk(".") for f in fs)
        assert names == ["./data/numbers.txt", "./given.txt", "./helper.py"], names
        from helper import one
        assert open("data/numbers.txt").read() == "12" and one == 1
        assert open("given.txt").read() == "the instructor's"
        {ADD.replace(chr(10), chr(10) + " " * 8)}
    """
    notebook = hand_in(tiny, "a", answered(tiny, add=code, double=DOUBLE))
    folder = notebook.parent
    (folder / "data").mkdir()
    for name, content in {
        "data/numbers.txt": "12",
        "helper.py": "one = 1",
        "given.txt": "mine",
        "big": "x" * 200_000,
    }.items():
        (folder / name).write_text(content)
    (folder / "link.py").symlink_to(tiny / "source" / TINY / f"{TINY}.py")
    (folder / "all").symlink_to(tiny / "source")
    os.mkfifo(folder / "pipe")
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.txt")).write_text("x")
    outcome = grade(tiny)["a"]
    executed = nbformat.read(tiny / "autograded/a" / TINY / f"{TINY}.ipynb", as_version=4)
    assert outcome.result.score == 5, [cell.get("outputs") for cell in executed.cells]
    assert outcome.result.messages == (
        "all, link.py: left out: a link, not a file",
        "big: left out: the files beside the notebook are too large (max_dir_size)",
        "pipe: left out: not an ordinary file",
        "\\udcff.txt: left out: its name is not UTF-8",
    )
    kept = {str(p.relative_to(tiny / "autograded/a" / TINY)) for p in (tiny / "autograded").rglob("*") if p.is_file()}
    assert kept == {"01_tiny.ipynb", "data/numbers.txt", "helper.py", "given.txt"}
    assert (tiny / "autograded/a" / TINY / "given.txt").read_text() == "the instructor's"


@pytest.mark.parametrize(
    ("theirs", "ours"), [("figures", "figures/a.svg"), ("data.csv/x", "data.csv"), ("a/b/c", "a/b"), ("a", "a/b/c")]
)
def test_a_name_that_the_instructor_s_files_need_costs_nothing(tiny: Path, theirs: str, ours: str) -> None:
    notebook = hand_in(tiny, "a", answered(tiny, **FULL))
    for root, name in ((notebook.parent, theirs), (tiny / "source" / TINY, ours)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(str(root))
    result = grade(tiny)["a"].result
    assert (result.status, result.score) == (Status.GRADED, 5)
    assert result.messages == (f"{theirs}: left out: the instructor's files need this name",)
    assert (tiny / "autograded/a" / TINY / ours).read_text() == str(tiny / "source" / TINY)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_notebook_that_may_not_be_read_is_not_graded_and_stops_no_other(tiny: Path) -> None:
    hand_in(tiny, "closed", answered(tiny, **FULL)).chmod(0)
    hand_in(tiny, "honest", answered(tiny, **FULL))
    outcomes = grade(tiny)
    assert outcomes["closed"].result.status == Status.FAILED
    assert "01_tiny.ipynb: Permission denied" in outcomes["closed"].result.messages[0]
    assert outcomes["honest"].result.score == 5


# ----------------------------------------------------------------------------------------------------- disks and places
@pytest.mark.parametrize(
    "table",
    [
        "student",
        pytest.param("submitted_assignment", marks=pytest.mark.thorough),
        pytest.param("submitted_notebook", marks=pytest.mark.thorough),
        "grade",
    ],
)
def test_a_full_database_is_said_in_words(table: str, tiny: Path) -> None:
    """SQLite's own words, raised by a trigger: nbgrader wraps them in errors of its own."""
    hand_in(tiny, "a", answered(tiny, **FULL))
    with sqlite3.connect(tiny / "gradebook.db") as database:
        full = "SELECT RAISE(ABORT, 'database or disk is full');"
        database.execute(f"CREATE TRIGGER full BEFORE INSERT ON {table} BEGIN {full} END")
    database.close()
    result = autograder("grade", TINY, "--course", tiny)
    said = "disk full; free some space and run the command again: what was stored is not lost"
    assert said in " ".join(result.stdout.split()), result.output
    assert "InvalidEntry" not in result.output
    assert "Error" not in result.stdout


def test_the_lock_is_taken_before_a_test_is_tried(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in(tiny, "a", answered(tiny, **FULL))
    monkeypatch.setattr("autograder.grading.grade_one.find_modes", pytest.fail)
    with (tiny / ".autograder" / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "another autograder is grading in this course\nhint: wait" in _fails("grade", TINY, "--course", tiny)


@pytest.mark.parametrize("name", ["with space", "[a-b]*", "müßig", "it's {here}"])
def test_a_course_may_stand_in_any_directory(name: str, tiny: Path) -> None:
    course = tiny.rename(tiny.with_name(name))
    hand_in(course, "a", answered(course, **FULL))
    assert grade(course)["a"].result.score == 5
    assert autograder("feedback", TINY, "--course", course).exit_code == 0


@contextlib.contextmanager
def _mounted(path: Path, size: str) -> Iterator[Path]:
    path.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"no small disk to fill: mount: {done.stderr.strip()}")
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)


def _fill(disk: Path, leave: int) -> Path:
    """Write a file that leaves so many bytes."""
    filler = disk / "filler"
    free = shutil.disk_usage(disk).free
    filler.write_bytes(b"x" * max(free - leave, 0))
    return filler


@pytest.mark.parametrize(
    "leave_kib", [0, pytest.param(8, marks=pytest.mark.thorough), 16, pytest.param(24, marks=pytest.mark.thorough)]
)
def test_a_full_disk_loses_nothing_and_the_same_command_goes_on(leave_kib: int, tiny: Path, tmp_path: Path) -> None:
    with _mounted(tmp_path / "disk", "8m") as disk:
        course = copied(tiny, disk / "course")
        hand_in(course, "a", answered(course, **FULL))
        grade(course)
        hand_in(course, "b", answered(course, **FULL))
        filler = _fill(disk, leave_kib << 10)
        full = autograder("grade", TINY, "--json", "--course", course)
        assert full.exit_code == 1, full.output
        assert "full" in full.stderr + full.stdout or "No space left" in full.stderr + full.stdout
        filler.unlink()
        outcomes = grade(course)
        assert {s: o.result.score for s, o in outcomes.items()} == {"a": 5, "b": 5}
        assert outcomes["a"].unchanged
        assert not outcomes["b"].unchanged


def test_a_full_disk_leaves_pages_and_exports_as_they_were(tiny: Path, tmp_path: Path) -> None:
    with _mounted(tmp_path / "disk", "8m") as disk:
        course = copied(tiny, disk / "course")
        hand_in(course, "a", answered(course, **FULL))
        grade(course)
        export = ("export", "--to", course / "grades.csv")
        for command in (("feedback", TINY), export):
            assert autograder(*command, "--course", course).exit_code == 0
        page = course / "feedback/a" / TINY / f"{TINY}.html"
        before = page.read_bytes(), (course / "grades.csv").read_bytes()
        _fill(disk, 0)
        for command in (("feedback", TINY), export):
            done = autograder(*command, "--course", course)
            assert (done.exit_code, done.stdout) == (1, "")
            assert f"{course}: No space left on device\nhint: free some space" in done.stderr
        assert (page.read_bytes(), (course / "grades.csv").read_bytes()) == before
        assert sorted(p.name for p in page.parent.iterdir()) == [page.name, "submission_secret.txt", "timestamp.txt"]


def test_a_read_only_course_can_be_looked_at_and_not_graded(tiny: Path, tmp_path: Path) -> None:
    hand_in(tiny, "a", answered(tiny, **FULL))
    grade(tiny)
    hand_in(tiny, "b", answered(tiny, **FULL))
    with _mounted(tmp_path / "disk", "8m") as disk:
        course = copied(tiny, disk / "course")
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        assert autograder("grade", TINY, "--dry-run", "--course", course).exit_code == 0
        exported = autograder("export", "--to", tmp_path / "grades.csv", "--course", course)
        assert exported.exit_code == 0, exported.stderr
        for command in ("grade", "feedback"):
            done = autograder(command, TINY, "--course", course)
            assert done.exit_code == 1
            assert "Read-only file system\nhint: the file system is read-only" in done.stderr, done.stderr


def test_a_read_only_folder_of_graded_copies_is_named_with_what_to_do(tiny: Path) -> None:
    hand_in(tiny, "a", answered(tiny, **FULL))
    with _mounted(tiny / "autograded", "1m") as folder:
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        done = autograder("grade", TINY, "--course", tiny)
        assert done.exit_code == 1
        said = f"{folder}/a: Read-only file system; remount this file system"  # of a long path the table shows no more
        assert "".join(said.split()) in "".join(done.stdout.split())  # the table breaks long paths within a word
