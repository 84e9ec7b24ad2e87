"""The students' feedback: one self-contained HTML page a submission."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import jinja2
import nbformat
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from autograder.course import Course, hide_mark_schemes
from autograder.course.exchange import OURS
from autograder.errors import CourseError, counted, listed
from autograder.files import write_whole
from autograder.model import CellScore, GradebookEntry, Result, Status
from autograder.notebook import below_tasks, grade_id_of, metadata_of, read_notebook, students_own, was_put_back

__all__ = ["PRIVATE", "feedback_page", "headings", "private_pages", "titles_of", "write_feedback"]

PRIVATE = '<meta name="generator" content="autograder, for the instructor">'

_TEMPLATE = Path(__file__).with_name("feedback.html")
_MAX_ANSWER = 20_000
_MAX_ASIDE = 200
_NBGRADERS = "No response."
"""What nbgrader itself remarks on a stub; the failed cases say it already."""
_HEADING = re.compile(r"^(#{1,3}) {1,9}(\S.{0,199}?)(?: {0,9}\([^()\n]{0,20}points?\))? {0,9}#{0,9}$", re.MULTILINE)
"""Bounded everywhere, for a student's line may be as long as a notebook."""
_SECTION = ("by_hand", "message", "failed", "passed", "output", "written", "comments", "code")
"""What a task's section of the page is made of; of what could not be read there may be none of it."""
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_MAX_SAID = 4000
_SLOW = re.compile(r"(^[^\n]{500,}|\s{100,})", re.MULTILINE)
"""What the expressions of Pygments' lexer take the square of in time."""


def write_feedback(course: Course, result: Result) -> list[Path]:
    """Write feedback/<student>/<lab>/<notebook>.html for one graded submission; return the pages."""
    pages = []
    for name, page in _pages(course, result):
        path = course.feedback(result.student, result.lab) / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, page.encode("utf-8", "replace"))
        pages.append(path)
    return pages


def private_pages(course: Course, result: Result) -> Iterator[tuple[str, str]]:
    """Yield each notebook's name and its page with what hidden cases said, which is for instructors only."""
    return _pages(course, result, private=True)


def _pages(course: Course, result: Result, *, private: bool = False) -> Iterator[tuple[str, str]]:
    stored = course.score(result.student, result.lab)
    for name in dict.fromkeys(cell.notebook for cell in result.cells):
        executed = course.autograded(result.student, result.lab) / f"{name}.ipynb"
        try:
            notebook = read_notebook(executed)
        except Exception as error:  # nbformat's readers fail in many ways
            raise CourseError(
                f"{executed}: cannot be read: {error}", hint=f"grade it again: autograder grade {result.lab} --force"
            ) from error
        hide_mark_schemes(notebook, course.app)
        titles, asked = (of(course, result.lab, name) for of in (titles_of, _tasks_of))
        yield name, feedback_page(result, stored, name, notebook, titles, asked, private=private)


# ------------------------------------------------------------------------------------------------------------ the page
def feedback_page(
    result: Result,
    stored: GradebookEntry,
    name: str,
    notebook: nbformat.NotebookNode,
    titles: Mapping[str, str],
    asked: Mapping[str, str] | None = None,
    *,
    private: bool = False,
) -> str:
    """Return the page: points, each case with expected, got and hint, the student's answers, comments.

    titles: as `titles_of` returns them, of the lab and not of what was handed in. asked: the text of each of nbgrader's
    tasks, which have no cell of their own to answer in, as students were given it.
    Student text is escaped, hidden cases show what the instructor chose, and hidden tests' source is never there. Of a
    cell that students may not write in there is no text either. Only a private page tells what hidden cases said.
    """
    cells = {grade_id_of(cell): cell for cell in notebook.cells}
    answers, aside = _answers(notebook) | below_tasks(notebook.cells), _put_aside(notebook)
    graded = [score for score in result.cells if score.notebook == name]
    tasks = [_task(score, stored, cells.get(score.grade_id), private=private) for score in graded]
    for task in tasks:
        own = answers.get(task["grade_id"], [])
        task["code"] = [_coloured(cell) for cell in own if cell.cell_type == "code"]
        task["written"] += "\n\n".join(_shown(cell) for cell in own if cell.cell_type == "markdown")
        said = [stored.comments.get(f"{name}/{grade_id_of(cell)}", "") for cell in own]
        task["comments"] = [comment for comment in said if comment not in {"", _NBGRADERS}] + task["comments"]
        task["asked"] = (asked or {}).get(task["grade_id"], "")
        task["told"] = True
        if result.status == Status.UNREADABLE:  # the page says above why no test was run
            task["message"] = ""
            task["told"] = any(task[part] for part in _SECTION)
        task["title"] = titles.get(task["grade_id"]) or task["grade_id"].removesuffix("-check").replace("-", " ")
    names = list(dict.fromkeys(score.notebook for score in result.cells))
    return _template().render(
        result=result,
        stored=stored,
        tasks=tasks,
        together=listed(names) if len(names) > 1 else "",
        aside=aside,
        ours=any(score.cases for score in result.cells),
        title=name if aside else titles.get("") or name,
        pending=sum(cell.max_points for cell in result.cells if cell.key in stored.pending),
        usual=result.status == Status.GRADED,
        private=private,
        mark=PRIVATE if private else OURS,
    )


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals |= {"counted": counted, "light": _style("default"), "dark": _style("github-dark")}
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))


def _task(
    score: CellScore, stored: GradebookEntry, cell: nbformat.NotebookNode | None, *, private: bool
) -> dict[str, Any]:
    key = f"{score.notebook}/{score.grade_id}"
    points = stored.grades.get(key, score.points)
    return {
        "grade_id": score.grade_id,
        "points": points or 0.0,
        "max_points": score.max_points,
        "pending": key in stored.pending,
        "by_hand": _by_hand(score, points, changed=key in stored.again),
        "failed": list(_told_once(score.failed, private=private)),
        "passed": [case for case in score.cases if case["passed"]],
        "blank": bool(score.failed) and score.not_begun,
        "message": (private and score.whole) or score.message,
        "comments": [stored.comments[key]] if key in stored.comments else [],
        "output": _said(cell) if private and cell is not None and not score.cases else "",
        "written": "" if cell is None or cell.cell_type != "markdown" or not _theirs(cell) else _shown(cell),
    }


def _told_once(cases: Iterable[dict[str, Any]], *, private: bool) -> Iterator[dict[str, Any]]:
    """Yield the cases as they are shown: what is said of one is not said again of the next."""
    before = ("", "")
    for case in cases:
        told = (case["message"] if private or not case["hidden"] else case.get("sort", ""), case["hint"])
        again = {"message": "As above.", "hint": "", "more": ""} if any(told) and told == before else {}
        yield {**case, "message": told[0], **again}
        before = told


def _said(cell: nbformat.NotebookNode) -> str:
    """Return what a test put out when it ran: hidden values too."""
    texts = []
    for output in cell.get("outputs", []):
        shown = output.get("text") or output.get("data", {}).get("text/plain") or "\n".join(output.get("traceback", []))
        texts.append("".join(shown))
    return _ANSI.sub("", "\n".join(texts))[-_MAX_SAID:].strip()


def _by_hand(score: CellScore, points: float | None, *, changed: bool) -> str:
    """Return what is said of points that a person has given, where the rest of the page would contradict them."""
    if changed:
        return "A person gave these points before the answer, its test or its maximum was changed, and will look again."
    if score.points is None or points is None or abs(points - score.points) < 1e-9:
        return ""
    return f"A person gave these points; the tests gave {score.points:g} of {score.max_points:g}."


def titles_of(course: Course, lab: str, name: str) -> dict[str, str]:
    """Return the headings of a notebook as students were given it; none where it is not there, or cannot be read.

    In what was handed in any cell may be the student's, and so may its heading.
    """
    return _released(course, lab, name)[0]


def _tasks_of(course: Course, lab: str, name: str) -> dict[str, str]:
    """Return the texts of nbgrader's tasks as students were given them, by grade_id: no mark scheme is in these."""
    return _released(course, lab, name)[1]


def _released(course: Course, lab: str, name: str) -> tuple[dict[str, str], dict[str, str]]:
    path = course.release_directory / lab / f"{name}.ipynb"
    try:
        return _released_at(path, path.stat().st_mtime_ns)
    except Exception:  # nbformat's readers fail in many ways; without headings the cells' names stand in
        return {}, {}


@lru_cache(maxsize=64)
def _released_at(path: Path, _changed: int) -> tuple[dict[str, str], dict[str, str]]:
    """Return headings and tasks of this file: a class has as many pages as students, and one release."""
    notebook = read_notebook(path)
    tasks = {grade_id_of(cell): _shown(cell) for cell in notebook.cells if metadata_of(cell).get("task")}
    return headings(notebook), tasks


def headings(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """Return the heading above each cell by its grade_id, and the notebook's own title by the empty one.

    Graded cells that share one are told apart by their names.
    """
    titles: dict[str, str] = {}
    heading, graded = "", list[str]()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for level, words in _HEADING.findall(cell.source):
                _tell_apart(titles, graded)
                heading, graded = re.sub(r"[`*]", "", words), []
                if level == "#":
                    titles.setdefault("", heading)
        if grade_id := grade_id_of(cell):
            titles[grade_id] = heading
            graded += [grade_id] if metadata_of(cell).get("grade") or metadata_of(cell).get("task") else []
    _tell_apart(titles, graded)
    return titles


def _tell_apart(titles: dict[str, str], graded: Sequence[str]) -> None:
    for grade_id in graded if len(graded) > 1 else ():
        titles[grade_id] = f"{titles[grade_id]}: {grade_id}".removeprefix(": ")


def _answers(notebook: nbformat.NotebookNode) -> dict[str, list[nbformat.NotebookNode]]:
    """Return, for each checked task, the solution cells that stand between the check before it and its own.

    What comes after the last check belongs to it, too: a person may have commented on it.
    """
    answers: dict[str, list[nbformat.NotebookNode]] = {}
    code: list[nbformat.NotebookNode] = []
    last = ""
    for cell in notebook.cells:
        nbgrader = metadata_of(cell)
        if cell.cell_type == "code" and nbgrader.get("solution") and _theirs(cell):
            code.append(cell)
        if cell.cell_type == "code" and nbgrader.get("grade"):
            last = grade_id_of(cell)
            answers[last], code = code, []
    if last:
        answers[last] = answers[last] + code
    return answers


def _theirs(cell: nbformat.NotebookNode) -> bool:
    """Whether what stands in this cell is an answer: what is locked is the instructor's, mark schemes included."""
    return students_own(cell) and not was_put_back(cell)


def _put_aside(notebook: nbformat.NotebookNode) -> list[tuple[str, str]]:
    """Return kind and text of the cells of a notebook of which no cell could be told; the text of code is HTML."""
    if not all(was_put_back(cell) for cell in notebook.cells if metadata_of(cell)):
        return []
    own = [cell for cell in notebook.cells if not metadata_of(cell)][1:]  # the first is the heading
    shown = [c for c in own if c.source.strip()][:_MAX_ASIDE]
    return [(c.cell_type, _coloured(c) if c.cell_type == "code" else _shown(c)) for c in shown]


def _shown(cell: nbformat.NotebookNode) -> str:
    return str(cell.source[:_MAX_ANSWER])


def _coloured(cell: nbformat.NotebookNode) -> str:
    """Return a cell's code as HTML; long lines and long runs of blanks are not coloured."""
    pieces = _SLOW.split(_shown(cell).replace("\r\n", "\n").replace("\r", "\n"))
    return "".join(html.escape(piece) if place % 2 else _highlighted(piece) for place, piece in enumerate(pieces))


def _highlighted(code: str) -> str:
    if not code:
        return ""
    coloured = str(highlight(code, PythonLexer(stripnl=False, ensurenl=False), HtmlFormatter(nowrap=True)))
    return coloured if code.endswith("\n") else coloured.removesuffix("\n")  # the formatter ends every line


def _style(name: str) -> str:
    formatter: Any = HtmlFormatter(style=name, nobackground=True)
    return str(formatter.get_style_defs(".code"))
