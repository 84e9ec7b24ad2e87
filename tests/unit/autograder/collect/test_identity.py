"""Two people are never one student: what only looks like an id is nobody's whose id it is not."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.collect.lms_names import Owner
from autograder.collect.plan import students_of
from autograder.course import Student
from autograder.errors import CourseError
from autograder.lms import Person, Roster
from tests.unit.autograder.collect.desk import Course, collected, roster, said, there

GRADESCOPE = """\
Name,SID,Email,Role
Ann Lovelace,ann,a.lovelace@uni.edu,Student
Bob Ray,bob,b.ray@uni.edu,Student
Eve Il,,ann@gmail.com,Student
"""
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section
"Lovelace, Ann",101,1001,a.lovelace@uni.edu,X
"Ray, Bob",102,1002,b.ray@uni.edu,X
"Il, Eve",103,1003,ann@gmail.com,X
"""
IN_CANVAS = {
    "lovelaceann_101_9101_lab.ipynb": "ann's",
    "raybob_102_9102_lab.ipynb": "bob's",
    "ileve_103_9103_lab.ipynb": "eve's",
}
ANN, BOB = ("Ann Lovelace", "ann", "a.lovelace@uni.edu"), ("Bob Ray", "bob", "b.ray@uni.edu")
EVE = ("Eve Il", "", "ann@gmail.com")


def gradescope(*people: tuple[str, str, str]) -> dict[str, str]:
    """Return an export in which each of these people handed in a day after the one before."""
    metadata, files = "---\n", {}
    for day, (name, sid, email) in enumerate(people, 1):
        metadata += f"submission_{day}:\n  :submitters:\n  - :name: {name}\n    :sid: '{sid}'\n    :email: {email}\n"
        metadata += f"  :created_at: 2026-05-0{day} 10:00:00.000000000 Z\n"
        files[f"assignment_1_export/submission_{day}/lab.ipynb"] = f"{name}'s"
    return {"assignment_1_export/submission_metadata.yml": metadata, **files}


@pytest.fixture
def three(course: Course) -> Course:
    """A course that knows ann, bob and eve by nothing but their ids."""
    course.known = [("ann",), ("bob",), ("eve",)]
    return course


def notebooks(course: Course) -> dict[str, str]:
    return {name.split("/")[0]: text for name, text in there(course).items() if name.endswith(".ipynb")}


def test_an_address_that_begins_with_another_s_id_replaces_nothing(three: Course) -> None:
    rows = collected(three, gradescope(ANN, BOB, EVE), roster=roster(three, GRADESCOPE))
    assert notebooks(three) == {"ann": "Ann Lovelace's", "bob": "Bob Ray's"}
    assert said(rows)["Eve Il: lab.ipynb"] == (
        "left out: only the part of ann@gmail.com before the @ says that this is ann:"
        " somebody else in the roster has this id or address"
    )
    assert [row.lost for row in rows if not row.student] == [True]


@pytest.mark.parametrize("archive", [(EVE,), (BOB, EVE), (EVE, BOB)])
def test_nor_does_it_where_the_other_one_has_handed_nothing_in(
    three: Course, archive: tuple[tuple[str, str, str], ...]
) -> None:
    collected(three, gradescope(*archive), roster=roster(three, GRADESCOPE))
    assert set(notebooks(three)) <= {"bob"}


def test_canvas_with_logins_that_are_addresses_gives_nobody_another_s_work(three: Course) -> None:
    rows = collected(three, IN_CANVAS, roster=roster(three, CANVAS))
    assert notebooks(three) == {"a.lovelace@uni.edu": "ann's", "b.ray@uni.edu": "bob's"}
    assert said(rows)["ileve: lab.ipynb"].endswith(": others' addresses do not say who they are")


def test_a_name_of_the_gradebook_says_who_that_is(three: Course) -> None:
    three.known = [("ann", "Lovelace", "Ann"), ("bob", "Ray", "Bob"), ("eve", "Il", "Eve")]
    collected(three, IN_CANVAS, roster=roster(three, CANVAS))
    assert notebooks(three)["eve"] == "eve's"
    assert "ann" not in notebooks(three)


def test_whoever_takes_another_s_name_does_not_get_their_folder(three: Course) -> None:
    three.known = [("ann", "Lovelace", "Ann"), ("bob", "Ray", "Bob"), ("eve", "Il", "Eve")]
    people = roster(three, GRADESCOPE.replace("Eve Il", "Ann Lovelace"))
    rows = collected(three, gradescope(("Ann Lovelace", "", "ann@gmail.com")), roster=people)
    assert notebooks(three) == {}
    assert [row.lost for row in rows] == [True]
    later = roster(three, GRADESCOPE)
    assert collected(three, gradescope(("Bob Ray", "", "ann@gmail.com")), roster=later)[0].lost
    assert notebooks(three) == {}, "the name in the archive is not that of the roster's row"


@pytest.mark.parametrize("known", [[("ann",), ("eve",)], []])
def test_two_people_with_one_id_are_both_left_out(course: Course, known: list[tuple[str]]) -> None:
    course.known = known
    rows = collected(course, gradescope(ANN, ("Eve Il", "ann", "eve@gmail.com")))
    assert notebooks(course) == {}
    assert [row.what for row in rows if row.lost] == [
        "left out: more than one person in it has an id or address of ann"
    ] * 2


def test_two_people_of_the_roster_with_one_id_are_both_left_out(three: Course) -> None:
    people = "Student,ID,SIS User ID,SIS Login ID,Section\nAnn,101,1,ann,X\nEve,103,ann,e@x,X\nBob,102,2,bob,X\n"
    rows = collected(
        three, {"eve_103_9_lab.ipynb": "eve's", "bob_102_8_lab.ipynb": "bob's"}, roster=roster(three, people)
    )
    assert notebooks(three) == {"bob": "bob's"}
    assert said(rows)["eve: lab.ipynb"] == "left out: somebody else in the roster has an id or address of ann"


def test_one_number_with_two_names_is_nobody(three: Course) -> None:
    people = "Identifier,Full name,Email address\nParticipant 901,Ann,ann@x\nParticipant 902,Bob,bob@x\n"
    form = "{}_901_assignsubmission_file_/lab.ipynb"
    rows = collected(three, {form.format(name): name for name in ("Ann", "Eve")}, roster=roster(three, people))
    assert notebooks(three) == {}
    assert [row.lost for row in rows] == [True, True]


def test_several_submissions_of_one_person_are_attempts(three: Course) -> None:
    rows = collected(three, gradescope(ANN, ANN), roster=roster(three, GRADESCOPE))
    assert said(rows)["ann"] == "new; the newest of 2 attempts"


def test_an_address_of_the_roster_leads_to_the_id_beside_it(three: Course) -> None:
    people = roster(three, GRADESCOPE.replace("Eve Il,,", "Eve Il,eve,"))
    collected(three, gradescope(ANN, BOB, EVE), roster=people)
    assert notebooks(three) == {"ann": "Ann Lovelace's", "bob": "Bob Ray's", "eve": "Eve Il's"}


def test_an_address_that_is_not_the_roster_s_is_not_taken_for_it(three: Course) -> None:
    people = roster(three, "Name,Email\nAnn,ann@uni.edu\nBob,bob@uni.edu\nEve,eve@uni.edu\n")
    collected(three, gradescope(("E", "", "ann@gmail.com"), ("B", "", "bob@uni.edu")), roster=people)
    assert notebooks(three) == {"ann@gmail.com": "E's", "bob": "B's"}


MOODLE = "Identifier,Full name,Email address\n" + "".join(
    f"Participant {number},Student {own},{own}@uni.edu\n" for number, own in enumerate("abcdefgh", 901)
)


@pytest.mark.parametrize("dropouts", [[], [("gone",), ("left",)]])
def test_where_addresses_begin_with_ids_everybody_is_found(course: Course, dropouts: list[tuple[str]]) -> None:
    course.known = [*((own,) for own in "abcdef"), *dropouts]
    form = "Student {}_{}_assignsubmission_file_/lab.ipynb"
    files = {form.format(own, number): own for number, own in enumerate("abcdefg", 901)}
    collected(course, files, roster=roster(course, MOODLE))
    assert notebooks(course) == {**{own: own for own in "abcdef"}, "g@uni.edu": "g"}


def test_and_an_address_of_another_domain_is_nobody_s(course: Course) -> None:
    course.known = [(own,) for own in "abcdef"]
    people = roster(course, MOODLE.replace("b@uni.edu", "b.ray@uni.edu").replace("h@uni.edu", "b@gmail.com"))
    rows = collected(course, {"Student h_908_assignsubmission_file_/lab.ipynb": "h"}, roster=people)
    assert notebooks(course) == {}
    assert "only the part of b@gmail.com before the @ says that this is b" in rows[0].what


_WORDS = st.sampled_from(["", "ann", "bob", "eve", "ann@uni.edu", "ann@gmail.com", "bob@uni.edu", "ANN"])
_NAMES = st.sampled_from(["Ann Lovelace", "Bob Ray", "Lovelace, Ann", ""])


_NUMBERS = st.sampled_from(["", "1", "2", "3"])
_STUDENTS = st.builds(Student, _WORDS.filter(bool), st.sampled_from(["Lovelace", ""]), st.just("Ann"), _WORDS)
_OWNERS = st.builds(Owner, _NUMBERS, _NAMES, _WORDS.map(lambda word: (word,) if word else ()), _WORDS)


@settings(deadline=None, max_examples=400)
@given(
    st.lists(_STUDENTS, max_size=3, unique_by=lambda student: student.id),
    st.lists(st.tuples(_WORDS, _WORDS, _WORDS, _NAMES), max_size=4),
    st.lists(_OWNERS, max_size=4, unique=True),
)
def test_whatever_people_call_themselves_no_two_are_one_student(
    students: list[Student], rows: list[tuple[str, str, str, str]], owners: list[Owner]
) -> None:
    people = [
        Person(tuple(filter(None, (login, sid))), str(n), email, tuple(filter(None, (name,))), n)
        for n, (login, sid, email, name) in enumerate(rows)
    ]
    known = Roster(people, students)
    found = students_of(owners, known)
    assert list(found) == owners
    assert max(Counter(student for student, _ in found.values() if student).values(), default=1) == 1
    assert all(note for student, note in found.values() if not student)


WORKSHEET = "Identifier,ID number,Full name,Email address\nParticipant 901,7123,Ada Lovelace,ada@uni.example\n"
ADA = {"Ada Lovelace_901_assignsubmission_file_/lab.ipynb": "ada's"}


@pytest.mark.parametrize(
    ("known", "why"),
    [
        ([("007123", "Lovelace", "Ada", "ada@uni.example"), ("7123", "Hopper", "Grace")], "contradicts itself"),
        ([("007123", "Lovelace", "Ada"), ("7123", "Hopper", "Grace")], "contradicts itself"),
        ([("007123", "Lovelace", "Ada"), ("7123",)], "contradicts itself"),
        ([("007123",), ("7123",)], "may be 007123 without its leading zeros"),
        ([("007123",)], "may be 007123 without its leading zeros"),
    ],
)
def test_an_id_that_lost_its_zeros_gives_nobody_another_s_folder(
    course: Course, known: list[tuple[str, ...]], why: str
) -> None:
    course.known = known
    rows = collected(course, ADA, roster=roster(course, WORKSHEET))
    assert notebooks(course) == {}
    assert [row.lost for row in rows] == [True]
    assert why in rows[0].what


def test_two_students_of_one_name_are_said_to_have_it(course: Course) -> None:
    course.known = [("k1", "Lee", "Kim"), ("k2", "Lee", "Kim")]
    content = "Identifier,Full name\nParticipant 901,Kim Lee\n"
    rows = collected(course, {"Kim Lee_901_assignsubmission_file_/lab.ipynb": "k"}, roster=roster(course, content))
    assert [row.what for row in rows] == ["left out: k1, k2 have this name"]


# ------------------------------------------------------------------------------------------- one person under two ids
TWICE = """\
Identifier,Full name,ID number,Email address
Participant 901,Ada Lovelace,4711,lovelace@moodle.example
Participant 902,Bob Builder,4712,bob@moodle.example
"""
KNOWN = [("ada", "Lovelace", "Ada", "ada@uni.example"), ("grace", "Hopper", "Grace", "")]


def test_a_new_id_with_the_name_of_a_known_student_is_told(course: Course) -> None:
    course.known = KNOWN
    form = "{}_{}_assignsubmission_file_/lab.ipynb"
    files = {form.format("Ada Lovelace", 901): "a", form.format("Bob Builder", 902): "b"}
    rows = [row for row in collected(course, files, roster=roster(course, TWICE)) if not row.file]
    new = "a student whom the gradebook does not know yet"
    assert said(rows)["4712"] == new
    assert said(rows)["4711"].startswith(f"{new}; ada there has this name: if that is one person, give the gradebook")


def test_and_without_a_roster_by_the_name_that_gradescope_gives(course: Course) -> None:
    course.known = KNOWN
    rows = collected(course, gradescope(("Lovelace, Ada", "4711", "ada@gradescope.example")))
    assert "ada there has this name" in next(row.what for row in rows if not row.file)


def test_a_known_e_mail_address_makes_no_second_student(course: Course) -> None:
    course.known = KNOWN
    collected(course, gradescope(("A. L.", "4711", "Ada@Uni.example")))
    assert notebooks(course) == {"ada": "A. L.'s"}


@pytest.mark.parametrize("known", [[("ada", "", "", ""), ("eve", "", "", "")], [("eve", "", "", "")]])
def test_whom_the_configuration_leaves_out_is_not_collected_by_any_of_their_names(
    course: Course, known: list[tuple[str, ...]]
) -> None:
    course.known, course.excluded = known, {"ada"}
    rows = collected(course, gradescope(("Ada", "ada", ""), ("Eve", "eve", "")))
    assert notebooks(course) == {"eve": "Eve's"}
    with pytest.raises(
        CourseError, match=r"^ada: left out by c\.CourseDirectory\.student_id_exclude in nbgrader_config"
    ):
        collected(course, gradescope(("Ada", "ada", ""), ("Eve", "eve", "")), students=["ada"])
    (left,) = [row for row in rows if row.student == "ada" and row.file]
    assert (left.what, left.lost) == ("left out: student_id_exclude in nbgrader_config.py names this student", False)
