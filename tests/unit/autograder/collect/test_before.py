"""Two systems before the first grade: whom one has named is no second student by the other's id or address."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from autograder.collect import Row, collect_lab, who_handed_in_nothing
from autograder.errors import CourseError
from tests.unit.autograder.collect.desk import LAB, Course, folder_of, said, zipped

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section
"Lovelace, Ada",101,S1,{0}ada,A
"O'Neill, Tip",102,S2,{0}tip,A
"Hopper, Grace",103,S3,{0}grace,A
"""
MOODLE = """\
Identifier,Full name,Email address
Participant 901,Ada Lovelace,ada@uni.example
Participant 902,Tip O'Neill,tip@uni.example
Participant 903,Grace Hopper,grace@uni.example
Participant 904,Dan Newman,dan@uni.example
"""
IN_CANVAS = {"lovelaceada_101_1_x.ipynb": "a", "oneilltip_102_2_x.ipynb": "t", "hoppergrace_103_3_x.ipynb": "g"}
_FORM = "{}_{}_assignsubmission_file_/x.ipynb"
NAMES = ["Ada Lovelace", "Tip O'Neill", "Grace Hopper", "Dan Newman"]
IN_MOODLE = {_FORM.format(name, number): name for number, name in enumerate(NAMES, 901)}
NEXT = "next"


class _Labs(Course):
    """Two labs, and a gradebook that knows nobody."""

    def labs(self) -> list[str]:
        return [LAB, NEXT]

    def notebooks(self, lab: str) -> dict[str, list[Any]]:
        return {lab: []}


@pytest.fixture
def course(course: Course) -> Course:
    return _Labs(**vars(course))


def collected(course: Course, lab: str, files: Any, roster: str = "", **more: Any) -> list[Row]:
    people = folder_of(course) / "people.csv"
    people.write_text(roster)
    source = zipped(folder_of(course) / "in.zip", files)
    return list(collect_lab(course, lab, source, roster=people if roster else None, **more))  # type: ignore[arg-type]


def placed(rows: Sequence[Row]) -> list[str]:
    return [row.student for row in rows if row.placed]


def test_moodle_s_addresses_are_canvas_s_ids_before_anything_is_graded(course: Course) -> None:
    rows = collected(course, LAB, IN_CANVAS, CANVAS.format(""))
    assert [row.what for row in rows] == ["new; was x.ipynb"] * 3, "who is new in the first lab is not worth a word"
    rows = collected(course, NEXT, IN_MOODLE, MOODLE)
    assert placed(rows) == ["ada", "dan@uni.example", "grace", "tip"]
    assert [row.what for row in rows if not row.file] == ["a student whom the gradebook does not know yet"]
    people = folder_of(course) / "people.csv"
    assert who_handed_in_nothing(course, NEXT, people, rows) == []  # type: ignore[arg-type]


def test_an_address_that_a_roster_gave_with_an_id_is_that_student_s(course: Course) -> None:
    both = "Student,ID,SIS Login ID,Email\n" + "".join(
        f"{name},{number},k{number},{name.split()[0].lower()}@uni.example\n" for number, name in enumerate(NAMES, 101)
    )
    collected(course, LAB, IN_CANVAS, both)
    assert placed(collected(course, NEXT, IN_MOODLE, MOODLE, dry_run=True)) == [
        "dan@uni.example",
        "k101",
        "k102",
        "k103",
    ]
    kept = json.loads((course.state / "people.json").read_text())
    assert kept["k101"] == {"emails": ["ada@uni.example"], "names": ["Ada Lovelace", "lovelaceada"]}
    course.known = [("bob", "", "", "ada@uni.example"), ("k102",), ("k103",)]
    assert placed(collected(course, NEXT, IN_MOODLE, MOODLE, dry_run=True))[0] == "bob", "the gradebook goes before"


def test_a_class_that_would_get_second_ids_is_refused_before_anything_is_placed(course: Course) -> None:
    collected(course, LAB, IN_CANVAS, CANVAS.format("k-"))
    for dry_run in (True, False):
        with pytest.raises(CourseError) as caught:
            collected(course, NEXT, IN_MOODLE, MOODLE, dry_run=dry_run)
        assert str(caught.value).partition("in.zip: ")[2].splitlines() == [
            "3 of 4 students would get ids that are new in this course, though it has students of their names:"
            " ada@uni.example has the name of k-ada, grace@uni.example has the name of k-grace, tip@uni.example has the"
            " name of k-tip",
            "hint: choose the ids that stay, and give the gradebook the addresses of the others (docs/instructors.md,"
            " two ids); --force collects all of them under these ids, too",
        ]
    assert not list(course.root.glob(f"submitted/*/{NEXT}"))
    rows = collected(course, NEXT, IN_MOODLE, MOODLE, force=True)
    assert len(placed(rows)) == 4
    (note,) = [row.what for row in rows if row.student == "ada@uni.example" and not row.file]
    assert "does not know yet; k-ada of an earlier collect has this name: if that is one person, give" in note
    assert len(placed(collected(course, NEXT, IN_MOODLE, MOODLE))) == 4, "now they are known by these"


def test_nor_is_it_collected_by_the_archive_s_names_where_the_roster_is_forgotten(course: Course) -> None:
    collected(course, LAB, IN_CANVAS, CANVAS.format(""))
    with pytest.raises(
        CourseError, match=r"lovelaceada has the name of ada.*\n.*give the --roster FILE that was given"
    ):
        collected(course, NEXT, IN_CANVAS)


def test_whoever_was_taken_away_is_nobody_again(course: Course) -> None:
    collected(course, LAB, IN_CANVAS, CANVAS.format("k-"))
    for path in Path(course.root).glob("submitted/*/lab"):
        path.rename(path.with_name("gone"))
    assert len(placed(collected(course, NEXT, IN_MOODLE, MOODLE))) == 4


@pytest.mark.parametrize("content", ["", "[]", '{"ada": 1}', '{"ada": {"emails": [1, null], "names": "x"}}', "\xff"])
def test_a_file_of_people_that_is_not_ours_stops_nothing(course: Course, content: str) -> None:
    collected(course, LAB, IN_CANVAS, CANVAS.format(""))
    (course.state / "people.json").write_text(content, encoding="latin-1")
    assert said(collected(course, NEXT, IN_CANVAS, CANVAS.format("")))["ada"] == "new; was x.ipynb"


def test_a_guess_is_not_remembered_as_an_address(course: Course) -> None:
    collected(course, LAB, IN_CANVAS, CANVAS.format(""))
    collected(course, NEXT, IN_MOODLE, MOODLE)
    kept = json.loads((course.state / "people.json").read_text())
    assert "emails" not in kept["ada"]
    assert kept["dan@uni.example"]["emails"] == ["dan@uni.example"]
