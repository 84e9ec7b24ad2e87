"""The students' feedback: one self-contained HTML page a submission, and the class's grades as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jinja2
import nbformat
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from autograder.course import Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.model import CellScore, Result, Stored

__all__ = ["export_csv", "feedback_page", "write_feedback"]

_TEMPLATE = Path(__file__).with_name("feedback.html")
_COLUMNS = ("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email")
_NUMBERS = ("raw_score", "late_submission_penalty", "score", "max_score")
_MAX_ANSWER = 20_000


def write_feedback(course: Course, result: Result) -> list[Path]:
    """Write feedback/<student>/<lab>/<notebook>.html for one graded submission; return the pages."""
    stored = course.score(result.student, result.lab)
    pages = []
    for name in dict.fromkeys(cell.notebook for cell in result.cells):
        executed = course.autograded(result.student, result.lab) / f"{name}.ipynb"
        try:
            notebook = nbformat.read(executed, as_version=4)
        except OSError as error:
            raise CourseError(
                f"{executed}: {error.strerror}", hint=f"grade it again: autograder grade {result.lab} --force"
            ) from error
        page = feedback_page(result, stored, name, notebook)
        path = course.feedback(result.student, result.lab) / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, page.encode())
        pages.append(path)
    return pages


def feedback_page(result: Result, stored: Stored, name: str, notebook: nbformat.NotebookNode) -> str:
    """Return the page: points, each case with expected, got and hint, the student's answers, comments.

    Student text is escaped, hidden cases show what the instructor chose, and hidden tests' source is never there.
    """
    answers = {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if "nbgrader" in cell.metadata}
    tasks = [_task(score, stored, answers) for score in result.cells if score.notebook == name]
    _attach_answers(tasks, notebook)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    formatter: Any = HtmlFormatter(style="default", nobackground=True)
    style = formatter.get_style_defs(".code")
    return template.render(result=result, stored=stored, tasks=tasks, notebook=name, style=style)


def _task(score: CellScore, stored: Stored, answers: dict[str, Any]) -> dict[str, Any]:
    cell = answers.get(score.grade_id)
    key = f"{score.notebook}/{score.grade_id}"
    return {
        "grade_id": score.grade_id,
        "title": score.grade_id.removesuffix("-check").replace("-", " "),
        "points": stored.grades.get(key, score.points),
        "max_points": score.max_points,
        "pending": score.points is None and not stored.grades.get(key),
        "cases": [_shown(case) for case in score.cases],
        "message": score.message,
        "comment": stored.comments.get(key, ""),
        "written": cell.source[:_MAX_ANSWER] if cell is not None and cell.cell_type == "markdown" else "",
        "code": [],
    }


def _shown(case: dict[str, Any]) -> dict[str, Any]:
    return {**case, "message": "" if case["hidden"] else case["message"]}


def _attach_answers(tasks: list[dict[str, Any]], notebook: nbformat.NotebookNode) -> None:
    """Give each checked task the solution cells that stand between the check before it and its own."""
    by_id = {task["grade_id"]: task for task in tasks}
    code: list[str] = []
    for cell in notebook.cells:
        nbgrader = cell.metadata.get("nbgrader", {})
        if nbgrader.get("solution") and cell.cell_type == "code":
            code.append(highlight(cell.source[:_MAX_ANSWER], PythonLexer(), HtmlFormatter(nowrap=True)))
        elif nbgrader.get("grade") and nbgrader["grade_id"] in by_id and cell.cell_type == "code":
            by_id[nbgrader["grade_id"]]["code"], code = code, []


def export_csv(rows: Iterable[Stored]) -> str:
    """Return nbgrader's columns as CSV, quoted; text that a spreadsheet would run as a formula is defused."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_COLUMNS, *_NUMBERS])
    for row in rows:
        words = (row.lab, row.due, row.handed_in, row.student, row.last_name, row.first_name, row.email)
        numbers = (row.raw_score, row.penalty, row.score, row.max_score)
        writer.writerow([*map(_defused, words), *(f"{number:g}" for number in numbers)])
    return text.getvalue()


def _defused(text: str) -> str:
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text
