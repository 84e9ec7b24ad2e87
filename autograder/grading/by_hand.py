"""Tells which points given by hand still stand after another run, and which a person has to look at again.

nbgrader asks for another look at all of them. Here a written answer is the same if its text is, and its pasted
pictures, and each file beside the notebook whose name it mentions; what was handed in for a task, if all files are as
well; an answer in code, or points in place of a test's, if all code of the student's is, and what the test gave. What
was changed and then put back is the same, too.
Points of a cell that is worth more or less now are a person's to look at, too, above what it is worth now in any case.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

import nbformat

from autograder.course import Course, StoredCell
from autograder.errors import SubmissionError, counted, listed
from autograder.grading.asked import Asked
from autograder.model import CellSpec
from autograder.notebook import below_tasks, grade_id_of
from autograder.records.fingerprint import row_hashes
from autograder.records.log import Basis, Entry
from autograder.submission.handin import handed_in_as
from autograder.submission.repair import parse, read
from autograder.submission.sanitize_prose import bounded_code, harmless_text, picture_name

__all__ = ["GivenBefore"]

_Answer = tuple[str, Any]
_CODE = ""
_ANSWER, _OTHER_CODE, _TESTED_CODE = "the answer", "other code of the notebook", "code of the notebook"
_ROUNDING = 1e-9


@dataclass(frozen=True)
class GivenBefore:
    """The points by hand of one submission, and what stood in the cells that they were given for."""

    cells: Mapping[str, StoredCell]
    """By notebook/grade_id. What each is worth is what it was then: the gradebook says what it is worth now."""
    answers: Mapping[str, Mapping[str, _Answer]]
    """Of each notebook the answers by grade_id, written and in code, what stands below each task that has no cell of
    its own to answer in, and all code of the student's under one name."""
    files: Mapping[str, str]
    """A hash of each file beside the notebooks, by its name."""
    handed_in_again: bool
    """Whether everything that is graded now is what was graded then."""
    tests: Mapping[str, str]
    """A hash of each cell of the lab as it was then, by notebook/grade_id; none where that is not known."""

    @classmethod
    def of(
        cls,
        course: Course,
        lab: str,
        student: str,
        rows: Mapping[str, Sequence[CellSpec]],
        graded: Path,
        then: Callable[[], Entry | None],
        content: str,
    ) -> GivenBefore:
        """Read them from the gradebook, before another run is stored there.

        graded: the folder of what was graded then. then: returns the log's line of that, if it has one; asked if there
        are points by hand. content: a hash of what was handed in.
        """
        found = course.cells(lab, student).get(student, [])
        given = {cell.key: cell for cell in found if cell.manual_score is not None or cell.extra_credit}
        if not given:
            return cls({}, {}, {}, False, {})
        answers = {}
        for name in {cell.notebook for cell in given.values()} & rows.keys():
            path = graded / f"{name}.ipynb"
            try:
                answers[name] = _answers(parse(read(path), path.name)[0], rows[name])
            except (SubmissionError, OSError):  # it is gone, or nobody knows what it was
                continue
        line = then()
        known = (line and line.basis) or Basis()
        worth = {cell.key: cell.max_points for cell in line.result.cells} if line and line.result else {}
        given = {key: replace(cell, max_score=worth.get(key, cell.max_score)) for key, cell in given.items()}
        return cls(given, answers, _beside(course, lab, graded), known.content == content, known.tests)

    def settle(
        self,
        course: Course,
        lab: str,
        student: str,
        rows: Mapping[str, Sequence[CellSpec]],
        notebooks: Mapping[str, nbformat.NotebookNode],
    ) -> list[str]:
        """Take nbgrader's question back where nothing has changed; return a line for each cell where something has.

        A question that was open before stays open.
        """
        if not self.cells:
            return []
        now = {cell.key: cell for cell in course.cells(lab, student).get(student, [])}
        answers = {name: _answers(notebook, rows[name]) for name, notebook in notebooks.items() if name in rows}
        tasks = {f"{name}/{row.grade_id}" for name, cells in rows.items() for row in cells if row.task}
        tests, beside = row_hashes(rows), _beside(course, lab, course.autograded(student, lab))
        changed = _changed(self.files, beside)
        standing, asked, lines = [], dict[str, str](), []
        known = Asked.of(course, lab)
        graded = known.about(student)
        for key, cell in self.cells.items():
            if key not in now:
                continue
            name = key if len(rows) > 1 else cell.grade_id
            found = answers.get(cell.notebook)
            files = changed if key in tasks else [file for file in changed if _mentions(found, cell, file)]
            why = self._why(cell, now[key], found, files) or self._why_tested(cell, now[key], tests.get(key, ""))
            task = key in tasks
            if cell.to_grade and graded.get(key) and graded[key] == _given_for(now[key], found, beside, task=task):
                why = ""
            above = cell.manual_score is not None and cell.manual_score > now[key].max_score + _ROUNDING
            if why or above:
                said = [f"{_given(cell)} by hand{why and f' before {why}'}", f"{now[key].max_score:g} at most now"]
                lines.append(f"{name}: {', '.join(said[: 1 + above])}: look at it again")
                then = _given_for(cell, self.answers.get(cell.notebook), self.files, task=task)
                asked[key] = graded.get(key, "") if cell.to_grade else then
            else:
                standing.append(key)
        if changed and standing and not asked:
            lines.append(f"changed since points were given by hand: {listed(changed)}: does an answer refer to it?")
        course.needs_a_look(lab, student, standing, False)
        course.needs_a_look(lab, student, asked, True)
        known.note(student, asked)
        return lines

    def _why(
        self, before: StoredCell, now: StoredCell, answers: Mapping[str, _Answer] | None, files: Sequence[str]
    ) -> str:
        """Return what has become of the answer for which a person might give other points, in words; empty if nothing.

        files: those that belong to the answer and are others now.
        """
        if self.handed_in_again:
            return ""
        if before.notebook not in self.answers and answers is not None:
            return "the graded copy was lost, so that nobody knows whether the answer was changed"
        changed = self._changed_in(before, answers) or (listed(files) if files else "")
        return f"{changed} was changed" if changed else ""

    def _why_tested(self, before: StoredCell, now: StoredCell, test: str) -> str:
        """Return the same of what the answer is graded with; or that a person was asked before, and has not looked.

        test: a hash of the cell as it is now.
        """
        if before.cell_type != now.cell_type:
            return f"the cell was made a {now.cell_type} cell"
        if before.cell_type != "markdown" and before.auto_score not in {None, now.auto_score}:
            changed = "was changed and " if self.tests.get(before.key, test) != test else ""
            return f"its test {changed}gave {_points(now.auto_score)}, not {before.auto_score:g}"
        fits = before.manual_score is not None and before.manual_score <= now.max_score + _ROUNDING
        if fits and abs(before.max_score - now.max_score) > _ROUNDING:
            return f"its maximum was changed from {before.max_score:g} to {now.max_score:g}"
        return "a change that nobody has looked at yet" if before.to_grade else ""

    def _changed_in(self, before: StoredCell, answers: Mapping[str, _Answer] | None) -> str:
        """Return what of the answer is another than it was then, or is not known; empty if nothing is."""
        then, name = self.answers.get(before.notebook), before.grade_id
        if then is None or answers is None:
            return _ANSWER
        own = name in then and then[name] == answers.get(name)
        if before.cell_type == "markdown":
            return "" if own else _ANSWER
        if then[_CODE] == answers[_CODE]:
            return ""
        return _OTHER_CODE if own else _ANSWER if name in then else _TESTED_CODE


def _given_for(cell: StoredCell, answers: Mapping[str, _Answer] | None, files: Mapping[str, str], *, task: bool) -> str:
    """Return a hash of the points by hand and of all that they depend on; empty where that is not known."""
    written = cell.cell_type == "markdown"
    own = answers.get(cell.grade_id if written else _CODE) if answers else None
    if own is None:
        return ""
    beside = sorted((file, known) for file, known in files.items() if task or _mentions(answers, cell, file))
    points = (cell.manual_score, cell.extra_credit, None if written else cell.auto_score, cell.max_score)
    return hashlib.sha256(repr((cell.cell_type, points, own, beside)).encode("utf-8", "replace")).hexdigest()


def _beside(course: Course, lab: str, graded: Path) -> dict[str, str]:
    """Return a hash of each file that stands beside the graded notebooks, but for the instructor's own."""
    given = course.given_files(lab)
    found = course.handed_in(graded)
    return {
        handed_in_as(name): hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in found.items()
        if name not in given and path.is_file() and not path.is_symlink()
    }


def _changed(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def _mentions(answers: Mapping[str, _Answer] | None, cell: StoredCell, file: str) -> bool:
    """Whether a written answer says the name of a file, with or without its folder."""
    if answers is None or cell.cell_type != "markdown" or cell.grade_id not in answers:
        return False
    text = unquote(answers[cell.grade_id][0])
    return PurePosixPath(file).name in text


def _answers(notebook: nbformat.NotebookNode, rows: Sequence[CellSpec]) -> dict[str, _Answer]:
    locked = {row.grade_id for row in rows if row.locked}
    answered = {row.grade_id for row in rows} - locked
    found: dict[str, _Answer] = {
        name: _written(cell) for cell in notebook.cells if (name := grade_id_of(cell)) in answered
    }
    for task, added in below_tasks(notebook.cells, {row.grade_id for row in rows}).items():
        texts, pictures = zip(*map(_written, added), strict=True) if added else ((), ())
        found[task] = "\n\n".join(texts), [*pictures]
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and grade_id_of(cell) not in locked]
    return found | {_CODE: ("\n\n".join(_written(cell)[0] for cell in code), {})}


def _written(cell: nbformat.NotebookNode) -> tuple[str, dict[str, Any]]:
    """Return an answer as it is stored here, with its pictures: nbgrader itself stores it as it was handed in."""
    if cell.cell_type == "code":
        return bounded_code(cell.source).strip(), {}
    pictures = {picture_name(name): content for name, content in (cell.get("attachments") or {}).items()}
    return harmless_text(cell.source, pictures).strip(), pictures


def _points(points: float | None) -> str:
    return "no points" if points is None else counted(points, "point")


def _given(cell: StoredCell) -> str:
    points = [counted(cell.manual_score, "point")] if cell.manual_score is not None else []
    return " and ".join([*points, *([f"{cell.extra_credit:g} extra"] if cell.extra_credit else [])]) + " given"
