"""The students' feedback: one self-contained HTML page a submission."""

from __future__ import annotations

import re
from functools import cache
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
from autograder.model import CellScore, Result, Status, Stored

__all__ = ["feedback_page", "headings", "write_feedback"]

_TEMPLATE = Path(__file__).with_name("feedback.html")
_MAX_ANSWER = 20_000
_NBGRADERS = "No response."
"""What nbgrader itself remarks on a stub; the failed cases say it already."""
_HEADING = re.compile(r"^(#{1,3}) +(.+?)(?: *\([^()]*points?\))? *#*$", re.MULTILINE)


def write_feedback(course: Course, result: Result) -> list[Path]:
    """Write feedback/<student>/<lab>/<notebook>.html for one graded submission; return the pages."""
    stored = course.score(result.student, result.lab)
    pages = []
    for name in dict.fromkeys(cell.notebook for cell in result.cells):
        executed = course.autograded(result.student, result.lab) / f"{name}.ipynb"
        try:
            notebook = nbformat.read(executed, as_version=4)
        except Exception as error:  # nbformat's readers fail in many ways
            raise CourseError(
                f"{executed}: cannot be read: {error}", hint=f"grade it again: autograder grade {result.lab} --force"
            ) from error
        page = feedback_page(result, stored, name, notebook)
        path = course.feedback(result.student, result.lab) / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, page.encode("utf-8", "replace"))
        pages.append(path)
    return pages


# ------------------------------------------------------------------------------------------------------------ the page
def feedback_page(result: Result, stored: Stored, name: str, notebook: nbformat.NotebookNode) -> str:
    """Return the page: points, each case with expected, got and hint, the student's answers, comments.

    Student text is escaped, hidden cases show what the instructor chose, and hidden tests' source is never there.
    """
    cells = {_grade_id(cell): cell for cell in notebook.cells}
    titles = headings(notebook)
    answers = _answers(notebook)
    tasks = [_task(score, stored, cells.get(score.grade_id)) for score in result.cells if score.notebook == name]
    for task in tasks:
        own = answers.get(task["grade_id"], [])
        task["code"] = [_coloured(cell) for cell in own]
        said = [stored.comments.get(f"{name}/{_grade_id(cell)}", "") for cell in own]
        task["comments"] = [comment for comment in said if comment not in {"", _NBGRADERS}] + task["comments"]
        task["title"] = titles.get(task["grade_id"]) or task["grade_id"].removesuffix("-check").replace("-", " ")
    return _template().render(
        result=result,
        stored=stored,
        tasks=tasks,
        title=titles.get("") or name,
        pending=sum(task["max_points"] for task in tasks if task["pending"]),
        usual=result.status == Status.GRADED,
    )


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals |= {"light": _style("default"), "dark": _style("github-dark")}
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))


def _task(score: CellScore, stored: Stored, cell: nbformat.NotebookNode | None) -> dict[str, Any]:
    key = f"{score.notebook}/{score.grade_id}"
    points = stored.grades.get(key, score.points)
    failed = [case for case in score.cases if not case["passed"]]
    return {
        "grade_id": score.grade_id,
        "points": points or 0.0,
        "max_points": score.max_points,
        "pending": key in stored.pending,
        "failed": [{**case, "message": "" if case["hidden"] else case["message"]} for case in failed],
        "passed": [case for case in score.cases if case["passed"]],
        "blank": bool(failed) and {case["error"] for case in failed} == {"NotImplementedError"},
        "message": score.message,
        "comments": [stored.comments[key]] if key in stored.comments else [],
        "written": cell.source[:_MAX_ANSWER] if cell is not None and cell.cell_type == "markdown" else "",
    }


def headings(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """Return the heading above each graded cell by its grade_id, and the notebook's own title by the empty one."""
    titles: dict[str, str] = {}
    heading = ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for level, words in _HEADING.findall(cell.source):
                heading = re.sub(r"[`*]", "", words)
                if level == "#":
                    titles.setdefault("", heading)
        if grade_id := _grade_id(cell):
            titles[grade_id] = heading
    return titles


def _answers(notebook: nbformat.NotebookNode) -> dict[str, list[nbformat.NotebookNode]]:
    """Return, for each checked task, the solution cells that stand between the check before it and its own.

    What comes after the last check belongs to it, too: a person may have commented on it.
    """
    answers: dict[str, list[nbformat.NotebookNode]] = {}
    code: list[nbformat.NotebookNode] = []
    last = ""
    for cell in notebook.cells:
        nbgrader = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and nbgrader.get("solution"):
            code.append(cell)
        if cell.cell_type == "code" and nbgrader.get("grade"):
            last = _grade_id(cell)
            answers[last], code = code, []
    if last:
        answers[last] = answers[last] + code
    return answers


def _coloured(cell: nbformat.NotebookNode) -> str:
    return str(highlight(cell.source[:_MAX_ANSWER], PythonLexer(), HtmlFormatter(nowrap=True)))


def _grade_id(cell: nbformat.NotebookNode) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def _style(name: str) -> str:
    formatter: Any = HtmlFormatter(style=name, nobackground=True)
    return str(formatter.get_style_defs(".code"))
