"""Grades as each system reads them back: its own columns, the right person, and nothing a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.course import StoredCell, Student
from autograder.errors import CourseError
from autograder.lms import Person, Roster, canvas_csv, gradescope_csv, moodle_csv, nbgrader_csv, read_roster
from autograder.model import GradebookEntry

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Notes,lab (5501),Other (5502),Current Score,Final Score
,,,,,,Manual Posting,,,
    Points Possible,,,,,,10,5,(read only),(read only)
"Lovelace, Ada",101,S-1,ada@uni.example,Monday,,7,1,70,70
"Hopper, Grace",102,S-2,grace,Monday,,,2,,
"Turing, Alan",103,S-3,alan,Tuesday,,,3,,
"Student, Test",199,,f00d,Monday,,,,,
"""
WORKSHEET = """\
\ufeffIdentifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified (submission),\
Last modified (grade),Feedback comments\r
Participant 901,Ada Lovelace,ada@uni.example,Submitted for grading,,10.00,Yes,"Friday, 20 November 2026, 3:04 PM",-,\r
Participant 902,Grace Hopper,Grace@uni.example,Submitted for grading,3.00,10.00,No,-,-,"kept, as it is"\r
Participant 903,Alan Turing,other@uni.example,No submission,,10.00,Yes,-,-,\r
"""
GRADESCOPE = """\
First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status,Submission ID,Submission Time,Lateness (H:M:S)
Ada,Lovelace,ada,ada@uni.example,Monday,,10,Missing,7001,,
Alan,Turing,s-3,alan@uni.example,Monday,,10,Missing,,,
"""
STUDENTS = [
    Student("ada", "Lovelace", "Ada", "ada@uni.example"),
    Student("grace", "Hopper", "Grace", "grace@uni.example"),
    Student("eve", "", "", ""),
]


def stored(student: str = "ada", **more: Any) -> GradebookEntry:
    known = {s.id: s for s in STUDENTS}.get(student, Student(student))
    usual: dict[str, Any] = {
        "student": student, "last_name": known.last_name, "first_name": known.first_name, "email": known.email,
        "lab": "lab", "due": "", "handed_in": "", "raw_score": 8.5, "penalty": 0.0, "score": 8.5, "max_score": 10.0,
        "to_grade": 0, "comments": {}, "grades": {},
    }  # fmt: skip
    return GradebookEntry(**(usual | more))


ROWS = [stored("ada"), stored("grace", score=4.0), stored("eve", score=1.0)]


def roster(tmp_path: Path, content: str | bytes, students: list[Student] = STUDENTS) -> Roster:
    path = tmp_path / "roster.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_roster(path, students)


def nobody() -> Roster:
    return read_roster(None, STUDENTS)


def table(content: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content, newline="")))


# ------------------------------------------------------------------------------------------------------------- nbgrader
def test_the_table_has_nbgrader_s_columns() -> None:
    row = stored(raw_score=2.0, penalty=0.5, score=1.5, max_score=4.0, handed_in="2026-11-20 12:00:00", email="")
    assert nbgrader_csv([row]).content.splitlines() == [
        "assignment,duedate,timestamp,student_id,last_name,first_name,email,"
        "raw_score,late_submission_penalty,score,max_score",
        "lab,,2026-11-20 12:00:00,ada,Lovelace,Ada,,2,0.5,1.5,4",
    ]
    assert nbgrader_csv([]).content.count("\n") == 1


def names_back(*names: str) -> list[str]:
    student, last, first = names
    return table(nbgrader_csv([stored(student, last_name=last, first_name=first)]).content)[1][3:6]


@given(*[st.text(st.characters(exclude_categories=["Cs"]))] * 3)
def test_any_name_is_one_field_of_one_line_and_defused(student: str, last: str, first: str) -> None:
    names = (student, last, first)
    for written, name in zip(names_back(*names), names, strict=True):
        line = "".join(c if c.isprintable() else " " for c in name)
        assert written in {line, f"'{line}"}
        assert not written.lstrip().startswith(("=", "+", "-", "@"))


@pytest.mark.parametrize(
    "name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", '=HYPERLINK("x")', " =1", "\uff1d1"]
)
def test_a_formula_is_defused(name: str) -> None:
    assert names_back(name, "", "")[0].startswith("'")


@pytest.mark.parametrize("name", ["O'Neill", 'Ada "the first"', "a,b", "Zoë", "数学", "x=1", ""])
def test_an_ordinary_name_stays_as_it_is(name: str) -> None:
    assert names_back(name, "", "")[0] == name


@given(st.floats(0, 1e6).map(lambda x: round(x, 2)))
def test_no_hundredth_of_a_point_is_lost(points: float) -> None:
    rows = [stored(score=points)]
    assert float(table(nbgrader_csv(rows).content)[1][9]) == points
    assert float(table(canvas_csv(rows, nobody()).content)[2][5]) == points
    assert float(table(moodle_csv(rows, nobody()).content)[1][4]) == points
    assert float(table(gradescope_csv(rows, {}, nobody()).content)[1][5]) == points


# --------------------------------------------------------------------------------------------------------------- Canvas
def test_canvas_without_a_roster_finds_people_by_login() -> None:
    export = canvas_csv(ROWS, nobody())
    assert table(export.content) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "lab"],
        ["    Points Possible", "", "", "", "", "10"],
        ["Lovelace, Ada", "", "ada", "ada", "", "8.5"],
        ["Hopper, Grace", "", "grace", "grace", "", "4"],
        ["eve", "", "eve", "eve", "", "1"],
    ]
    assert (export.rows, export.notes) == (3, [])


def test_canvas_s_own_export_is_filled_in_with_its_ids_and_assignment_numbers(tmp_path: Path) -> None:
    export = canvas_csv([*ROWS, stored("ada", lab="new", score=2.0)], roster(tmp_path, CANVAS))
    assert table(export.content) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "lab (5501)", "new"],
        ["    Points Possible", "", "", "", "", "10", "10"],
        ["Lovelace, Ada", "101", "S-1", "ada@uni.example", "Monday", "8.5", "2"],
        ["Hopper, Grace", "102", "S-2", "grace", "Monday", "4", ""],
    ]
    assert export.notes == [
        "new: no assignment of this name in roster.csv: Canvas makes one",
        "Turing, Alan: left out: nothing of theirs in the gradebook",
        "eve: left out: not in roster.csv",
    ]


@pytest.mark.parametrize(
    ("titles", "found"),
    [
        (["lab"], "lab"),
        (["LAB (7)"], "LAB (7)"),
        (["01 NumPy MLP (55501)"], "01 NumPy MLP (55501)"),
        (["01 NumPy MLP (1)", "01_numpy_mlp (2)"], "01_numpy_mlp (2)"),
        (["01 NumPy MLP (1)", "01-numpy-mlp (2)"], "01_numpy_mlp"),
        (["Lab 01: 01_numpy_mlp (1)"], "01_numpy_mlp"),
    ],
)
def test_an_assignment_of_canvas_is_known_by_its_name(tmp_path: Path, titles: list[str], found: str) -> None:
    head = f"Student,ID,SIS User ID,SIS Login ID,Section,{','.join(titles)}\n"
    people = roster(tmp_path, f'{head}"Lovelace, Ada",101,S-1,ada,Monday{"," * len(titles)}\n')
    lab = "lab" if "lab" in titles or "LAB (7)" in titles else "01_numpy_mlp"
    export = canvas_csv([stored("ada", lab=lab, score=2.0)], people)
    assert table(export.content)[0][5:] == [found]


def test_a_score_that_canvas_has_and_we_have_not_is_not_deleted(tmp_path: Path) -> None:
    rows = [stored("ada", lab="Other", score=5.0, max_score=5.0), stored("grace", lab="lab")]
    filled = table(canvas_csv(rows, roster(tmp_path, CANVAS)).content)
    assert filled[0][5:] == ["Other (5502)", "lab (5501)"]
    assert filled[2][5:] == ["5", "7"]
    assert filled[3][5:] == ["2", "8.5"]


@pytest.mark.parametrize("theirs", ["100", '"100,00"', "100.0"])
def test_points_are_scaled_to_what_the_assignment_is_worth_in_canvas(tmp_path: Path, theirs: str) -> None:
    """Points Possible was set to the lab's, and the scores stood there as they are, without a word."""
    people = roster(tmp_path, CANVAS.replace(",10,5,", f",{theirs},5,"))
    export = canvas_csv(ROWS, people)
    assert [row[5] for row in table(export.content)[1:]] == ["100", "85", "40"]
    assert export.notes[-1] == "lab: points of 10 are scaled to Canvas's 100"
    assert not any("scaled" in note for note in canvas_csv(ROWS, roster(tmp_path, CANVAS)).notes)


@pytest.mark.parametrize("theirs", ["0", "many"])
def test_where_canvas_says_no_points_the_instructor_is_told(tmp_path: Path, theirs: str) -> None:
    export = canvas_csv(ROWS, roster(tmp_path, CANVAS.replace(",10,5,", f",{theirs},5,")))
    assert [row[5] for row in table(export.content)[1:]] == ["10", "8.5", "4"]
    said = f"lab: Canvas says {theirs!r} points possible; these are of 10: set that there"
    assert export.notes[-1] == said


def test_canvas_with_last_and_first_names_apart_and_semicolons(tmp_path: Path) -> None:
    content = (
        "LastName;FirstName;ID;SIS Login ID;Section;lab (7)\n    Points Possible;;;;;10\nLovelace;Ada;101;ada;A;\n"
    )
    assert table(canvas_csv(ROWS[:1], roster(tmp_path, content)).content) == [
        ["LastName", "FirstName", "ID", "SIS Login ID", "Section", "lab (7)"],
        ["    Points Possible", "", "", "", "", "10"],
        ["Lovelace", "Ada", "101", "ada", "A", "8.5"],
    ]


def test_an_id_that_harms_nobody_is_left_as_it_is_and_a_formula_is_not() -> None:
    rows = [stored("-ada_1@x"), stored("=cmd|' /C calc'!A0"), stored("@SUM(1)"), stored("plus+1")]
    ids = [row[3] for row in table(canvas_csv(rows, nobody()).content)[2:]]
    assert ids == ["-ada_1@x", "'=cmd|' /C calc'!A0", "'@SUM(1)", "plus+1"]
    assert table(canvas_csv(rows, nobody()).content)[2][0] == "'-ada_1@x", "names are for people"


def test_a_table_that_is_not_canvas_s_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="no gradebook of Canvas"):
        canvas_csv(ROWS, roster(tmp_path, "Name,Email\nAda,ada@x\n"))


# --------------------------------------------------------------------------------------------------------------- Moodle
def test_moodle_without_a_worksheet_is_a_file_for_its_import() -> None:
    assert table(moodle_csv(ROWS, nobody()).content) == [
        ["First name", "Last name", "ID number", "Email address", "lab"],
        ["Ada", "Lovelace", "ada", "ada@uni.example", "8.5"],
        ["Grace", "Hopper", "grace", "grace@uni.example", "4"],
        ["", "", "eve", "", "1"],
    ]


def test_moodle_s_worksheet_is_filled_in_and_otherwise_unchanged(tmp_path: Path) -> None:
    export = moodle_csv(ROWS, roster(tmp_path, WORKSHEET))
    before, after = table(WORKSHEET.lstrip("\ufeff")), table(export.content)
    assert after[1][4] == "8.50"
    after[1][4] = ""
    assert after == before
    assert export.content.count("\r\n") == 4
    assert export.notes == [
        "Grace Hopper: left as it was: Moodle says that the grade cannot be changed",
        "Alan Turing: left as it was: no such student in the gradebook",
        "eve: left out: not in roster.csv",
    ]


def test_points_are_scaled_to_moodle_s_maximum_and_that_is_said(tmp_path: Path) -> None:
    content = WORKSHEET.replace("10.00", '"100,00"')
    export = moodle_csv(ROWS[:1], roster(tmp_path, content))
    assert table(export.content)[1][4] == "85,00"
    assert "points of 10 are scaled to Moodle's 100" in export.notes


def test_whose_points_moodle_does_not_take_because_they_are_above_its_maximum_is_said(tmp_path: Path) -> None:
    rows = [stored("ada", score=11.0), stored("grace", score=10.0)]
    export = moodle_csv(rows, roster(tmp_path, WORKSHEET.replace("10.00", "20.00")))
    assert export.notes[-1] == (
        "more points than the maximum grade, which Moodle skips: raise it there, and download the worksheet again:"
        " Ada Lovelace (22 of 20)"
    )
    assert moodle_csv(rows, nobody()).notes == [
        "more points than the maximum, which Moodle cuts off or refuses unless the grade item's maximum is raised"
        " there: ada (lab: 11 of 10)"
    ]
    assert moodle_csv(rows[1:], nobody()).notes == []


def test_points_above_the_maximum_go_to_canvas_and_gradescope_s_columns_as_they_are() -> None:
    rows = [stored("ada", score=11.0)]
    assert table(canvas_csv(rows, nobody()).content)[2][-1] == "11"
    assert table(gradescope_csv(rows, {}, nobody()).content)[1][5:7] == ["11", "10"]


def test_a_worksheet_is_for_one_lab_and_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"one assignment; there are lab, two\nhint: name one: --lab LAB"):
        moodle_csv([*ROWS, stored("ada", lab="two")], roster(tmp_path, WORKSHEET))
    with pytest.raises(CourseError, match="not a grading worksheet"):
        moodle_csv(ROWS, roster(tmp_path, "Email address,Name\nada@uni.example,Ada\n"))


# ----------------------------------------------------------------------------------------------------------- Gradescope
def test_gradescope_s_columns_with_a_column_a_task(tmp_path: Path) -> None:
    cells = {
        "ada": [StoredCell("lab", "f-check", 6.5, None, None, 7.0), StoredCell("lab", "words", None, None, None, 3.0)]
    }
    row = stored(
        "ada", grades={"lab/f-check": 6.5, "lab/words": 0.0}, pending=frozenset({"lab/words"}), to_grade=1,
        due="2026-11-20 12:00:00", handed_in="2026-11-21 13:01:02",
    )  # fmt: skip
    export = gradescope_csv([row, stored("eve")], cells, roster(tmp_path, GRADESCOPE))
    header, ada, eve = table(export.content)
    assert header == [
        "First Name", "Last Name", "SID", "Email", "Sections", "Total Score", "Max Points", "Status", "Submission ID",
        "Submission Time", "Lateness (H:M:S)", "View Count", "Submission Count", "1: f-check (7.0 pts)",
        "2: words (3.0 pts)",
    ]  # fmt: skip
    assert ada == [
        "Ada", "Lovelace", "ada", "ada@uni.example", "Monday", "8.5", "10", "Ungraded", "7001", "2026-11-21 13:01:02",
        "25:01:02", "0", "1", "6.5", "",
    ]  # fmt: skip
    assert eve[7:11] == ["Graded", "", "", "00:00:00"]
    assert export.notes == ["eve: not in roster.csv", "Alan Turing alan@uni.example: left out: no grade"]


@pytest.mark.parametrize(
    "content",
    [
        "First Name,Last Name,SID,Email,Submission ID\nEve Mary,Il,eve,eve@uni.example,7\n",
        'Student,ID,SIS User ID,SIS Login ID,Section\n"Il, Eve Mary",7,eve,eve@uni.example,\n',
        "Identifier,ID number,Full name,Email address\nParticipant 7,eve,Eve Mary Il,eve@uni.example\n",
    ],
)
def test_names_and_addresses_that_the_gradebook_lacks_are_the_roster_s_in_gradescope_s_columns(
    content: str, tmp_path: Path
) -> None:
    people = roster(tmp_path, content)
    for row in (stored("eve"), stored("eve", missing=True)):
        assert table(gradescope_csv([row], {}, people).content)[1][:4] == ["Eve Mary", "Il", "eve", "eve@uni.example"]
    number = table(gradescope_csv([stored("eve")], {}, people).content)[1][8]
    assert number == ("7" if "Submission ID" in content else ""), "another system's number is none of Gradescope's"
    own = stored("eve", first_name="Eva", email="eva@uni.example")
    assert table(gradescope_csv([own], {}, people).content)[1][:4] == ["Eva", "Il", "eve", "eva@uni.example"]


def test_whoever_has_handed_in_nothing_is_missing_in_gradescope_s_columns(tmp_path: Path) -> None:
    rows = [stored("ada"), stored("eve", score=0.0, missing=True)]
    export = gradescope_csv(rows, {"ada": [StoredCell("lab", "f-check", 6.5, None, None, 7.0)]}, nobody())
    assert table(export.content)[2] == ["", "", "eve", "", "", "", "10", "Missing", "", "", "", "", "", ""]


def test_lateness_in_gradescope_s_columns_counts_from_the_extended_due_date() -> None:
    late = {"due": "2026-11-20 12:00:00", "handed_in": "2026-11-21 13:01:02"}
    rows = [stored("ada", **late, extension_s=86_400.0), stored("eve", **late, extension_s=2 * 86_400.0)]
    _, ada, eve = table(gradescope_csv(rows, {}, nobody()).content)
    assert (ada[10], eve[10]) == ("01:01:02", "00:00:00")


def test_gradescope_has_one_lab_a_file() -> None:
    with pytest.raises(CourseError, match="name one: --lab LAB"):
        gradescope_csv([stored(lab="one"), stored(lab="two")], {}, nobody())


# -------------------------------------------------------------------------------------------------------------- rosters
@pytest.mark.parametrize(
    ("person", "student"),
    [
        (Person(("ada",)), "ada"),
        (Person(("S-1", "ADA")), "ada"),
        (Person(("S-1",), email="Ada@Uni.example"), "ada"),
        (Person(("S-1",), email="mallory@elsewhere.example"), ""),
        (Person(("Grace@uni.example",)), "grace"),
        (Person((), names=("Ada Lovelace",)), ""),
        (Person(()), ""),
    ],
)
def test_a_person_is_found_by_id_then_by_address(person: Person, student: str) -> None:
    assert Roster([person], STUDENTS).student(person) == student


def test_the_beginning_of_an_address_stands_for_an_id_if_it_is_nobody_else_s(tmp_path: Path) -> None:
    one = roster(tmp_path, "Name,Email\nEve,eve@uni.example\n")
    assert one.student(one.people[0]) == "eve"
    two = roster(tmp_path, "Name,Email\nEve,eve@uni.example\nEve,eve@other.example\n")
    assert [two.student(person) for person in two.people] == ["", ""]


def test_ids_that_differ_in_case_only_are_two_students() -> None:
    people = Roster([], [Student("Kim"), Student("kim")])
    assert people.student(Person(("kim",))) == "kim"
    assert people.student(Person(("KIM",))) == "", "either could be meant"


@pytest.mark.parametrize("name", ["Ada Lovelace", "Lovelace, Ada", "LOVELACE ada", "lovelaceada", "Ádá Lovelace"])
def test_a_name_may_be_written_in_many_ways(name: str) -> None:
    assert Roster([], STUDENTS).named(name) == "ada"


def test_a_name_that_two_have_finds_nobody() -> None:
    twins = [Student("k1", "Lee", "Kim"), Student("k2", "Lee", "Kim")]
    assert Roster([], twins).named("Kim Lee") == ""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_roster_may_come_from_excel(tmp_path: Path, encoding: str) -> None:
    content = "Name\tSID\tEmail\r\nZoë Müller\tzoe\tz@x\r\n".encode(encoding)
    (person,) = roster(tmp_path, content).people
    assert (person.names, person.ids, person.email) == (("Zoë Müller",), ("zoe",), "z@x")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"PK\x03\x04\x00\x00", "not a CSV file"),
        (b"a,b\n1,2\n", "no column says who is who"),
        ("ID,Vollständiger Name,E-Mail-Adresse\nTeilnehmer/in901,Ada,a@x\n".encode(), r"E-Mail.*\nhint: .*in English"),
        (b"ID,Points\n901,2\n", r"no column says who is who \(there: ID, Points\)"),
        (b"Name,Email\n" + b"x" * 200_000 + b",y\n", "not a CSV file: field larger"),
    ],
)
def test_what_is_no_roster_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(CourseError, match=said):
        roster(tmp_path, content)


# ------------------------------------------------------------------------------------------------------ who is not sure
SIMPLE = [Student("ann"), Student("bob"), Student("eve")]
LOGINS = """\
Student,ID,SIS User ID,SIS Login ID,Section,lab (5501)
"Lovelace, Ann",101,1001,a.lovelace@uni.example,X,
"Ray, Bob",102,1002,b.ray@uni.example,X,
"Il, Eve",103,1003,ann@mail.example,X,
"""
CHANCE = (
    "only the part of ann@mail.example before the @ says that this is ann: others' addresses do not say who they are"
)


def test_canvas_gets_nobody_s_points_by_the_beginning_of_an_address_that_may_be_chance(tmp_path: Path) -> None:
    export = canvas_csv([stored("ann"), stored("bob")], roster(tmp_path, LOGINS, SIMPLE))
    assert (export.rows, len(table(export.content))) == (0, 2)
    assert export.notes == [
        "Lovelace, Ann: left out: nothing of theirs in the gradebook",
        "Ray, Bob: left out: nothing of theirs in the gradebook",
        f"Il, Eve: left out: {CHANCE}",
        "ann: left out: not in roster.csv",
        "bob: left out: not in roster.csv",
    ]


def test_moodle_and_gradescope_do_not_either(tmp_path: Path) -> None:
    people = [("Ann", "a.lovelace@uni.example"), ("Bob", "b.ray@uni.example"), ("Eve", "ann@mail.example")]
    lines = [f"Participant {n},{name},{email},,10\n" for n, (name, email) in enumerate(people)]
    sheet = roster(tmp_path, "Identifier,Full name,Email address,Grade,Maximum Grade\n" + "".join(lines), SIMPLE)
    filled = moodle_csv([stored("ann")], sheet)
    assert [row[3] for row in table(filled.content)[1:]] == ["", "", ""]
    assert f"Eve: left as it was: {CHANCE}" in filled.notes
    grades = roster(tmp_path, "Name,Email,Submission ID\n" + "".join(f"{n},{e},7\n" for n, e in people), SIMPLE)
    export = gradescope_csv([stored("ann")], {}, grades)
    assert table(export.content)[1][2:4] == ["ann", ""]
    assert f"Eve ann@mail.example: left out: {CHANCE}" in export.notes


@pytest.mark.parametrize("first", [True, False])
def test_the_row_with_the_id_gets_the_points_whatever_addresses_begin_with(tmp_path: Path, first: bool) -> None:
    ann, eve = '"Lovelace, Ann",101,ann,,X,\n', '"Il, Eve",103,,ann@mail.example,X,\n'
    content = LOGINS.splitlines(keepends=True)[0] + (ann + eve if first else eve + ann)
    export = canvas_csv([stored("ann")], roster(tmp_path, content, SIMPLE))
    assert table(export.content)[2:] == [["Lovelace, Ann", "101", "ann", "", "X", "8.5"]]
    assert "Il, Eve: left out: only the part of ann@mail.example before the @ says that this is ann:" in export.notes[0]


def test_two_rows_with_one_student_s_id_both_get_nothing(tmp_path: Path) -> None:
    content = LOGINS + '"Other, Ann",104,ann,x@y,X,\n"Lovelace, Ann",105,7,ann,X,\n'
    export = canvas_csv([stored("ann")], roster(tmp_path, content, SIMPLE))
    assert export.rows == 0
    for name in ("Other, Ann", "Lovelace, Ann"):
        assert f"{name}: left out: somebody else in the roster has an id or address of ann" in export.notes


def test_a_row_that_is_there_twice_is_one_person(tmp_path: Path) -> None:
    content = LOGINS + '"Other, Ann",104,ann,x@y,X,\n"Other, Ann",104,ann,x@y,Y,\n'
    export = canvas_csv([stored("ann")], roster(tmp_path, content, SIMPLE))
    assert (export.rows, "Other, Ann: left out: ann again" in export.notes) == (1, True)


@pytest.mark.parametrize(
    ("students", "addresses", "found"),
    [
        ("abc", "a@uni b@uni c@uni", "abc"),
        ("abc", "a@uni b@mail c@home", "abc"),
        ("abc", "a@uni b@uni x@uni y@uni", "ab"),
        ("abcd", "a@uni b@uni x@uni", "ab"),
        ("abcd", "a@uni x@uni y@uni", ""),
        ("ab", "a@uni x@uni", ""),
        ("abc", "a@uni b@uni x@uni c@mail", "ab"),
        ("abcd", "a@uni b@uni c@uni", "abc"),
        ("abc", "a@uni a@mail b@uni c@uni", "bc"),
        ("ab", "a@mail x@uni", ""),
    ],
)
def test_beginnings_of_addresses_count_where_they_are_the_ids_of_a_course(
    students: str, addresses: str, found: str
) -> None:
    people = [Person((), str(n), email, row=n) for n, email in enumerate(addresses.split())]
    known = Roster(people, [Student(own) for own in students])
    assert "".join(sorted(known.student(person) for person in people)) == found


def test_a_long_roster_is_matched_in_time_in_proportion() -> None:
    people = [Person((), str(n), f"s{n}@uni", (f"First{n} Last{n}",), n) for n in range(4000)]
    known = Roster(people, [Student(f"s{n}", f"Last{n}", f"First{n}") for n in range(4000)])
    begin = time.process_time()
    assert all(known.student(person) for person in people)
    assert time.process_time() - begin < 10


# ----------------------------------------------------------------------------------------- rows that cannot be right
ZEROS = [
    Student("007123", "Lovelace", "Ada", "ada@uni.example"),
    Student("7123", "Hopper", "Grace", "grace@uni.example"),
]
BARE = [Student("007123"), Student("7123")]
ROW = "Student,ID,SIS User ID,SIS Login ID,Section,lab (5501)\n"


def canvas_row(tmp_path: Path, row: str, students: list[Student]) -> tuple[list[str], list[str]]:
    """Return whose points Canvas's row gets, by points, and the notes about it."""
    rows = [stored(student.id, score=float(number)) for number, student in enumerate(students, 1)]
    export = canvas_csv(rows, roster(tmp_path, ROW + row, students))
    return [line[5] for line in table(export.content)[2:]], export.notes


@pytest.mark.parametrize(
    ("row", "other"),
    [
        ('"Somebody",101,7123,ada@uni.example,X,\n', "ada@uni.example"),
        ('"Somebody",101,7123,007123,X,\n', "7123"),
        ('"Lovelace, Ada",101,7123,,X,\n', "Lovelace, Ada"),
    ],
)
def test_a_row_that_is_two_students_is_nobody_s(tmp_path: Path, row: str, other: str) -> None:
    points, notes = canvas_row(tmp_path, row, ZEROS)
    assert points == []
    assert "left out: this row contradicts itself: " in notes[0]
    assert f"{other} is " in notes[0]


@pytest.mark.parametrize("students", [BARE, BARE[:1]])
def test_an_id_that_may_have_lost_its_zeros_is_nobody_s(tmp_path: Path, students: list[Student]) -> None:
    points, notes = canvas_row(tmp_path, '"Lovelace, Ada",101,7123,al@uni.example,X,\n', students)
    assert points == []
    assert "Lovelace, Ada: left out: 7123 may be 007123 without its leading zeros, or with some" in notes[0]


@pytest.mark.parametrize(
    ("rows", "students", "points"),
    [
        ('"Hopper, Grace",102,7123,x@y,X,\n', ZEROS, ["2"]),
        ('"G. Hopper",102,7123,grace@uni.example,X,\n', ZEROS, ["2"]),
        ('"G. Hopper",102,7123,7123@uni.example,X,\n', BARE, ["2"]),
        ('"A",101,007123,,X,\n"B",102,7123,,X,\n', BARE, ["1", "2"]),
        ('"A",101,7123,,X,\n', BARE[1:], ["1"]),
        ('"A",101,7123,ada@uni.example,X,\n', ZEROS[:1], ["1"]),
    ],
)
def test_an_id_without_zeros_counts_where_the_row_or_the_roster_says_so(
    tmp_path: Path, rows: str, students: list[Student], points: list[str]
) -> None:
    assert canvas_row(tmp_path, rows, students)[0] == points


def test_two_rows_with_one_id_and_two_names_are_two_people(tmp_path: Path) -> None:
    people = roster(tmp_path, "Name,SID\nAda Lovelace,7123\nGrace Hopper,7123\n", BARE[1:])
    assert [people.student(person) for person in people.people] == ["", ""]


def test_a_namesake_of_a_known_student_is_not_taken_for_a_contradiction(tmp_path: Path) -> None:
    students = [Student("ann1", "Lovelace", "Ann"), Student("ann2")]
    people = roster(tmp_path, "Name,SID\nAnn Lovelace,ann1\nAnn Lovelace,ann2\n", students)
    assert [people.student(person) for person in people.people] == ["ann1", "ann2"]


def test_a_worksheet_without_ids_is_filled_in_by_names_that_one_student_has(tmp_path: Path) -> None:
    students = [*STUDENTS, Student("k1", "Lee", "Kim"), Student("k2", "Lee", "Kim")]
    content = (
        "Identifier,Full name,Grade,Maximum Grade\nParticipant 1,Ada Lovelace,,10\nParticipant 2,Kim Lee,,10\n"
        "Participant 3,Nobody Known,,10\n"
    )
    export = moodle_csv([stored("ada"), stored("k1"), stored("k2")], roster(tmp_path, content, students))
    assert [row[2] for row in table(export.content)[1:]] == ["8.50", "", ""]
    assert export.notes[:2] == [
        "Kim Lee: left as it was: k1, k2 have this name",
        "Nobody Known: left as it was: no such student in the gradebook",
    ]
