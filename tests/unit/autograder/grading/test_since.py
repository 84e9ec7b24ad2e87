"""What of a lab is not as it was when it was graded."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.course import StoredCell
from autograder.grading import since
from autograder.grading.since import Since, since_graded
from autograder.model import Result, Status
from autograder.records.log import Basis, Log


def test_who_came_since_and_whose_tests_were_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log(tmp_path / "lab.jsonl")
    tests = {"lab/f-check": "as it is now"}
    for student, status, basis in (
        ("missing", Status.MISSING, None),
        ("failed", Status.FAILED, None),
        ("older", Status.GRADED, None),  # the line of an older version
        ("same", Status.GRADED, Basis(tests, content="now")),
        ("anew", Status.GRADED, Basis(tests, content="before")),
        ("gone", Status.GRADED, Basis(tests, content="before")),
        ("tested", Status.GRADED, Basis({"lab/f-check": "as it was"}, content="now")),
    ):
        log.append(Result(student, "lab", status), basis)
    for student, content in (("unlucky", "now"), ("changed", "before")):  # graded once, and failed since
        log.append(Result(student, "lab", Status.GRADED), Basis(tests, content=content))
        log.append(Result(student, "lab", Status.FAILED), None)
    students = ["missing", "failed", "older", "same", "anew", "tested", "new", "unlucky", "changed"]
    course: Any = SimpleNamespace(state=tmp_path, notebooks=lambda _lab: {}, submitters=lambda _lab: students)
    monkeypatch.setattr(since, "row_hashes", lambda _rows: tests)
    monkeypatch.setattr(since, "_content", lambda *_about: "now")
    never = ("failed", "missing", "new")
    assert since_graded(course, "lab") == Since(("anew", "changed"), never, ("tested",), failed=("unlucky",))


def test_whose_file_could_not_be_read_until_a_person_has_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log(tmp_path / "lab.jsonl")
    students = ["anew", "asked", "extra", "looked", "nobody", "readable"]
    for student in students:
        status = Status.GRADED if student == "readable" else Status.UNREADABLE
        log.append(Result(student, "lab", status), Basis({}, content="before" if student == "anew" else "now"))

    def cells(_lab: str, student: str) -> dict[str, list[StoredCell]]:
        given = {"looked": (2.0, None, False), "asked": (2.0, None, True), "extra": (None, 1.0, False)}
        manual, extra, asked = given.get(student, (None, None, False))
        return {student: [StoredCell("lab", "why", 0.0, manual, extra, 3.0, to_grade=asked)]}

    course: Any = SimpleNamespace(
        state=tmp_path, notebooks=lambda _lab: {}, submitters=lambda _lab: students, cells=cells
    )
    monkeypatch.setattr(since, "row_hashes", lambda _rows: {})
    monkeypatch.setattr(since, "_content", lambda *_about: "now")
    assert since_graded(course, "lab") == Since(anew=("anew",), unread=("asked", "nobody"))
