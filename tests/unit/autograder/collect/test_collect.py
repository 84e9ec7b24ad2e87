"""Whose a file is, which of several counts, and what of a hostile archive is left out; nothing is written elsewhere."""

from __future__ import annotations

import os
import stat
import struct
import time
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.collect.archive import open_archive
from autograder.collect.gradescope_metadata import read_metadata
from autograder.collect.install import IN_TIME_NOW, LATE_NOW, UNCHANGED
from autograder.collect.lms_names import detect
from autograder.course import Lateness
from autograder.errors import CourseError, SubmissionError
from tests.unit.autograder.collect.desk import (
    LAB,
    NEW,
    NOON,
    Course,
    collected,
    folder_of,
    notebook,
    roster,
    said,
    text_of,
    there,
    zipped,
)  # fmt: skip

# --------------------------------------------------------------------------------------------------------------- Canvas
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,lab (5)
    Points Possible,,,,,10
"Lovelace, Ada",101,S1,ada,A,
"O'Neill, Tip",102,S2,tip,A,
"Hopper, Grace",103,S3,grace,A,
"""


def row_of(number: int) -> str:
    """Return what is said of the row that would tell two people of one name apart."""
    columns = f"(Canvas: column ID; Moodle: Participant {number} in Identifier)"
    return f"give --roster FILE with a row for the number {number} {columns}"


def test_canvas_s_flat_names_find_their_students_by_number(course: Course) -> None:
    files = {
        "lovelaceada_101_9001_lab.ipynb": "ada's",
        "lovelaceada_101_9002_data.csv": "1,2",
        "oneilltip_LATE_102_9003_lab-1.ipynb": "tip's",
        "hoppergrace_103_9004_lab (1).ipynb": "grace's",
        "whoever_104_9005_lab.ipynb": "?",
    }
    rows = collected(course, files, roster=roster(course, CANVAS))
    assert there(course) == {
        "ada/lab/data.csv": "1,2", "ada/lab/lab.ipynb": "ada's", "tip/lab/lab.ipynb": "tip's",
        "grace/lab/lab.ipynb": "grace's",
    }  # fmt: skip
    assert said(rows) == {
        "ada": "new",
        "tip": "new; was lab-1.ipynb; late, and no time is known: no penalty (see --late)",
        "grace": "new; was lab (1).ipynb",
        "whoever: lab.ipynb": "left out: no such student in the gradebook or in the roster",
    }
    assert [row.file for row in rows if row.lost] == ["whoever: lab.ipynb"]


def test_a_student_whom_canvas_calls_anon_may_be_late(course: Course) -> None:
    listed = roster(course, CANVAS + "Anon,104,S4,anon,A,\n")
    rows = collected(course, {"anon_LATE_104_9006_lab.ipynb": "anon's"}, roster=listed)
    assert there(course) == {"anon/lab/lab.ipynb": "anon's"}
    assert said(rows)["anon"].startswith("new; late")


def test_of_an_archive_of_the_whole_class_one_student_s_may_be_taken(course: Course) -> None:
    files = {f"{name}_{number}_1_lab.ipynb": name for name, number in (("lovelaceada", 101), ("oneilltip", 102))}
    files["whoever_104_9005_lab.ipynb"] = "?"
    given = {"roster": roster(course, CANVAS)}
    assert said(collected(course, files, students=("tip",), **given)) == {"tip": "new"}
    assert there(course) == {"tip/lab/lab.ipynb": "oneilltip"}
    with pytest.raises(CourseError) as error:
        collected(course, files, students=("ada", "grace", "eve"), **given)
    said_of_both = "in.zip: nothing in it is from eve, grace, as far as ids, addresses and names say"
    assert (
        f"{said_of_both}; theirs may be what no student is known for: whoever: lab.ipynb\nhint: give a --roster FILE in"
        in (str(error.value))
    )
    del files["whoever_104_9005_lab.ipynb"]
    with pytest.raises(
        CourseError, match=rf"{said_of_both}\nhint: is the id right\? .* --dry-run and without --student"
    ):
        collected(course, files, students=("ada", "grace", "eve"), **given)
    assert "ada/lab/lab.ipynb" not in there(course)


def test_canvas_s_names_find_students_of_the_gradebook_too(course: Course) -> None:
    course.known = [("a1", "Lovelace", "Ada"), ("k1", "Lee", "Kim"), ("k2", "Lee", "Kim")]
    rows = collected(course, {"lovelaceada_1_2_lab.ipynb": "x", "leekim_3_4_lab.ipynb": "y"})
    assert there(course) == {"a1/lab/lab.ipynb": "x"}
    assert said(rows)["leekim: lab.ipynb"] == f"left out: k1, k2 have this name; {row_of(3)}"


def test_where_nobody_is_known_the_name_in_the_archive_is_the_student_s(course: Course) -> None:
    rows = collected(course, {"lovelaceada_101_9001_lab.ipynb": "x"})
    assert list(there(course)) == ["lovelaceada/lab/lab.ipynb"]
    assert rows[0].what == "the name is the archive's; with --roster FILE it would be the id"


def test_two_people_of_one_name_do_not_take_each_other_s_place(course: Course) -> None:
    files = {"leekim_1_11_lab.ipynb": "one", "leekim_2_12_lab.ipynb": "two", "lovelaceada_3_13_lab.ipynb": "ada's"}
    rows = collected(course, files)
    assert there(course) == {"lovelaceada/lab/lab.ipynb": "ada's"}, "a number is no id: without the other there is none"
    assert [row.what for row in rows if row.lost] == [
        f"left out: more than one person has this name; {row_of(number)}" for number in (1, 2)
    ]
    header = "Student,ID,SIS User ID,SIS Login ID,Section\n"
    people = roster(course, f'{header}"Lee, Kim",1,S1,k1,A\n"Lee, Kim",2,S2,k2,A\n"Lovelace, Ada",3,S3,lovelaceada,A\n')
    collected(course, files, roster=people)
    assert {n: t for n, t in there(course).items() if t != "ada's"} == {
        "k1/lab/lab.ipynb": "one",
        "k2/lab/lab.ipynb": "two",
    }


def test_two_people_of_one_name_in_the_roster_need_their_numbers_there(course: Course) -> None:
    files = {f"Kim Lee_{n}_assignsubmission_file_/lab.ipynb": str(n) for n in (901, 902)}
    sheet = "Identifier,Full name,Email address\n{}Kim Lee,k1@x.example\n{}Kim Lee,k2@x.example\n"
    for archive in (files, dict([*files.items()][:1])):
        rows = collected(course, archive, roster=roster(course, sheet.format("Participant 7,", "Participant 8,")))
        assert there(course) == {}
        assert next(row.what for row in rows) == (
            "left out: more than one person has this name; the roster needs a row for the number 901"
            " (Canvas: column ID; Moodle: Participant 901 in Identifier) with an id or an address"
        )
    collected(course, files, roster=roster(course, sheet.format("Participant 901,", "Participant 902,")))
    assert there(course) == {"k1@x.example/lab/lab.ipynb": "901", "k2@x.example/lab/lab.ipynb": "902"}


def test_two_people_who_go_by_one_student_s_name_are_both_left_out(course: Course) -> None:
    course.known = [("ada", "Lovelace", "Ada"), ("eve", "", "")]
    files = {f"Ada Lovelace_{n}_assignsubmission_file_/lab.ipynb": "x" for n in (901, 902)}
    rows = collected(course, files)
    assert there(course) == {}
    assert {row.what for row in rows if row.lost} == {
        f"left out: more than one person has the name of this student; {row_of(number)}" for number in (901, 902)
    }


def test_of_several_attempts_the_newest_attachment_counts(course: Course) -> None:
    files = {
        "ada_1_30_lab-2.ipynb": "third",
        "ada_1_10_lab.ipynb": "first",
        "ada_1_20_lab-1.ipynb": "second",
    }
    rows = collected(course, files)
    assert there(course) == {"ada/lab/lab.ipynb": "third"}
    assert rows[-1].what == "new; the newest of 3 files; was lab-2.ipynb"


@pytest.mark.parametrize(
    "name",
    ["lab.ipynb", "lab (2).ipynb", "lab(1).ipynb", "lab-1.ipynb", "Lab.IPYNB", "lab-Copy1.ipynb", "lab - Copy.ipynb",
     "lab copy 2.ipynb", "my solution.ipynb"],
)  # fmt: skip
def test_a_renamed_notebook_is_found(course: Course, name: str) -> None:
    collected(course, {f"ada_1_2_{name}": "x"})
    assert there(course) == {"ada/lab/lab.ipynb": "x"}


def test_of_a_right_and_a_wrong_name_the_right_one_counts(course: Course) -> None:
    rows = collected(course, {"ada_1_2_lab.ipynb": "right", "ada_1_3_notes.ipynb": "wrong"})
    assert there(course) == {"ada/lab/lab.ipynb": "right"}
    said = "left out: another notebook, newer than lab.ipynb, which is taken for its name"
    assert [(row.file, row.what) for row in rows][-1] == ("notes.ipynb", said)
    older = collected(course, {"ada_1_3_lab.ipynb": "right", "ada_1_2_notes.ipynb": "wrong"}, force=True)
    assert older[-1].what == "left out: another notebook"


def test_every_notebook_of_a_lab_is_found(course: Course) -> None:
    course.names = ["p1", "p2"]
    collected(course, {"ada_1_2_p1.ipynb": "one", "ada_1_3_p2 (1).ipynb": "two", "ada_1_4_p3.ipynb": "three"})
    assert there(course) == {"ada/lab/p1.ipynb": "one", "ada/lab/p2.ipynb": "two"}


@pytest.mark.parametrize(("first", "second"), [("part-1", "part-2"), ("part (1)", "part (2)"), ("hw", "hw-1")])
@pytest.mark.parametrize("copy", ["", " (1)", "-2"])
def test_a_number_that_is_a_notebook_s_own_does_not_make_it_a_copy_of_another(
    first: str, second: str, copy: str, course: Course
) -> None:
    course.names = [first, second]
    both = {f"ada_1_2_{second}{copy}.ipynb": "two", f"ada_1_3_{first}.ipynb": "one", f"tip_2_4_{second}.ipynb": "tip's"}
    collected(course, both)
    assert there(course) == {
        f"ada/lab/{first}.ipynb": "one", f"ada/lab/{second}.ipynb": "two", f"tip/lab/{second}.ipynb": "tip's"
    }  # fmt: skip


def test_another_lab_s_number_is_no_copy(course: Course) -> None:
    course.names = ["ps-1"]
    collected(course, [("ada_1_2_ps-1.ipynb", "mine"), ("ada_1_3_ps-2.ipynb", "of the next lab")])
    assert there(course) == {"ada/lab/ps-1.ipynb": "mine"}


def test_an_anonymous_file_has_the_number_that_canvas_gave_it_and_not_the_student_s(course: Course) -> None:
    files = {"anon_x7_55_101_9_lab.ipynb": "x"}
    rows = collected(course, files, roster=roster(course, CANVAS))
    assert there(course) == {}
    assert rows[0].lost


def test_what_a_student_calls_a_file_does_not_make_it_another_s(course: Course) -> None:
    files = {
        "lovelaceada_101_1_lab.ipynb": "ada's",
        "hoppergrace_103_2_lab.ipynb": "grace's",
        "oneilltip_102_3_lovelaceada_101_99999_lab.ipynb": "tip's",
        "oneilltip_102_4_Ada Lovelace_101_assignsubmission_file_lab.ipynb": "tip's",
    }
    collected(course, files, roster=roster(course, CANVAS))
    assert {name: text for name, text in there(course).items() if text != "tip's"} == {
        "ada/lab/lab.ipynb": "ada's", "grace/lab/lab.ipynb": "grace's",
    }  # fmt: skip


# --------------------------------------------------------------------------------------------------------------- Moodle
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade\n"
    "Participant 901,Ada Lovelace,ada@x.example,,,10\n"
    "Participant 902,Zoë Müller,zoe@x.example,,,10\n"
)


@pytest.mark.parametrize(
    "form",
    ["{}_{}_assignsubmission_file_/{}", "{}_{}_assignsubmission_file/{}", "{}_{}_assignsubmission_file_{}"],
)
def test_moodle_s_names_find_their_students_by_participant(course: Course, form: str) -> None:
    files = {
        form.format("Ada Lovelace", 901, "lab.ipynb"): "ada's",
        form.format("Zoë Müller", 902, "lab(1).ipynb"): "zoe's",
        "Ada Lovelace_901_assignsubmission_onlinetext_/onlinetext.html": "<p>",
    }
    course.known = [("ada", "", "", "ada@x.example"), ("zoe", "", "", "")]
    collected(course, files, roster=roster(course, WORKSHEET))
    assert there(course) == {"ada/lab/lab.ipynb": "ada's", "zoe/lab/lab.ipynb": "zoe's"}


def test_a_text_typed_into_moodle_is_its_student_s_and_not_taken(course: Course) -> None:
    course.known = [("ada", "Lovelace", "Ada")]
    folder = "Ada Lovelace_904_assignsubmission_{}_/{}"
    files = {folder.format("file", "lab.ipynb"): "x", folder.format("onlinetext", "onlinetext.html"): "<p>"}
    rows = collected(course, files)
    assert there(course) == {"ada/lab/lab.ipynb": "x"}
    what = "left out: a text typed into Moodle, not a file"
    assert [(row.student, row.file, row.what) for row in rows][1:] == [("ada", "onlinetext.html", what)]


def test_moodle_without_a_worksheet_finds_names(course: Course) -> None:
    course.known = [("ada", "Lovelace", "Ada")]
    collected(course, {"Ada Lovelace_901_assignsubmission_file_/lab.ipynb": "x"})
    assert there(course) == {"ada/lab/lab.ipynb": "x"}


# ----------------------------------------------------------------------------------------------------------- Gradescope
METADATA = """\
---
submission_7001:
  :submitters:
  - :name: Ada Lovelace
    :sid: ada
    :email: ada@x.example
  :created_at: 2026-11-20 13:00:00.123456000 Z
  :score: 0.0
  :results: !ruby/object:Results
    tests: []
submission_7002:
  :submitters:
  - :name: Tip
    :sid: '0042'
    :email: tip@x.example
  - :name: Grace
    :sid:
    :email: grace@x.example
  :created_at: 2026-11-20 14:00:00 +02:00
"""


def test_gradescope_s_folders_find_their_submitters_and_times(course: Course) -> None:
    course.known = [("ada",), ("0042",), ("grace", "", "", "grace@x.example")]
    top = "assignment_55_export/"
    files = {
        f"{top}submission_metadata.yml": METADATA,
        f"{top}submission_7001/lab.ipynb": "ada's",
        f"{top}submission_7001/timestamp.txt": "2020-01-01 00:00:00 UTC",
        f"{top}submission_7001/submission_metadata.yml": "submission_7001: {}",
        f"{top}submission_7002/lab.ipynb": "both",
    }
    rows = collected(course, files)
    found = there(course)
    assert found["ada/lab/timestamp.txt"] == "2026-11-20 13:00:00 UTC\n", "not what the student says"
    assert found["0042/lab/timestamp.txt"] == "2026-11-20 12:00:00 UTC\n"
    assert (found["0042/lab/lab.ipynb"], found["grace/lab/lab.ipynb"]) == ("both", "both")
    assert "left out: a student's own timestamp.txt proves nothing" in [row.what for row in rows]


@pytest.mark.parametrize("known", [[], [("ada",), ("7003",)]])
def test_a_folder_that_gradescope_s_metadata_lack_is_no_student_s(course: Course, known: list[tuple[str]]) -> None:
    course.known = known
    unlisted = {
        "assignment_1_export/submission_7003/lab.ipynb": "?",
        "assignment_1_export/submission_7003/own.csv": "1",
        "assignment_1_export/submission_7004/lab.ipynb": "?",
    }
    metadata = f"{METADATA}submission_7004:\n  :submitters: []\n"
    rows = collected(
        course,
        {
            "assignment_1_export/submission_metadata.yml": metadata,
            "assignment_1_export/submission_7001/lab.ipynb": "ada's",
            **unlisted,
        },
    )
    assert {name.split("/")[0] for name in there(course)} == {"ada"}
    assert [(row.file, row.what, row.lost) for row in rows if not row.student] == [
        (f"{n}: lab.ipynb", f"left out: submission_metadata.yml names nobody for submission_{n}", True)
        for n in (7003, 7004)
    ]


def test_where_there_are_no_metadata_the_folder_s_number_is_taken(course: Course) -> None:
    rows = collected(course, {"submission_7003/lab.ipynb": "?"})
    assert list(there(course)) == ["7003/lab/lab.ipynb"]
    assert rows[0].what == "the name is the archive's; with --roster FILE it would be the id"


def test_a_folder_that_the_metadata_lack_is_whose_gradescope_s_grades_say(course: Course) -> None:
    files = {"submission_metadata.yml": METADATA, "submission_7003/lab.ipynb": "kim's"}
    collected(course, files, roster=roster(course, "Name,SID,Email,Submission ID\nKim Lee,kim,kim@x.example,7003\n"))
    assert list(there(course)) == ["kim/lab/lab.ipynb"]


def test_a_student_s_own_metadata_file_is_not_gradescope_s(course: Course) -> None:
    files = {
        "submission_1/submission_metadata.yml": METADATA.replace("7001", "1"),
        "submission_1/lab.ipynb": "mallory's",
    }
    course.known = [("ada",)]
    assert collected(course, files)[-1].lost
    assert there(course) == {}


@pytest.mark.parametrize("data", [b"\xff\xfe\xff", b"[1, 2]", b"a: [", b"x", b"a: &a [*a"])
def test_metadata_that_cannot_be_read_is_an_error(data: bytes) -> None:
    with pytest.raises(CourseError, match=r"submission_metadata\.yml"):
        read_metadata(data)


def test_metadata_runs_nothing() -> None:
    data = b"submission_1: !!python/object/apply:os.system ['touch /tmp/owned']\n"
    with pytest.raises(CourseError, match="cannot be read"):
        read_metadata(data)


# -------------------------------------------------------------------------------------------------------------- folders
@pytest.mark.parametrize("form", ["{}/lab.ipynb", "{}/lab/lab.ipynb", "submitted/{}/lab/lab.ipynb", "lab/{}/lab.ipynb"])
@pytest.mark.parametrize("students", [["ada", "bob"], ["ada"]])
def test_folders_named_after_students(course: Course, form: str, students: list[str]) -> None:
    files = {form.format(student): student for student in students}
    collected(course, files)
    assert there(course) == {f"{student}/lab/lab.ipynb": student for student in students}


@pytest.mark.parametrize(
    ("form", "folder"),
    [("{}/lab.ipynb", ""), ("week3/{}/lab.ipynb", "week3"), ("submitted/week3/{}/lab/lab.ipynb", "submitted/week3"),
     ("week3/{}_7_9_lab.ipynb", "week3"), ("{}_7_9_lab.ipynb", ""),
     ("week3/{}_7_assignsubmission_file_/lab.ipynb", "week3"),
     ("assignment_5_export/submission_7/lab.ipynb", "assignment_5_export")],
)  # fmt: skip
def test_the_folder_that_stands_around_all_submissions_is_said(course: Course, form: str, folder: str) -> None:
    course.known = [("ann", "ann", ""), ("bob", "bob", "")]
    system = next((name for word, name in (("_assign", "moodle"), ("_9_", "canvas")) if word in form), "auto")
    told: list[str] = []
    collected(course, {form.format(name): name for name in ("ann", "bob")}, system=system, around=told.append)
    assert told == [folder]


@pytest.mark.parametrize("form", ["mal/{}/lab.ipynb", "mal/{}/lab/lab.ipynb", "submitted/mal/{}/lab.ipynb"])
@pytest.mark.parametrize("others", [["ann", "bob"], ["ann"]])
def test_the_folders_of_a_single_student_are_nobody_else_s(course: Course, form: str, others: list[str]) -> None:
    course.known = [("ann",), ("bob",), ("mal",)]
    collected(course, {f"{other}/lab.ipynb": other for other in ("ann", "bob")})
    collected(course, {form.format(other): "forged" for other in others}, force=True)
    found = there(course)
    assert {student: found[f"{student}/lab/lab.ipynb"] for student in ("ann", "bob")} == {"ann": "ann", "bob": "bob"}
    assert "mal/lab/lab.ipynb" in found


@pytest.mark.parametrize("form", ["mal/{}/lab.ipynb", "mal/{}/lab/lab.ipynb", "a/b/{}/lab.ipynb"])
@pytest.mark.parametrize("others", [["ann", "bob"], ["ann"]])
def test_a_folder_around_all_others_is_asked_about_where_nobody_is_known(
    course: Course, form: str, others: list[str]
) -> None:
    with pytest.raises(CourseError, match="is it one student's folder, or does it hold those of the students"):
        collected(course, {form.format(other): "x" for other in others})
    assert there(course) == {}


def test_a_folder_around_students_who_are_known_is_passed_over(course: Course) -> None:
    files = {f"hw1/late/{student}/lab.ipynb": student for student in ("ann", "new")}
    collected(course, files, roster=roster(course, "student_id,email\nann,\n"))
    assert there(course) == {"ann/lab/lab.ipynb": "ann", "new/lab/lab.ipynb": "new"}


@pytest.mark.parametrize("inner", ["Ann_904_assignsubmission_file_/lab.ipynb", "submission_7001/lab.ipynb"])
@pytest.mark.parametrize("known", [[("mal",), ("Ann",)], []])
def test_what_a_student_calls_folders_does_not_make_them_an_lms_s(
    course: Course, inner: str, known: list[tuple[str]]
) -> None:
    course.known = known
    files = {f"mal/{inner}": "forged", "mal/submission_metadata.yml": METADATA.replace("Ada Lovelace", "Ann")}
    with suppress(CourseError):
        collected(course, files)
    assert set(there(course)) <= {"mal/lab/lab.ipynb", "mal/lab/submission_metadata.yml"}


def test_a_student_in_a_folder_of_the_lab_s_name_is_no_lab(course: Course) -> None:
    collected(course, {"lab/ada/lab/lab.ipynb": "x"})
    assert list(there(course)) == ["ada/lab/lab.ipynb"]


def test_what_lies_beside_a_notebook_in_a_folder_goes_with_it(course: Course) -> None:
    files = dict.fromkeys(("hw/own.csv", "hw/data/x.csv", "hw/timestamp.txt", "read.me", "other/own.csv"), "1")
    ada = {f"ada/{name}": data for name, data in files.items()}
    rows = collected(course, {"bob/lab.ipynb": "y", "ada/hw/lab.ipynb": "x", **ada})
    kept = ("data/x.csv", "hw/timestamp.txt", "lab.ipynb", "other/own.csv", "own.csv", "read.me")
    assert sorted(there(course)) == [*(f"ada/lab/{name}" for name in kept), "bob/lab/lab.ipynb"]
    assert "was hw/lab.ipynb" in said(rows)["ada"]


def test_a_file_that_lies_above_the_notebook_s_folder_does_not_take_its_neighbour_s_place(course: Course) -> None:
    files = {"ada/hw/lab.ipynb": "x", "ada/hw/own.csv": "beside", "ada/own.csv": "above", "bob/lab.ipynb": "y"}
    rows = collected(course, files)
    assert there(course)["ada/lab/own.csv"] == "beside"
    assert ("own.csv", "left out: another file of this name lies beside the notebook") in [
        (r.file, r.what) for r in rows
    ]


def test_a_folder_on_the_disk_is_read_as_a_zip_is(course: Course, tmp_path: Path) -> None:
    source = tmp_path / "downloads"
    (source / "ada" / "figures").mkdir(parents=True)
    (source / "ada" / "lab.ipynb").write_bytes(notebook("x"))
    (source / "ada" / "figures" / "a.png").write_text("y")
    (source / "ada" / "timestamp.txt").write_text("2026-11-20 12:00:00 UTC")
    os.utime(source / "ada" / "lab.ipynb", (NOON, NOON))
    (source / "ada" / "passwd").symlink_to("/etc/passwd")
    (source / "eve").symlink_to("/etc")
    os.mkfifo(source / "ada" / "pipe")
    rows = collected(course, source)
    assert list(there(course)) == ["ada/lab/figures/a.png", "ada/lab/lab.ipynb", "ada/lab/timestamp.txt"]
    assert {row.student: row.what for row in rows}["ada"] == "new; its timestamp.txt is taken for nbgrader's"
    assert {row.file: row.what for row in rows if not row.student} == {
        "ada/passwd": "left out: a link", "eve": "left out: a link", "ada/pipe": "left out: not an ordinary file",
    }  # fmt: skip


def test_a_folder_within_a_student_s_folder_is_nobody_else(course: Course) -> None:
    course.known = [("ada",), ("eve",)]
    files = {"ada/lab.ipynb": "ada's", "eve/lab.ipynb": "eve's", "eve/ada/lab.ipynb": "forged", "eve/lab/x.txt": "y"}
    collected(course, files)
    assert there(course)["ada/lab/lab.ipynb"] == "ada's"


def test_a_student_whom_the_gradebook_does_not_know_is_taken_and_named(course: Course) -> None:
    course.known = [("ada",)]
    rows = collected(course, {"ada/lab.ipynb": "x", "new_one/lab.ipynb": "y"})
    assert set(there(course)) == {"ada/lab/lab.ipynb", "new_one/lab/lab.ipynb"}
    assert ("new_one", "a student whom the gradebook does not know yet") in [(row.student, row.what) for row in rows]


# ---------------------------------------------------------------------------------------------------- what is there now
def test_what_has_not_changed_is_left_alone(course: Course) -> None:
    collected(course, {"ada/lab.ipynb": "x"})
    path = course.submitted("ada", LAB) / "lab.ipynb"
    before = path.stat().st_ino
    assert said(collected(course, {"ada/lab.ipynb": "x"})) == {"ada": "unchanged"}
    assert path.stat().st_ino == before


def test_a_newer_submission_takes_the_place_of_an_older_one_which_is_kept(course: Course) -> None:
    collected(course, {"ada/lab.ipynb": "old", "ada/data.csv": "1"})
    newer = zipped(course.root.parent / "new.zip", {"ada/lab.ipynb": "new"}, (2026, 11, 21, 12, 0, 0))
    (row,) = collected(course, newer)
    assert there(course) == {"ada/lab/lab.ipynb": "new"}
    place = row.what.removeprefix("replaced; the one before is in ")
    assert text_of(course.root / place / "lab.ipynb") == "old"
    assert (course.root / place / "data.csv").read_text() == "1"


def test_an_older_submission_is_not_taken_unless_forced(course: Course) -> None:
    collected(course, {"ada/lab.ipynb": "new"})
    older = zipped(course.root.parent / "old.zip", {"ada/lab.ipynb": "old"}, (2026, 11, 19, 12, 0, 0))
    kept = "kept: another one is there that is not older; --force replaces it"
    assert said(collected(course, older)) == {"ada": kept}
    assert there(course) == {"ada/lab/lab.ipynb": "new"}
    assert said(collected(course, older, force=True))["ada"].startswith("replaced; the one before is in .autograder")
    assert there(course) == {"ada/lab/lab.ipynb": "old"}


def test_of_two_that_say_when_they_were_handed_in_that_decides_and_not_when_a_file_was_copied(course: Course) -> None:
    def handed_in(text: str, when: str) -> str:
        files = {"ada/lab.ipynb": text, "ada/timestamp.txt": f"{when}\n"}
        return said(collected(course, files, system="folders"))["ada"]

    handed_in("first", "2026-11-20 11:00:00 UTC")
    late = time.time() + 10 * 86_400
    os.utime(course.root / "submitted/ada/lab/lab.ipynb", (late, late))  # a backup, or somebody's cp
    assert handed_in("second", "2026-11-20 12:00:00 UTC").startswith("replaced")
    assert handed_in("zeroth", "2026-11-20 10:00:00 UTC").startswith("kept")
    assert there(course)["ada/lab/lab.ipynb"] == "second"


def test_a_dry_run_says_of_each_submission_what_the_run_then_does(course: Course) -> None:
    course.due = lambda _lab: datetime(2026, 11, 20, 12, tzinfo=UTC)
    course.lateness = lambda _lab: {}
    before = {f"{name}_{number}_1{number}_lab.ipynb": name for number, name in enumerate("abc")}
    collected(course, before)
    newer = course.submitted("c", LAB) / "lab.ipynb"
    os.utime(newer, (NOON - 86_400, NOON - 86_400))
    files = {
        "a_0_10_lab.ipynb": "a", "b_LATE_1_11_lab.ipynb": "b", "c_2_12_lab.ipynb": "another", "d_3_13_lab.ipynb": "d",
        "e_4_14_lab.pdf": "no notebook", "f_5_15_lab.ipynb": "f", "f_5_16_x.zip": "not one",
    }  # fmt: skip
    dry = collected(course, files, late=timedelta(days=1), dry_run=True)
    done = collected(course, files, late=timedelta(days=1))
    assert {row.student: row.placed for row in dry if row.placed} == {
        "a": "unchanged", "b": "late now", "c": "replaced", "d": "new", "f": "new",
    }  # fmt: skip
    assert [(r.student, r.file, r.placed, r.lost) for r in dry] == [(r.student, r.file, r.placed, r.lost) for r in done]
    assert said(dry)["b"] == f"would be {said(done)['b']}"
    assert said(dry)["c"].startswith("would be replaced")
    assert said(done)["c"].startswith("replaced; the one before is in ")


def test_a_dry_run_writes_nothing(course: Course) -> None:
    assert said(collected(course, {"ada/lab.ipynb": "x"}, dry_run=True)) == {"ada": "would be new"}
    assert list(course.root.iterdir()) == []


@pytest.mark.parametrize("where", ["submitted/ada", "submitted/ada/lab"])
def test_nothing_is_written_through_a_link(course: Course, where: str) -> None:
    (course.root.parent / "elsewhere").mkdir()
    (course.root / where).parent.mkdir(parents=True)
    (course.root / where).symlink_to(course.root.parent / "elsewhere")
    rows = collected(course, {"ada/lab.ipynb": "x", "bob/lab.ipynb": "y"})
    assert "not a folder, or a link" in said(rows)["ada"]
    assert [row.student for row in rows if row.lost] == ["ada"]
    assert list((course.root.parent / "elsewhere").iterdir()) == []
    assert there(course)["bob/lab/lab.ipynb"] == "y"


def test_a_write_that_fails_leaves_the_old_submission(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    collected(course, {"ada/lab.ipynb": "old"})
    newer = zipped(course.root.parent / "new.zip", {"ada/lab.ipynb": "new"}, (2026, 11, 21, 12, 0, 0))

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "utime", full)
    (row,) = collected(course, newer)
    assert (row.student, row.lost, row.what) == (
        "ada", True, "left out: it cannot be written: No space left on device"
    )  # fmt: skip
    assert row.error is not None, "the command says what to do about it"
    assert there(course) == {"ada/lab/lab.ipynb": "old"}
    assert [row.student for row in collected(course, {"bob/lab.ipynb": "y"}) if row.lost] == ["bob"]
    assert not course.submitted("bob", "lab").parent.exists(), "no empty folder of somebody new"


def test_where_the_new_one_cannot_take_its_place_the_old_one_is_back(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected(course, {"ada/lab.ipynb": "old"})
    newer = zipped(course.root.parent / "new.zip", {"ada/lab.ipynb": "new"}, (2026, 11, 21, 12, 0, 0))
    rename = Path.rename

    def fails(path: Path, target: Path) -> Path:
        if path.name.endswith(".new"):
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fails)
    assert [row.lost for row in collected(course, newer)] == [True]
    assert there(course) == {"ada/lab/lab.ipynb": "old"}


# ----------------------------------------------------------------------------------------------------- hostile archives
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../eve/lab.ipynb", "a path that leads out of its folder"),
        ("ada/../../../etc/lab.ipynb", "a path that leads out of its folder"),
        ("..\\..\\eve\\lab.ipynb", "a path that leads out of its folder"),
        ("/etc/lab.ipynb", "an absolute path"),
        ("C:\\lab.ipynb", "an absolute path"),
        ("\\\\server\\lab.ipynb", "an absolute path"),
        ("ada/" + "x" * 300 + ".ipynb", "a name too long"),
        ("a/" * 600 + "lab.ipynb", "a name too long"),
        ("ada/la\nb.ipynb", "a name with control characters"),
        ("ada/lab\u202e.ipynb", "a name with control characters"),
    ],
)
def test_a_dangerous_name_is_left_out_with_a_note(course: Course, name: str, why: str) -> None:
    rows = collected(course, {name: "x", "bob/lab.ipynb": "y"})
    assert f"left out: {why}" in [row.what for row in rows]
    assert there(course) == {"bob/lab/lab.ipynb": "y"}


@pytest.mark.parametrize("name", [".hidden", "..", "-rf", "~root", "a:b", "a|b", " ", "a+b"])
def test_a_folder_that_cannot_be_a_student_is_left_out(course: Course, name: str) -> None:
    rows = collected(course, {f"{name}/lab.ipynb": "x", "bob/lab.ipynb": "y"})
    assert [row for row in rows if row.what.startswith("left out")]
    assert there(course) == {"bob/lab/lab.ipynb": "y"}


def test_a_link_in_a_zip_is_left_out(course: Course) -> None:
    path = course.root.parent / "link.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("ada/lab.ipynb", NEW)
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
        archive.writestr("bob/lab.ipynb", "y")
    assert said(collected(course, path))["ada/lab.ipynb"] == "left out: a link"
    assert there(course) == {"bob/lab/lab.ipynb": "y"}


def test_a_bomb_is_left_out_unread(course: Course) -> None:
    started = time.monotonic()
    rows = collected(course, {"ada/lab.ipynb": "x" * 15_000_000, "bob/lab.ipynb": "y"})
    assert "looks like a bomb: 1500" in said(rows)["ada/lab.ipynb"]
    assert there(course) == {"bob/lab/lab.ipynb": "y"}
    assert time.monotonic() - started < 10


def test_a_member_that_is_longer_than_it_says_is_cut_off(course: Course) -> None:
    source = zipped(course.root.parent / "lie.zip", {"ada/lab.ipynb": b"x" * 100_000})
    data = bytearray(source.read_bytes())
    place = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, place + 24, 10)
    source.write_bytes(data)
    with open_archive(source) as archive:
        (member,) = archive.members
        assert member.size == 10
        try:
            assert len(archive.read(member, 20)) <= 20
        except SubmissionError as error:
            assert "damaged" in str(error) or "longer" in str(error)


def test_a_notebook_that_is_too_large_is_left_out(course: Course) -> None:
    rows = collected(course, {"ada/lab.ipynb": os.urandom(21 * 2**20).hex(), "bob/lab.ipynb": "y"})
    assert [row.what for row in rows if row.student == "ada"] == ["left out: 44040267 bytes; 20971520 are allowed"]
    assert there(course) == {"bob/lab/lab.ipynb": "y"}


def test_files_beside_a_notebook_are_bounded(course: Course) -> None:
    files = {"ada/lab.ipynb": "x", "ada/a.bin": os.urandom(700), "ada/b.bin": os.urandom(700), "ada/c.bin": b"c"}
    rows = collected(course, files)
    assert sorted(there(course)) == ["ada/lab/a.bin", "ada/lab/c.bin", "ada/lab/lab.ipynb"]
    assert ("b.bin", "left out: the files beside the notebook are too large (max_dir_size)") in [
        (row.file, row.what) for row in rows
    ]


def test_names_that_differ_in_case_only_do_not_overwrite_each_other(course: Course) -> None:
    files = {"ada/lab.ipynb": "x", "ada/A.csv": "1", "ada/a.csv": "2", "ada/LAB.IPYNB": "y", "ada/a.csv/b": "3"}
    rows = collected(course, files)
    assert there(course) == {"ada/lab/A.csv": "1", "ada/lab/lab.ipynb": "x"}
    assert [row.what for row in rows if row.file == "a.csv"] == [
        "left out: its name is another file's, but for upper and lower case"
    ]


def test_a_name_that_is_there_twice_counts_once(course: Course) -> None:
    path = course.root.parent / "twice.zip"
    with zipfile.ZipFile(path, "w") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("ada/lab.ipynb", notebook("one"))
        archive.writestr("ada/lab.ipynb", notebook("two"))
    assert [row.what for row in collected(course, path)] == [
        "new; 2 files are of the same time: lab.ipynb is taken, as good as the other;"
        " to take another, collect a folder with that one alone, with --force"
    ]
    assert list(there(course)) == ["ada/lab/lab.ipynb"]


def test_a_folder_around_what_canvas_hands_out_is_nobodys(course: Course) -> None:
    files = {"lovelaceada_101_9001_lab.ipynb": "a", "turingalan_LATE_102_9002_lab.ipynb": "t"}
    around = {f"submissions/{name}": text for name, text in files.items()}
    collected(course, around, roster=roster(course, CANVAS))
    assert "submissions/lab/lab.ipynb" not in there(course)
    assert there(course)["ada/lab/lab.ipynb"] == "a"


def test_a_folder_of_another_name_around_canvas_names_has_to_be_told(course: Course) -> None:
    files = {f"eve/{who}_10{n}_900{n}_lab.ipynb": who for n, who in enumerate("ab")}
    with pytest.raises(CourseError, match="eve/ holds files that are called as Canvas calls"):
        collected(course, files)
    assert there(course) == {}
    collected(course, files, system="folders")
    assert list(there(course)) == ["eve/lab/lab.ipynb"]
    collected(course, files, system="canvas")
    assert {"a/lab/lab.ipynb", "b/lab/lab.ipynb"} < set(there(course))


def test_what_is_only_known_to_be_late_counts_as_late_as_the_instructor_says(course: Course) -> None:
    files = {"a_101_9001_lab.ipynb": "a", "b_LATE_102_9002_lab.ipynb": "b", "c_LATE_103_9003_lab.ipynb": "c"}
    course.due = lambda _lab: datetime(2026, 11, 20, 12, tzinfo=UTC)
    course.lateness = lambda _lab: {"c": Lateness(extension_s=3600.0)}
    rows = collected(course, files, late=timedelta(hours=2))
    found = {name: text.strip() for name, text in there(course).items() if name.endswith("timestamp.txt")}
    assert found == {"b/lab/timestamp.txt": "2026-11-20 14:00:00 UTC", "c/lab/timestamp.txt": "2026-11-20 15:00:00 UTC"}
    assert said(rows)["b"].endswith("counts as 2 hours after the due date")
    assert said(rows)["c"].endswith("counts as 2 hours after the due date, which an extension has put off by 1 hour")
    assert said(collected(course, files, late=timedelta(hours=2)))["b"].startswith("unchanged")
    course.lateness = lambda _lab: {"b": Lateness(extension_s=7200.0)}  # granted after that
    before = (course.submitted("b", "lab") / "timestamp.txt").read_text()
    assert said(collected(course, files, late=timedelta(hours=2)))["b"].startswith("unchanged")
    assert (course.submitted("b", "lab") / "timestamp.txt").read_text() == before
    assert said(collected(course, files, late=timedelta(hours=2), force=True))["b"].startswith("replaced")
    assert (course.submitted("b", "lab") / "timestamp.txt").read_text() != before
    course.due = lambda _lab: None
    with pytest.raises(CourseError, match=r"no due date, so nothing is late\n?.*hint: set it in formgrader"):
        collected(course, files, late=timedelta(hours=2))


LATE_IN_GRADESCOPE = """\
First Name,Last Name,SID,Email,Submission ID,Submission Time,Lateness (H:M:S)
Ada,Lovelace,ada,,1,,00:00:00
Bob,Builder,bob,,2,,{}
"""


@pytest.mark.parametrize(
    ("lateness", "extension_s", "note"),
    [
        ("00:00:00", 0.0, "; 25 hours late by the gradebook, in time by Gradescope: grant an extension here, too?"),
        ("01:00:00", 0.0, "; 25 hours late by the gradebook, 1 hour late by Gradescope: grant an extension here, too?"),
        ("25:00:00", 0.0, ""),
        ("00:00:00", 90_000.0, ""),
        ("01:00:00", 86_400.0, ""),
        ("", 0.0, ""),
    ],
)
def test_an_extension_that_gradescope_alone_knows_of_is_told_and_ours_stays(
    course: Course, lateness: str, extension_s: float, note: str
) -> None:
    course.known = [("ada",), ("bob",)]
    course.due = lambda _lab: datetime(2026, 11, 20, 12)  # as the gradebook gives it, in UTC
    course.lateness = lambda _lab: {"bob": Lateness(extension_s=extension_s)}
    metadata = "".join(
        f"submission_{n}:\n  :submitters:\n  - :sid: {own}\n  :created_at: 2026-11-{day} 13:00:00 Z\n"
        for n, own, day in ((1, "ada", 19), (2, "bob", 21))
    )
    files = {"submission_metadata.yml": metadata, "submission_1/lab.ipynb": "a", "submission_2/lab.ipynb": "b"}
    rows = collected(course, files, roster=roster(course, LATE_IN_GRADESCOPE.format(lateness)))
    assert said(rows) == {"ada": "new", "bob": f"new{note}"}
    assert (course.submitted("bob", LAB) / "timestamp.txt").read_text() == "2026-11-21 13:00:00 UTC\n"


def test_what_was_handed_in_in_place_of_a_notebook_is_named(course: Course) -> None:
    (row,) = collected(course, {"ada/lab.pdf": "x", "ada/lab.py": "y"})
    assert (row.file, row.what, row.lost) == ("lab.pdf, lab.py", "left out: no notebook in it", True)


@pytest.mark.parametrize("name", ["__MACOSX/ada/._lab.ipynb", "ada/.ipynb_checkpoints/lab.ipynb", "ada/.DS_Store"])
def test_what_systems_leave_behind_is_no_submission(course: Course, name: str) -> None:
    assert said(collected(course, {name: "junk", "ada/lab.ipynb": "x"})) == {"ada": "new"}
    assert there(course) == {"ada/lab/lab.ipynb": "x"}


def test_names_in_utf_8_that_do_not_say_so_are_read(course: Course) -> None:
    source = zipped(course.root.parent / "old.zip", {"Zoë Müller_7_assignsubmission_file_/lab.ipynb": "x"})
    data = bytearray(source.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.index(mark) + offset
        struct.pack_into("<H", data, place, struct.unpack_from("<H", data, place)[0] & ~0x800)
    source.write_bytes(data)
    course.known = [("zoe", "Müller", "Zoë")]
    collected(course, source)
    assert there(course) == {"zoe/lab/lab.ipynb": "x"}


def test_an_encrypted_file_is_left_out(course: Course) -> None:
    source = zipped(course.root.parent / "secret.zip", {"ada/lab.ipynb": "x", "bob/lab.ipynb": "y"})
    data = bytearray(source.read_bytes())
    place = data.index(b"PK\x01\x02") + 8
    struct.pack_into("<H", data, place, struct.unpack_from("<H", data, place)[0] | 1)
    source.write_bytes(data)
    assert said(collected(course, source))["ada/lab.ipynb"] == "left out: encrypted"
    assert there(course) == {"bob/lab/lab.ipynb": "y"}


def test_a_damaged_member_costs_only_itself(course: Course) -> None:
    source = zipped(course.root.parent / "bad.zip", {"ada/lab.ipynb": os.urandom(2000), "bob/lab.ipynb": "y"})
    data = bytearray(source.read_bytes())
    data[500:600] = bytes(100)
    source.write_bytes(data)
    rows = collected(course, source)
    assert said(rows)["ada"].startswith("left out: damaged: ")
    assert there(course) == {"bob/lab/lab.ipynb": "y"}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not a zip file"),
        (b"PK\x03\x04 and so on", "not a zip file"),
        (b"<html>please log in</html>" * 100, "not a zip file"),
        (b"PK\x05\x06" + bytes(8) + struct.pack("<II", 2**31, 0) + bytes(2), "too many files in it"),
    ],
)
def test_a_broken_archive_is_an_error(course: Course, content: bytes, why: str) -> None:
    path = course.root.parent / "broken.zip"
    path.write_bytes(content)
    with pytest.raises(CourseError, match=why):
        collected(course, path)


def test_an_archive_of_too_many_files_is_refused_and_says_where_they_are(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.collect.archive.MAX_FILES", 30)
    monkeypatch.setattr("autograder.collect.contents.MAX_FILES", 30)
    files = {"ada/lab.ipynb": b"", **{f"eve/{number}": b"" for number in range(30)}}
    with pytest.raises(CourseError, match="31 files; 30 are allowed, and 30 of them are in 'eve'"):
        collected(course, zipped(folder_of(course) / "many.zip", files))
    for name in files:
        path = folder_of(course) / "unpacked" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    with pytest.raises(CourseError, match="31 files; 30 are allowed, and 30 of them are in 'eve'"):
        collected(course, folder_of(course) / "unpacked")


def test_an_empty_archive_says_so(course: Course) -> None:
    with pytest.raises(CourseError, match="nothing in it that could be a submission"):
        collected(course, {})


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None, max_examples=120
)
@given(st.data())
def test_whatever_an_archive_holds_nothing_is_written_outside(course: Course, data: st.DataObject) -> None:
    part = st.one_of(
        st.sampled_from(["..", ".", "", "ada", "lab", "lab.ipynb", "/", "C:", "submission_1", "a_1_2_lab.ipynb",
                         "A B_9_assignsubmission_file_", "submission_metadata.yml", "\\", "~", "x\0y"]),
        st.text(max_size=8),
    )  # fmt: skip
    names = data.draw(st.lists(st.lists(part, min_size=1, max_size=5).map("/".join), max_size=6, unique=True))
    path = course.root.parent / "any.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            try:
                archive.writestr(zipfile.ZipInfo(name.split("\0")[0] or "x", NEW), "a: 1")
            except (UnicodeEncodeError, UserWarning):
                continue
    with suppress(CourseError):
        collected(course, path, force=True)
    assert all(len(name.split("/")) >= 3 for name in there(course))
    assert {found.name for found in course.root.parent.iterdir()} <= {"course", "any.zip"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(st.data())
def test_a_zip_with_any_byte_changed_is_read_or_refused(course: Course, data: st.DataObject) -> None:
    source = zipped(course.root.parent / "in.zip", {"ada/lab.ipynb": "x" * 50, "bob/lab.ipynb": "y" * 50})
    content = bytearray(source.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    source.write_bytes(content)
    with suppress(CourseError):
        collected(course, source, force=True)
    assert all(name.count("/") >= 2 for name in there(course))


def test_a_file_without_a_name_is_left_out_and_said(course: Course) -> None:
    source = zipped(course.root.parent / "in.zip", {"ada/lab.ipynb": "x", "bob/lab.ipynb": "y"})
    content = source.read_bytes()
    place = content.rindex(b"bob/lab.ipynb")  # in the list of contents
    source.write_bytes(content[:place] + b"\0" + content[place + 1 :])
    with open_archive(source) as archive:
        assert archive.left_out == [("\0ob/lab.ipynb", "a name with control characters")]


def test_one_student_s_names_do_not_decide_whose_archive_it_is() -> None:
    members = [SimpleNamespace(path=f"a{n}_{n}_{n}_lab.ipynb", name=f"a{n}_{n}_{n}_lab.ipynb") for n in range(5)]
    forged = "eve_9_9_Ada_1_assignsubmission_file_lab.ipynb"
    members.append(SimpleNamespace(path=forged, name=forged))
    assert detect(members) == "canvas"  # type: ignore[arg-type]


# ----------------------------------------------------------------------------------------------------- what is too much
def _seconds(course: Course, files: Sequence[tuple[str, str]]) -> float:
    """Return how long the processor works for it, at best: another process on this machine may slow it down."""
    return min(_once(course, files) for _ in range(3))


def _once(course: Course, files: Sequence[tuple[str, str]]) -> float:
    begin = time.process_time()
    assert [row for row in collected(course, files, dry_run=True) if row.lost] == []
    return time.process_time() - begin


@pytest.mark.parametrize("form", ["ada/f{}.txt", "ada/{}/lab.ipynb", "ada/{0}/{0}.txt"])
def test_many_files_of_one_student_take_time_in_proportion(course: Course, form: str) -> None:
    notebook = [("ada/lab.ipynb", "{}")]
    few, many = (_seconds(course, notebook + [(form.format(n), "x") for n in range(count)]) for count in (1000, 8000))
    assert many < 24 * max(few, 0.05), "comparing each with each takes 64 times as long"


def test_many_students_take_time_in_proportion(course: Course) -> None:
    few, many = (_seconds(course, [(f"s{n}/lab.ipynb", "{}") for n in range(count)]) for count in (500, 4000))
    assert many < 24 * max(few, 0.05)


@pytest.mark.parametrize("inner", ["a", "A", "lab.ipynb", "LAB.IPYNB"])
def test_a_file_that_is_another_one_s_folder_is_left_out(course: Course, inner: str) -> None:
    rows = collected(course, {"ada/lab.ipynb": "{}", "ada/a/b.txt": "1", f"ada/{inner}/b.txt/c": "2"})
    why = ("left out: its name is another file's", "left out: in a folder that is called as a notebook is")
    assert any(row.what.startswith(why) for row in rows)
    assert "ada/lab/lab.ipynb" in there(course)


def test_folders_too_deep_are_left_out(course: Course) -> None:
    rows = collected(course, {"ada/lab.ipynb": "{}", "ada/" + "d/" * 40 + "x.txt": "1"})
    assert "left out: more than 24 folders deep" in [row.what for row in rows]
    assert list(there(course)) == ["ada/lab/lab.ipynb"]


LAUGHS = "a: &a0 [x, x]\n" + "".join(f"b{n}: &a{n + 1} [*a{n}, *a{n}]\n" for n in range(60))


def test_a_list_of_lists_of_lists_by_aliases_is_refused_at_once_and_nothing_is_written(course: Course) -> None:
    data = f"{LAUGHS}submission_1:\n  :submitters:\n  - :name: *a60\n    :sid: ada\n"
    with pytest.raises(CourseError, match=r"submission_metadata.yml: cannot be read: an alias of a list or a table"):
        collected(
            course, {"export/submission_metadata.yml": data, "export/submission_1/lab.ipynb": "{}"}, system="gradescope"
        )
    assert there(course) == {}


def test_a_word_that_comes_twice_may_be_an_alias_as_ruby_writes_it() -> None:
    data = b"submission_1:\n  :submitters:\n  - :name: &1 Ada\n    :sid: *1\n    :email: [x]\n"
    ((owner, _),) = read_metadata(data)["submission_1"]
    assert (owner.name, owner.ids, owner.email) == ("Ada", ("Ada",), "")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("a: " + "[" * 100 + "]" * 100, "more than 40 levels deep"),
        ("a: " + "[" * 100_000, "more than 40 levels deep"),
        ("a: &a {b: 1}\nc: {<<: *a}", "an alias of a list or a table"),
        ("a: &a {b: 1}\nc: [*a]", "an alias of a list or a table"),
        ("s:\n  :submitters:\n" + "  - {':name': x}\n" * 101, "101 submitters; a group has at most 100"),
    ],
)
def test_metadata_is_bounded(data: str, why: str) -> None:
    with pytest.raises(CourseError, match=why):
        read_metadata(data.encode())


@pytest.mark.parametrize("value", ["0x" + "f" * 5000, "[a]", "{b: c}", "0001-01-01", "9999-12-31T23:59:59-12:00"])
def test_values_of_metadata_that_make_no_sense_are_none(value: str) -> None:
    data = f"s:\n  :created_at: {value}\n  :submitters:\n  - :name: {value}\n    :sid: ada\n"
    ((owner, when),) = read_metadata(data.encode())["s"]
    assert owner.ids == ("ada",)
    assert when == ""


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packers_that_unpack_without_bound_are_not_used(course: Course, method: int) -> None:
    path = folder_of(course) / "in.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("bob/lab.ipynb", notebook(""))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ada/lab.ipynb", notebook(""))
    (left_out,) = [row for row in collected(course, path) if row.lost]
    assert left_out.file == "bob/lab.ipynb"
    assert left_out.what.startswith("left out: packed by ")
    assert list(there(course)) == ["ada/lab/lab.ipynb"]


def test_a_list_of_contents_of_the_longer_form_is_bounded_too(course: Course) -> None:
    path = zipped(folder_of(course) / "in.zip", {"ada/lab.ipynb": "{}"})
    data = path.read_bytes()
    place = data.rfind(b"PK\x05\x06")
    long = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 1, 1, 1 << 30, 0)
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, place, 1)
    path.write_bytes(data[:place] + long + locator + data[place:])
    with pytest.raises(CourseError, match="too many files in it"):
        collected(course, path)


def _named(late: str) -> dict[str, str]:
    return {"a_101_9001_lab.ipynb": "a", f"c_{late}103_9003_lab.ipynb": "c"}


def test_what_is_no_longer_marked_as_late_counts_as_in_time(course: Course) -> None:
    course.due = lambda _lab: datetime(2026, 1, 1, tzinfo=UTC)
    course.lateness = lambda _lab: {}
    time = course.root / "submitted/c/lab/timestamp.txt"
    late, excused = _named("LATE_"), _named("")
    collected(course, late, late=timedelta(days=2))
    assert time.read_text() == "2026-01-03 00:00:00 UTC\n"
    assert IN_TIME_NOW in said(collected(course, excused))["c"]
    assert not time.exists()
    assert said(collected(course, excused))["c"].startswith(UNCHANGED)


def test_a_time_that_is_not_ours_stays(course: Course) -> None:
    course.due = lambda _lab: datetime(2026, 1, 1, tzinfo=UTC)
    course.lateness = lambda _lab: {}
    collected(course, _named("LATE_"), late=timedelta(days=2))
    time = course.root / "submitted/c/lab/timestamp.txt"
    time.write_text("2026-01-02 12:00:00 UTC\n")
    assert said(collected(course, _named("")))["c"].startswith(UNCHANGED)
    assert time.read_text() == "2026-01-02 12:00:00 UTC\n"


def test_late_may_be_said_after_a_first_collect_and_what_stays_is_told(course: Course) -> None:
    course.due = lambda _lab: datetime(2026, 1, 1, tzinfo=UTC)
    course.lateness = lambda _lab: {}
    late = _named("LATE_")
    assert "no penalty (see --late)" in said(collected(course, late))["c"]
    after = said(collected(course, late, late=timedelta(days=2)))["c"]
    assert after == f"{LATE_NOW}; late, and no time is known: counts as 2 days after the due date"
    again = said(collected(course, late, late=timedelta(days=7)))["c"]
    assert again.startswith(UNCHANGED)
    assert "keeps the time that it has" in again
    assert (course.root / "submitted/c/lab/timestamp.txt").read_text() == "2026-01-03 00:00:00 UTC\n"


@pytest.mark.parametrize("later", [0, 3600], ids=["same", "newer"])
def test_what_is_collected_again_keeps_the_time_that_late_gave_it(course: Course, later: int) -> None:
    course.due = lambda _lab: datetime(2030, 1, 1, tzinfo=UTC)
    course.lateness = lambda _lab: {}
    late = _named("LATE_")
    collected(course, late, late=timedelta(days=2))
    stamp = course.root / "submitted/c/lab/timestamp.txt"
    before = stamp.read_text()
    for path in (course.root / "submitted/c/lab").iterdir():
        os.utime(path, (NOON - later, NOON - later))
    again = said(collected(course, late))["c"]
    assert again == "unchanged; late: what is there keeps the time that it has (--force reckons it again)"
    assert stamp.read_text() == before
    assert "no penalty" in said(collected(course, late, force=True))["c"]


@pytest.mark.parametrize(
    "other",
    [
        "lab-Copy1.ipynb",
        "lab - Copy.ipynb",
        ".released/lab/lab.ipynb",
        ".ipynb_checkpoints/lab.ipynb",
        "lab-Copy12.ipynb",
    ],
)
def test_a_copy_that_stayed_beside_a_notebook_is_not_the_newer_one(course: Course, other: str) -> None:
    collected(course, {"ada/lab.ipynb": "whole", f"ada/{other}": "copy"})
    assert there(course)["ada/lab/lab.ipynb"] == "whole"
    alone = {f"eve/{other}": "copy"} if not other.startswith(".") else {}
    if alone:
        collected(course, alone)
        assert there(course)["eve/lab/lab.ipynb"] == "copy", "it is all there is"


@pytest.mark.parametrize("system", ["canvas", "gradescope"])
def test_a_system_whose_names_are_nowhere_is_asked_about_with_the_one_they_look_like(
    course: Course, system: str
) -> None:
    files = {
        "Ada Lovelace_901_assignsubmission_file_/lab.ipynb": "a",
        "Bob Lee_902_assignsubmission_file_/lab.ipynb": "b",
    }
    with pytest.raises(
        CourseError, match=f"nothing in it has a name that {system} gives\nhint: is it of moodle. --from auto says so"
    ):
        collected(course, files, system=system)
    assert not there(course)


def test_whoever_moodle_names_and_nobody_knows_has_lost_a_submission_whatever_it_is(course: Course) -> None:
    course.known = [("ada",)]
    form = "{}_{}_assignsubmission_file_/{}"
    files = {form.format("Dan Newman", 904, "lab.py"): "x", form.format("Eve Il", 905, "lab.ipynb"): "y"}
    assert [row.lost for row in collected(course, files)] == [True, True]
    (unplaced,) = collected(course, {"~tmp/notes.txt": "x", "~tmp/more.txt": "y"}, system="folders")
    assert not unplaced.lost, "a folder need not be anybody's"


def test_files_in_no_folder_are_said_to_lie_in_none(course: Course) -> None:
    rows = collected(course, {"ada_lab.ipynb": "a", "bob_lab.ipynb": "b", "bob.txt": "c"})
    assert {row.what for row in rows} == {"left out: cannot tell which student this is: it lies in no student's folder"}
    assert [row.lost for row in rows] == [True, True, False]
