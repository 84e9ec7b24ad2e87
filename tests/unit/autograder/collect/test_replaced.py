"""What was replaced once, by a newer one or by hand, is no newer submission because an archive was downloaded again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.unit.autograder.collect.desk import LAB, Course, collected, folder_of, text_of, there, zipped

DAYS = [(2026, 11, day, 12, 0, 0) for day in range(20, 26)]
BOTH = {"gus_7_901_lab.ipynb": "blank", "gus_7_902_work.ipynb": "done"}
CHOSEN = {"gus/lab.ipynb": "done"}


def taken(course: Course, files: Any, day: int, **more: Any) -> str:
    rows = collected(course, zipped(folder_of(course) / "in.zip", files, DAYS[day]), **more)
    return next(row.what for row in rows if row.placed)


def stands(course: Course) -> str:
    return text_of(Path(course.submitted("gus", LAB)) / "lab.ipynb")


def test_a_notebook_chosen_by_hand_stays_at_the_next_download_of_the_same_archive(course: Course) -> None:
    taken(course, BOTH, 0)
    assert taken(course, CHOSEN, 0, force=True, system="folders").startswith("replaced")
    for day, dry_run in ((1, True), (1, False), (2, False)):
        kept = taken(course, BOTH, day, dry_run=dry_run)
        assert kept.startswith("kept: this was replaced before, is in .autograder/replaced/lab/gus/")
        assert "is no newer hand-in; --force --student gus takes it" in kept
        assert stands(course) == "done"
    (row,) = [row for row in collected(course, BOTH) if row.placed]
    assert (row.placed, row.lost) == ("kept", False)
    assert taken(course, BOTH, 3, force=True).startswith("replaced")
    assert stands(course) == "blank"
    assert taken(course, BOTH, 4) == "unchanged"


def test_what_the_student_has_changed_since_is_newer(course: Course) -> None:
    taken(course, {**BOTH, "gus_7_903_own.csv": "1"}, 0)
    taken(course, CHOSEN, 0, force=True, system="folders")
    assert taken(course, {**BOTH, "gus_7_903_own.csv": "2"}, 1).startswith("replaced")
    assert there(course)["gus/lab/own.csv"] == "2"
    assert taken(course, {"gus_7_904_lab.ipynb": "better"}, 2).startswith("replaced")


def test_of_what_is_handed_in_again_at_a_time_that_the_system_says_the_time_decides(course: Course) -> None:
    def attempt(text: str, day: int) -> str:
        metadata = "---\nsubmission_1:\n  :submitters:\n  - :name: Gus\n    :sid: gus\n"
        metadata += f"  :created_at: 2026-11-{day} 10:00:00.000000000 Z\n"
        folder = "assignment_1_export"
        files = {f"{folder}/submission_metadata.yml": metadata, f"{folder}/submission_1/lab.ipynb": text}
        return taken(course, files, 5)

    assert attempt("first", 20) == "new"
    assert attempt("second", 21).startswith("replaced")
    assert attempt("first", 22).startswith("replaced")
    assert stands(course) == "first"
    taken(course, {"gus/lab.ipynb": "second"}, 0, force=True, system="folders")
    assert attempt("first", 22).startswith("kept: this was replaced before")


def test_one_that_can_be_graded_comes_back_in_place_of_one_that_cannot(course: Course) -> None:
    taken(course, {"gus/lab.ipynb": "good"}, 0, system="folders")
    taken(course, {"gus/lab.ipynb": b'{"nbformat": 4'}, 1, system="folders", force=True)
    assert taken(course, {"gus/lab.ipynb": "good"}, 2, system="folders").startswith("replaced")
