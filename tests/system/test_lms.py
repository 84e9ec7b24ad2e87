"""An instructor's whole path through a learning management system, and collecting and exporting as commands."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.collect import install
from autograder.course import open_course
from autograder.release.publish import release_labs
from tests.system.courses import (
    ADD,
    DOUBLE,
    FULL,
    TINY,
    answered,
    autograder,
    copied,
    grade,
    grade_by_hand,
    hand_in,
    process,
)

pytestmark = pytest.mark.slow

CANVAS = f"""\
Student,ID,SIS User ID,SIS Login ID,Section,{TINY} (5501),Current Score
    Points Possible,,,,,8,(read only)
"Lovelace, Ada",101,S1,ada,Monday,,
"Hopper, Grace",102,S2,grace,Monday,1,
"Turing, Alan",103,S3,alan,Tuesday,,
"""
LATE = "late, and no time is known: counts as 2 hours after the due date"
MOODLE = """\
Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified (grade)
Participant 901,Ada Lovelace,ada@uni.example,Submitted,,8.00,Yes,-
Participant 902,Grace Hopper,grace@uni.example,Submitted,,8.00,Yes,-
Participant 903,Alan Turing,alan@uni.example,No submission,,8.00,Yes,-
"""


def zipped(path: Path, files: Mapping[str, nbformat.NotebookNode | str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content if isinstance(content, str) else nbformat.writes(content))
    return path


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with what Canvas and Moodle hand out."""
    (tmp_path / "canvas.csv").write_text(CANVAS)
    (tmp_path / "moodle.csv").write_text(MOODLE)
    return tmp_path


def read(path: Path) -> list[list[str]]:
    return list(csv.reader(path.read_text().splitlines()))


def test_the_heading_names_the_folder_that_stands_around_all(tiny: Path, desk: Path) -> None:
    files = {f"week3/lovelaceada_101_9001_{TINY}.ipynb": answered(tiny, **FULL)}
    archive = zipped(desk / "in.zip", files)
    options = ("--from", "canvas", "--roster", desk / "canvas.csv", "--course", tiny)
    done = autograder("collect", TINY, archive, *options)
    assert (done.exit_code, done.stdout.splitlines()) == (
        0,
        ["student  file (in week3/)  what happened", f"ada      {TINY}.ipynb     new"],
    )


def test_from_the_zip_of_canvas_to_grades_in_every_system(tiny: Path, desk: Path) -> None:
    archive = zipped(
        desk / "submissions.zip",
        {
            f"lovelaceada_101_9001_{TINY}-1.ipynb": answered(tiny, **FULL),
            f"hoppergrace_LATE_102_9002_{TINY} (1).ipynb": answered(tiny, add=ADD, double=DOUBLE.replace("2 *", "3 *")),
            "../../evil_103_9003_x.ipynb": "{}",
        },
    )
    with Gradebook(f"sqlite:///{tiny}/gradebook.db", "tiny") as book:
        book.update_or_create_assignment(TINY, duedate="2030-01-01 12:00:00 UTC")
    options = ("--roster", desk / "canvas.csv", "--late", "2h", "--course", tiny)
    collected = autograder("collect", TINY, archive, *options)
    assert collected.exit_code == 1, "one file was dangerous, and that is not to be overlooked"
    assert collected.stdout.splitlines()[1:] == [
        "-        ../../evil_103_9003_x.ipynb  left out: a path that leads out of its folder",
        f"ada      {TINY}.ipynb                new; was {TINY}-1.ipynb",
        f"grace    {TINY}.ipynb                new; was {TINY} (1).ipynb; {LATE}",
    ]
    assert collected.stderr.startswith("2 students: 2 new\nnothing handed in, of those in canvas.csv: alan\nerror: ")
    assert "error: 1 submission could not be taken\nhint: " in collected.stderr

    assert autograder("grade", TINY, "--workers", "2", "--course", tiny).exit_code == 0
    grade_by_hand(tiny, "ada", "why", 2.5, comment="Well <b>said</b>.")
    pages = autograder("feedback", TINY, "--course", tiny).stdout.splitlines()
    page = next(Path(line) for line in pages if "/ada/" in line).read_text()
    assert "Well &lt;b&gt;said&lt;/b&gt;." in page
    assert "7.5 <small>of 8" in page
    assert "check.equal" not in page, "the source of no test"

    for form, roster in (("nbgrader", ""), ("canvas", "canvas.csv"), ("moodle", "moodle.csv"), ("gradescope", "")):
        more = ["--roster", str(desk / roster)] if roster else []
        target = desk / f"out-{form}.csv"
        done = autograder("export", "--format", form, *more, "--to", target, "--course", tiny)
        assert done.exit_code == 0, done.stderr
    assert [row[2:4] + row[9:] for row in read(desk / "out-nbgrader.csv")[1:]] == [
        ["", "ada", "7.5", "8"],
        ["2030-01-01 14:00:00", "grace", "2", "8"],
    ]
    assert read(desk / "out-canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", f"{TINY} (5501)"],
        ["    Points Possible", "", "", "", "", "8"],
        ["Lovelace, Ada", "101", "S1", "ada", "Monday", "7.5"],
        ["Hopper, Grace", "102", "S2", "grace", "Monday", "2"],
    ]
    assert [row[4] for row in read(desk / "out-moodle.csv")] == ["Grade", "7.50", "2.00", ""]
    gradescope = read(desk / "out-gradescope.csv")
    assert gradescope[0][13:] == ["1: add-check (2.0 pts)", "2: double-check (3.0 pts)", "3: why (3.0 pts)"]
    assert gradescope[1][13:] == ["2", "3", "2.5"]

    source = tiny / "source" / TINY / f"{TINY}.py"
    source.write_text(source.read_text().replace("check.equal(double(3), 6)", "check.equal(double(3), 7)"))
    list(release_labs(tiny, (TINY,)))
    export = ("export", "--to", "-", "--course", tiny)
    changed = "2 students graded with tests that have been changed since: ada, grace; autograder grade"
    assert changed in autograder(*export).stderr
    submitted = tiny / "submitted/grace" / TINY / f"{TINY}.ipynb"
    before = submitted.read_bytes()
    submitted.write_bytes(before + b"\n")
    for command in (export, ("feedback", TINY, "--course", tiny), ("report", TINY, "--course", tiny)):
        assert "1 student handed in anew since: grace; autograder grade 01_tiny" in autograder(*command).stderr
    submitted.write_bytes(before)
    again = autograder("grade", TINY, "--course", tiny)
    assert "6.5/8  graded  was 7.5; double-check 2/3: three is doubled" in again.stdout
    assert open_course(tiny).score("ada", TINY).comments[f"{TINY}/why"] == "Well <b>said</b>."
    verified = autograder("verify", "--course", tiny)
    assert (verified.exit_code, verified.stdout.count("01_tiny: by hand")) == (0, 2), verified.stdout
    report = json.loads(autograder("report", TINY, "--json", "--course", tiny).stdout)
    assert (report["statuses"], report["scores"]["highest"]) == ({"graded": 2}, 6.5)


def test_formgrader_s_own_numbers_are_those_that_were_exported(tiny: Path, desk: Path) -> None:
    from nbgrader.api import Gradebook

    hand_in(tiny, "ada", answered(tiny, **FULL))
    grade(tiny)
    grade_by_hand(tiny, "ada", "why", 1.25, extra=0.5)
    autograder("export", "--course", tiny, "--to", desk / "grades.csv")
    with Gradebook(f"sqlite:///{tiny}/gradebook.db", "tiny") as book:
        (shown,) = book.submission_dicts(TINY)  # what formgrader's table of submissions is made of
        assert (shown["score"], shown["max_score"], shown["student"]) == (6.75, 8, "ada")
    assert float(read(desk / "grades.csv")[1][9]) == 6.75


def test_a_second_download_brings_what_is_newer_and_leaves_the_rest(tiny: Path, desk: Path) -> None:
    first = zipped(desk / "a.zip", {"ada/x.ipynb": answered(tiny), "bob/x.ipynb": answered(tiny)})
    assert autograder("collect", TINY, first, "--course", tiny).exit_code == 0
    before = answered(tiny, add=ADD)
    second = desk / "b.zip"
    with zipfile.ZipFile(second, "w") as archive:
        archive.writestr(zipfile.ZipInfo("ada/x.ipynb", (2100, 1, 1, 0, 0, 0)), nbformat.writes(before))
        archive.writestr(zipfile.ZipInfo("bob/x.ipynb", (2100, 1, 1, 0, 0, 0)), nbformat.writes(answered(tiny)))
    tried = autograder("collect", TINY, second, "--course", tiny, "--dry-run")
    assert [line.split("  ")[-1] for line in tried.stdout.splitlines()[1:]] == [
        "would be replaced; was x.ipynb", "unchanged; was x.ipynb",
    ]  # fmt: skip
    done = autograder("collect", TINY, second, "--course", tiny)
    assert "replaced; the one before is in .autograder/replaced/01_tiny/ada/" in done.stdout
    assert len(list((tiny / ".autograder" / "replaced").rglob("*.ipynb"))) == 1
    assert sorted(grade(tiny)) == ["ada", "bob"]


def test_the_count_is_of_the_students_whose_work_is_collected_in_a_dry_run_too(tiny: Path, desk: Path) -> None:
    with Gradebook(f"sqlite:///{tiny}/gradebook.db", "tiny") as book:
        book.update_or_create_student("ada")
    work = answered(tiny, **FULL)
    files = {f"ada_101_9001_{TINY}.ipynb": work, "grace_102_9002_lab.pdf": "no notebook", "alan_103_9003_x.ipynb": work}
    collect = ("collect", TINY, zipped(desk / "in.zip", files), "--roster", desk / "canvas.csv", "--course", tiny)
    dry = autograder(*collect, "--dry-run").stderr.splitlines()[0]
    assert dry == "2 students: 2 new (dry run: nothing was written)"
    assert autograder(*collect).stderr.splitlines()[0] == "2 students: 2 new"
    assert len(list((tiny / "submitted").glob(f"*/{TINY}"))) == 2
    assert autograder(*collect).stderr.splitlines()[0] == "2 students: 2 unchanged"


def test_what_is_no_archive_is_an_error_with_a_hint(tiny: Path, desk: Path) -> None:
    (desk / "page.zip").write_text("<html>please log in</html>")
    result = autograder("collect", TINY, desk / "page.zip", "--course", tiny)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "not a zip file, or broken" in result.stderr
    assert "hint: download it again" in result.stderr
    itself = autograder("collect", TINY, tiny, "--course", tiny)
    assert (itself.exit_code, "the course itself, whose sources are no submissions" in itself.stderr) == (1, True)
    assert autograder("collect", "nope", desk / "page.zip", "--course", tiny).exit_code == 1
    assert autograder("collect", TINY, desk / "none.zip", "--course", tiny).exit_code == 2


def test_what_one_student_hands_in_stops_nobody_else_s_collection(tiny: Path, desk: Path) -> None:
    metadata = "".join(
        f"submission_{number}:\n  :submitters:\n  - :sid: {own}\n  :created_at: 2026-11-20 13:00:00 Z\n"
        for number, own in ((1, "ada"), (2, "eve"), (3, "zoe"))
    )
    work = answered(tiny, **FULL)
    archive = zipped(
        desk / "export.zip",
        {
            "submission_metadata.yml": metadata,
            **{f"submission_{number}/{TINY}.ipynb": work for number in (1, 2, 3)},
            "submission_2/timestamp.txt/x": "in the way",
            **{f"submission_2/{number}": "" for number in range(20_001)},
        },
    )
    result = autograder("collect", TINY, archive, "--course", tiny)
    assert result.exit_code == 0, result.stderr
    assert re.search(r"^eve +18002 more +left out: more than 2000 files beside the notebook$", result.stdout, re.M)
    for own in ("ada", "eve", "zoe"):
        folder = tiny / "submitted" / own / TINY
        assert nbformat.read(folder / f"{TINY}.ipynb", 4) == work
        assert (folder / "timestamp.txt").read_text() == "2026-11-20 13:00:00 UTC\n"


def test_an_extension_in_the_gradebook_outlives_each_collect_from_gradescope(tiny: Path, desk: Path) -> None:
    config = tiny / "nbgrader_config.py"
    config.write_text(config.read_text() + 'c.LateSubmissionPlugin.penalty_method = "zero"\n')
    metadata = "submission_1:\n  :submitters:\n  - :sid: ada\n  :created_at: 2026-11-20 13:00:00 Z\n"
    files = {"submission_metadata.yml": metadata, f"submission_1/{TINY}.ipynb": answered(tiny, **FULL)}
    archive = zipped(desk / "export.zip", files)
    with Gradebook(f"sqlite:///{tiny}/gradebook.db", "tiny") as book:
        book.update_or_create_assignment(TINY, duedate="2026-11-20 12:00:00 UTC")
    assert autograder("collect", TINY, archive, "--course", tiny).exit_code == 0
    grade(tiny)
    assert open_course(tiny).score("ada", TINY).penalty == 5
    with Gradebook(f"sqlite:///{tiny}/gradebook.db", "tiny") as book:
        book.grant_extension(TINY, "ada", hours=2)
    for more in ((), ("--force",)):
        assert autograder("collect", TINY, archive, *more, "--course", tiny).exit_code == 0
        grade(tiny)
        assert (open_course(tiny).score("ada", TINY).penalty, open_course(tiny).score("ada", TINY).score) == (0, 5)
    row = autograder("export", "--format", "gradescope", "--to", "-", "--course", tiny).stdout.splitlines()[1]
    assert ",2026-11-20 13:00:00,00:00:00," in row


@pytest.mark.parametrize(
    ("number", "hint"), [(errno.ENOSPC, "hint: free some space"), (errno.EROFS, "hint: the file system is read-only")]
)
def test_a_full_disk_is_said_once_after_what_was_collected(
    tiny: Path, desk: Path, monkeypatch: pytest.MonkeyPatch, number: int, hint: str
) -> None:
    write = install._write_one

    def full(path: Path, data: bytes, when: float) -> None:
        if "bob" not in path.parts:
            raise OSError(number, os.strerror(number), str(path))
        write(path, data, when)

    monkeypatch.setattr(install, "_write_one", full)
    archive = zipped(desk / "a.zip", {f"{own}/{TINY}.ipynb": answered(tiny) for own in ("ada", "bob", "cyd")})
    result = autograder("collect", TINY, archive, "--course", tiny)
    assert result.exit_code == 1
    assert result.stdout.count(f"left out: it cannot be written: {os.strerror(number)}") == 2
    assert f"bob      {TINY}.ipynb  new" in result.stdout
    assert "2 submissions could not be taken; the table above says which" in result.stderr
    assert result.stderr.count(f"{os.strerror(number)}\n{hint}") == result.stderr.count("hint: ") == 1
    assert sorted(path.name for path in (tiny / "submitted").glob("*/*")) == [TINY]


@pytest.fixture(scope="module")
def graded(tiny_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = copied(tiny_template, tmp_path_factory.mktemp("graded"))
    hand_in(course, "ada", answered(course, **FULL))
    hand_in(course, "eve", answered(course, add=ADD))
    grade(course)
    return course


def test_whoever_is_left_out_of_an_export_is_listed(graded: Path, desk: Path) -> None:
    result = autograder(
        "export", "--course", graded, "--format", "canvas", "--roster", desk / "canvas.csv", "--to", "-"
    )
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "Hopper, Grace: left out: nothing of theirs in the gradebook",
        "Turing, Alan: left out: nothing of theirs in the gradebook",
        "eve: left out: not in canvas.csv",
        f"{TINY}: written answers of 1 student are still to be graded by hand: ada",
        "1 row",
    ]


@pytest.fixture
def with_absent(graded: Path, tmp_path: Path) -> Path:
    """The graded course with two students of whom there is nothing, and a lab that nobody has handed in."""
    course = copied(graded, tmp_path / "course")
    with Gradebook(f"sqlite:///{course}/gradebook.db", "tiny") as book:
        book.update_or_create_student("cy", first_name="Cy", last_name="Young", email="cy@uni.example")
        book.update_or_create_student("dropped")
        book.update_or_create_assignment("02_next")
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text() + 'c.CourseDirectory.student_id_exclude = "dropped"\n')
    return course


def test_an_export_has_a_row_for_every_student_and_lab_as_nbgrader_s_has(with_absent: Path, desk: Path) -> None:
    ours, theirs = desk / "ours.csv", desk / "theirs.csv"
    done = autograder("export", "--course", with_absent, "--to", ours)
    assert f"{TINY}: nothing graded of 1 student: cy; 0 points in the file, as in nbgrader's own" in done.stderr
    assert "02_next" not in done.stderr, "nobody has handed it in yet: no news"
    process("nbgrader", "export", "--to", theirs, cwd=with_absent)
    expected = [row for row in read(theirs)[1:] if row[3] != "dropped"]
    points = {(row[0], row[3]): (*row[4:7], *map(float, row[7:])) for row in read(ours)[1:]}
    assert points == {(row[0], row[3]): (*row[4:7], *map(float, row[7:])) for row in expected}
    assert points[TINY, "cy"] == ("Young", "Cy", "cy@uni.example", 0.0, 0.0, 0.0, 8.0)
    assert len(points) == 2 * 3


def test_who_handed_in_nothing_is_said_in_each_system_s_way(with_absent: Path) -> None:
    export = ("export", "--course", with_absent, "--lab", TINY, "--to", "-", "--format")
    for form in ("canvas", "moodle"):
        done = autograder(*export, form)
        assert "Young" not in done.stdout
        left_out = "left out, so that the points that are there stay as they are"
        assert f"{TINY}: nothing graded of 1 student: cy; {left_out}" in done.stderr
    done = autograder(*export, "gradescope")
    assert "Cy,Young,cy,cy@uni.example,,,8,Missing,,,,,,,," in done.stdout.splitlines()
    assert "cy; Missing in the file" in done.stderr


def test_nobody_has_looked_at_what_could_not_be_read_and_that_is_said(graded: Path, tmp_path: Path) -> None:
    course = copied(graded, tmp_path / "course")
    grade_by_hand(course, "ada", "why", 2.5)
    for student, content in (("ada", b""), ("bob", b""), ("cy", b"{")):
        hand_in(course, student, content)
    assert {s: str(o.result.status) for s, o in grade(course).items() if s != "eve"} == dict.fromkeys(
        ("ada", "bob", "cy"), "unreadable"
    )
    assert [open_course(course).score(s, TINY).score for s in ("ada", "bob", "cy")] == [2.5, 0, 0], (
        "points by hand stay"
    )
    commands = (("export", "--to", "-"), ("report", TINY), ("feedback", TINY))
    said = "what 3 students handed in could not be read, and nobody has looked at it (0 points by the grader)"
    for command in commands:
        assert f"{TINY}: {said}: ada, bob, cy; ask for the file" in autograder(*command, "--course", course).stderr
    changed = "are from before the answer, its test or its maximum was changed: ada"
    assert changed in autograder(*commands[0], "--course", course).stderr
    grade_by_hand(course, "ada", "why", 0.0)
    grade_by_hand(course, "bob", "why", 1.0)
    hand_in(course, "cy", answered(course, **FULL))
    for command in commands:
        assert "could not be read" not in autograder(*command, "--course", course).stderr


def test_an_export_replaces_an_export_of_its_kind_and_nothing_else(graded: Path, desk: Path) -> None:
    target = desk / "grades.csv"
    form = ["--format", "canvas", "--roster", str(desk / "canvas.csv")]
    for _ in range(2):
        assert autograder("export", "--course", graded, *form, "--to", target).exit_code == 0
    other = autograder("export", "--course", graded, "--to", target)
    assert (other.exit_code, "is there already and is not an export" in other.stderr) == (1, True)
    own = autograder("export", "--course", graded, *form, "--to", desk / "canvas.csv")
    assert (own.exit_code, (desk / "canvas.csv").read_text()) == (1, CANVAS), "Canvas's own file is not overwritten"
    worksheet = ["--format", "moodle", "--roster", str(desk / "moodle.csv"), "--to", str(desk / "moodle.csv")]
    assert autograder("export", "--course", graded, *worksheet).exit_code == 1
    assert (desk / "moodle.csv").read_text() == MOODLE


def test_an_earlier_export_is_known_also_when_its_columns_are_others_now(graded: Path, desk: Path) -> None:
    target = desk / "grades.csv"
    form = ["--format", "canvas", "--roster", str(desk / "canvas.csv")]
    assert autograder("export", "--course", graded, *form, "--to", target).exit_code == 0
    (desk / "canvas.csv").write_text(CANVAS.replace("Section", "Section,Notes", 1).replace("Monday", "Monday,x"))
    before = target.read_bytes()
    again = autograder("export", "--course", graded, *form, "--to", target)
    assert again.exit_code == 0, again.stderr
    target.write_bytes(before + b"my own line\n")
    changed = autograder("export", "--course", graded, "--format", "canvas", "--to", target)
    assert (changed.exit_code, "or was changed since" in changed.stderr) == (1, True)


def test_a_roster_that_would_not_be_used_is_wrong_usage(graded: Path, desk: Path) -> None:
    result = autograder("export", "--course", graded, "--roster", desk / "canvas.csv", "--to", "-")
    assert (result.exit_code, "belongs to another --format" in result.stderr) == (2, True)


def test_a_roster_of_another_system_is_refused(graded: Path, desk: Path) -> None:
    for form, roster, said in (
        ("canvas", "moodle.csv", "no gradebook of Canvas"),
        ("moodle", "canvas.csv", "not a grading worksheet"),
    ):
        result = autograder("export", "--course", graded, "--format", form, "--roster", desk / roster, "--to", "-")
        assert (result.exit_code, said in result.stderr, result.stdout) == (1, True, "")


def test_what_cannot_be_graded_is_named_when_it_is_collected(tiny: Path, desk: Path) -> None:
    files = {"ada/01_tiny.ipynb": answered(tiny, **FULL), "grace/01_tiny.ipynb": ""}
    collected = autograder("collect", TINY, zipped(desk / "in.zip", files), "--course", tiny)
    assert collected.exit_code == 1
    assert "2 students: 2 new\nerror: 1 submission cannot be graded\nhint: " in collected.stderr
    assert "new; cannot be graded: 01_tiny.ipynb: the file is empty; hand in" in collected.stdout
    files["../x.ipynb"] = "{}"
    collected = autograder("collect", TINY, zipped(desk / "in.zip", files), "--course", tiny)
    assert "error: 1 submission could not be taken; 1 submission cannot be graded\n" in collected.stderr


def test_a_zip_file_without_folders_is_told_what_would_help(tiny: Path, desk: Path) -> None:
    work = answered(tiny, **FULL)
    collected = autograder("collect", TINY, zipped(desk / "in.zip", {f"ada_{TINY}.ipynb": work}), "--course", tiny)
    assert collected.exit_code == 1
    assert collected.stderr == (
        "0 students\nerror: 1 submission could not be taken\nhint: the table above says why; nothing is in its place;"
        " put each student's files into a folder of that name: STUDENT/NOTEBOOK.ipynb\n"
    )
