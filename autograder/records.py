"""What a person at a terminal gets of the records: grades checked, exported, submissions collected, a class report."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import nbformat
from rich.cells import cell_len, set_cell_size
from rich.console import Console

from autograder.alike import same_answers
from autograder.class_report import MARK, class_page, class_statistics
from autograder.collect import Row, collect_lab
from autograder.course import Course, open_course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.lms import (
    Export,
    Roster,
    canvas_csv,
    gradescope_csv,
    moodle_csv,
    nbgrader_csv,
    read_roster,
)
from autograder.model import Stored
from autograder.report import headings
from autograder.store import Log
from autograder.table import plain
from autograder.verify import Verification, verify_lab

__all__ = ["FORMATS", "collect", "export_grades", "report_lab", "verify_labs"]

FORMATS = ("nbgrader", "canvas", "moodle", "gradescope")


# --------------------------------------------------------------------------------------------------------------- verify
def verify_labs(root: Path, labs: Sequence[str], *, head: str, as_json: bool) -> int:
    """Check these labs, or all; print a line a difference, or a JSON object a lab; return the number of differences."""
    course = open_course(root)
    chosen = list(labs) or _recorded(course)
    if not chosen:
        raise CourseError(f"{course.root}: nothing has been graded", hint="autograder grade LAB")
    count = 0
    for lab in chosen:
        if not (course.state / f"{lab}.jsonl").exists():
            course.notebooks(lab)  # says that there is no such lab, if so
        found = verify_lab(course, lab, head)
        count += len(found.problems) + len(found.differences)
        if as_json:
            print(json.dumps(_as_dict(found)), flush=True)
        else:
            _show(found)
    return count


def _recorded(course: Course) -> list[str]:
    """Return the labs of which there is a log or a grade."""
    logs = {path.stem for path in course.state.glob("*.jsonl")}
    return sorted(logs | {stored.lab for stored in course.scores()})


def _show(found: Verification) -> None:
    for line in [*found.problems, *map(str, found.differences)]:
        print(plain(f"{found.lab}: {line}"))
    for line in found.by_hand:
        print(plain(f"{found.lab}: by hand: {line}"))
    say = _stderr()
    for line in found.notes:
        say.print(plain(f"{found.lab}: {line}"), soft_wrap=True, markup=False)
    agrees = "agrees with the gradebook" if found.agrees else "does not agree"
    say.print(f"{found.lab}: log of {found.lines} lines, {agrees}; head {found.head or 'none'}", soft_wrap=True)


def _as_dict(found: Verification) -> dict[str, object]:
    return {**vars(found), "differences": [vars(difference) for difference in found.differences], "ok": found.agrees}


# --------------------------------------------------------------------------------------------------------------- export
def export_grades(
    root: Path, target: Path | None, lab: str | None, form: str = "nbgrader", roster: Path | None = None
) -> int:
    """Write the CSV file, or print it if there is no target; return its number of rows.

    A file that is not an earlier export of this format is left alone: CourseError.
    """
    course = open_course(root)
    if lab is not None:
        course.notebooks(lab)
    export = _exported(course, course.scores(lab), form, read_roster(roster, course.students()))
    for note in export.notes:
        _stderr().print(plain(note), soft_wrap=True, markup=False)
    if target is None:
        sys.stdout.write(export.content)
        return export.rows
    if not target.parent.is_dir():
        raise CourseError(f"{target.parent}: no such directory", hint="make it, or write somewhere else")
    if target.exists() and (_same_file(target, roster) or not _is_export(target, export.content)):
        raise CourseError(
            f"{target}: is there already and is not an export", hint="choose another name, or move it away"
        )
    write_whole(target, export.content.encode())
    return export.rows


def _exported(course: Course, rows: Sequence[Stored], form: str, people: Roster) -> Export:
    if form == "gradescope":
        labs = {row.lab for row in rows}
        return gradescope_csv(rows, course.cells(labs.pop()) if len(labs) == 1 else {}, people)
    formats: dict[str, Callable[[], Export]] = {
        "nbgrader": lambda: nbgrader_csv(rows),
        "canvas": lambda: canvas_csv(rows, people),
        "moodle": lambda: moodle_csv(rows, people),
    }
    return formats[form]()


def _same_file(target: Path, roster: Path | None) -> bool:
    return roster is not None and roster.exists() and target.samefile(roster)


def _is_export(path: Path, content: str) -> bool:
    """Whether a file begins with the columns that are to be written to it now."""
    header = content.split("\n", 1)[0].rstrip("\r")
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(header.encode()) + 1).decode(errors="replace").rstrip("\r\n") == header


# -------------------------------------------------------------------------------------------------------------- collect
def collect(
    root: Path, lab: str, source: Path, *, system: str, roster: Path | None, force: bool, dry_run: bool
) -> list[Row]:
    """Collect the submissions of a lab and print a table: student, file, what happened."""
    course = open_course(root)
    rows = list(collect_lab(course, lab, source, system=system, roster=roster, force=force, dry_run=dry_run))
    shown = [("student", "file", "what happened"), *((r.student or "-", r.file or "-", r.what) for r in rows)]
    cells = [tuple(plain(text) for text in row) for row in shown]
    widths = [min(48, max(cell_len(row[column]) for row in cells)) for column in range(2)]
    for student, file, what in cells:
        print(f"{_fitted(student, widths[0])}  {_fitted(file, widths[1])}  {what}")
    return rows


def _fitted(text: str, width: int) -> str:
    return text if cell_len(text) > width else set_cell_size(text, width)


# --------------------------------------------------------------------------------------------------------------- report
def report_lab(root: Path, lab: str, target: Path | None, *, as_json: bool) -> Path | None:
    """Write the class report of a lab, or print its numbers as JSON; return the page that was written."""
    course = open_course(root)
    rows = course.notebooks(lab)
    log = Log(course.state / f"{lab}.jsonl")
    results = log.latest()
    found = class_statistics(
        lab,
        rows,
        results,
        course.scores(lab),
        course.roster(),
        titles=_titles(course, lab, rows),
        alike=same_answers(course, lab, list(rows), sorted(s for s, result in results.items() if result.cells)),
    )
    if as_json:
        print(json.dumps(found, indent=2))
    if as_json and target is None:
        return None
    path = target or course.root / f"{lab}_report.html"
    if not path.parent.is_dir():
        raise CourseError(f"{path.parent}: no such directory", hint="make it, or write somewhere else")
    if path.exists() and not _is_report(path):
        raise CourseError(
            f"{path}: is there already and is no class report", hint="choose another name, or move it away"
        )
    write_whole(path, class_page(found).encode("utf-8", "replace"))
    return path


def _titles(course: Course, lab: str, names: Iterable[str]) -> dict[str, str]:
    """Return the headings above the graded cells of the students' version, by notebook/grade_id."""
    titles: dict[str, str] = {}
    for name in names:
        path = course.release_directory / lab / f"{name}.ipynb"
        try:
            found = headings(nbformat.read(path, as_version=4))
        except Exception:  # nbformat's readers fail in many ways; without headings the cells' names stand in
            continue
        titles |= {(f"{name}/{grade_id}" if grade_id else ""): words for grade_id, words in found.items()}
    return titles


def _is_report(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return MARK.encode() in file.read(1000)


def _stderr() -> Console:
    return Console(stderr=True, highlight=False)
