"""What students read: nothing in it runs, nothing hidden is in it, and every number is right."""

from __future__ import annotations

import copy
import html.parser
import re
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pygments import highlight

from autograder.errors import CourseError
from autograder.model import CellScore, GradebookEntry, Result, Status
from autograder.reports import feedback
from autograder.reports.feedback import PRIVATE, feedback_page, headings, titles_of, write_feedback

HOSTILE = (
    "<script>alert(1)</script>\"><img src=x onerror=alert(1)> '</pre></code></details></style><style>@import 'x';"
    " [x](javascript:alert(1)) {{1234*4321}} {% raw %} &lt; <svg/onload=alert(1)>\n</title>"
)
SECRET = "expected 0.7310585786, got nan"
TAGS = {
    "html", "head", "meta", "title", "style", "body", "header", "footer", "section", "h1", "h2", "p", "div", "i", "b",
    "small", "table", "tr", "th", "td", "a", "span", "ul", "li", "code", "pre", "details", "summary",
}  # fmt: skip


class Page(html.parser.HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


def case(passed: bool = True, **more: Any) -> dict[str, Any]:
    usual = {"title": "rows sum to one", "passed": passed, "message": "", "hint": "", "hidden": False, "error": ""}
    return {**usual, "weight": 1.0, **more}


def stored(**more: Any) -> GradebookEntry:
    usual: dict[str, Any] = {
        "student": "ada", "last_name": "", "first_name": "", "email": "", "lab": "lab", "due": "", "handed_in": "",
        "raw_score": 1.0, "penalty": 0.0, "score": 1.0, "max_score": 4.0, "to_grade": 0, "comments": {}, "grades": {},
    }  # fmt: skip
    return GradebookEntry(**(usual | more))


def notebook(*cells: tuple[str, str, str, str]) -> nbformat.NotebookNode:
    """Return a notebook of (type, role, grade_id, source); the role is solution, grade, both or nothing."""
    made = []
    for kind, role, grade_id, source in cells:
        make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
        flags = {"solution": "solution" in role, "grade": "grade" in role, "grade_id": grade_id}
        made.append(make(source, metadata={"nbgrader": flags} if grade_id else {}))
    return nbformat.v4.new_notebook(cells=made)


USUAL = notebook(
    ("markdown", "", "", "# 01. A small lab\n\ntext"),
    ("markdown", "", "", "### Task 1. Softmax in `NumPy` (2 points)\n\ntext"),
    ("code", "solution", "f", "def f():\n    return 'mine'"),
    ("code", "grade", "f-check", "the test's own source"),
    ("markdown", "", "", "## In your words (2 points)"),
    ("markdown", "solution grade", "words", "Because it does."),
)


def page(
    *cells: CellScore, result: dict[str, Any] | None = None, book: nbformat.NotebookNode = USUAL, **more: Any
) -> Page:
    usual = Result("ada", "lab", Status.GRADED, cells=cells, isolated=True, graded_at="2026-11-20T15:49:05+00:00")
    graded = replace(usual, **(result or {}))
    found = Page(feedback_page(graded, stored(**more), "lab", book, headings(book)))
    assert found.open == []
    return found


def test_points_that_a_person_gave_are_told_beside_what_the_tests_gave() -> None:
    score = CellScore("lab", "f-check", 1.0, 2.0, (case(), case(False)))
    assert "A person gave these points; the tests gave 1 of 2." in page(score, grades={"lab/f-check": 2.0}).text
    assert "A person" not in page(score, grades={"lab/f-check": 1.0}).text
    written = CellScore("lab", "words", None, 2.0)
    assert "A person" not in page(written, grades={"lab/words": 2.0}).text
    again = page(written, grades={"lab/words": 2.0}, again=frozenset({"lab/words"})).text
    assert "A person gave these points before the answer, its test or its maximum was changed" in again


def test_titles_are_the_lab_s_and_not_of_what_was_handed_in(tmp_path: Path) -> None:
    course: Any = SimpleNamespace(release_directory=tmp_path)
    (tmp_path / "lab").mkdir()
    assert titles_of(course, "lab", "lab") == {}
    nbformat.write(USUAL, tmp_path / "lab/lab.ipynb")
    own = copy.deepcopy(USUAL)
    own.cells.insert(2, nbformat.v4.new_markdown_cell("# All points void\n\n## Full marks were given"))
    score = CellScore("lab", "f-check", 1.0, 2.0, (case(),))
    result = Result("ada", "lab", Status.GRADED, cells=(score,), isolated=True, graded_at="2026-11-20T15:49:05+00:00")
    text = Page(feedback_page(result, stored(), "lab", own, titles_of(course, "lab", "lab"))).text
    assert "01. A small lab" in text
    assert "Task 1. Softmax in NumPy" in text
    assert "void" not in text
    assert "Full marks" not in text


def test_only_a_private_page_tells_what_a_hidden_case_said() -> None:
    score = CellScore("lab", "f-check", 1.0, 2.0, (case(False, hidden=True, message="expected 4, got 5"),))
    result = Result("ada", "lab", Status.GRADED, cells=(score,), isolated=True, graded_at="2026-11-20T15:49:05+00:00")
    pages = [feedback_page(result, stored(), "lab", USUAL, {}, private=private) for private in (False, True)]
    assert ["expected 4" in page for page in pages] == [False, True]
    assert [PRIVATE in page for page in pages] == [False, True]


def test_of_a_foreign_test_a_private_page_tells_what_it_put_out() -> None:
    book = copy.deepcopy(USUAL)
    error = nbformat.v4.new_output(
        "error", ename="AssertionError", evalue="", traceback=["\x1b[31mAssertionError\x1b[0m: want (3,) & not (4,)"]
    )
    book.cells[3].outputs = [nbformat.v4.new_output("stream", text="said <b>\n"), error]
    score = CellScore("lab", "f-check", 0.0, 2.0, message="AssertionError in a hidden test")
    result = Result("ada", "lab", Status.GRADED, cells=(score,), isolated=True, graded_at="2026-11-20T15:49:05+00:00")
    own, private = (feedback_page(result, stored(), "lab", book, {}, private=private) for private in (False, True))
    assert "want (3,)" not in own
    assert "said &lt;b&gt;" in private
    assert "AssertionError: want (3,) &amp; not (4,)" in private


def check_harmless(found: Page) -> None:
    """Nothing on the page runs or is fetched."""
    assert {tag for tag, _ in found.tags} <= TAGS
    for tag, attributes in found.tags:
        assert set(attributes) <= {
            "class",
            "id",
            "href",
            "style",
            "lang",
            "charset",
            "content",
            "name",
            "http-equiv",
        }, tag
        assert (attributes.get("href") or "#task-").startswith("#task-")
        assert "style" not in attributes or (attributes["style"] or "").startswith("width: ")
    policy = next(attributes for _, attributes in found.tags if attributes.get("http-equiv"))
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


# ------------------------------------------------------------------------------------------------------------ the page
def test_a_task_has_the_lab_s_own_heading() -> None:
    found = page(CellScore("lab", "f-check", 2.0, 2.0, (case(),)), CellScore("lab", "words", None, 2.0))
    assert "01. A small lab" in found.text
    assert "Task 1. Softmax in NumPy" in found.text
    assert "In your words" in found.text
    assert "(2 points)" not in found.text


def test_without_headings_the_name_of_the_cell_and_the_notebook_stand_in() -> None:
    book = notebook(("code", "grade", "ring-all-reduce-check", "x"))
    found = page(CellScore("lab", "ring-all-reduce-check", 2.0, 2.0), book=book)
    assert "ring all reduce" in found.text
    assert found.text.startswith("lab: feedback for ada")


def test_a_failed_case_says_what_came_and_where_to_look() -> None:
    failed = case(False, title="large scores", message="expected 1, got 2", hint="shift", error="Mismatch")
    text = page(CellScore("lab", "f-check", 1.0, 2.0, (case(), failed))).text
    assert "large scores expected 1, got 2 Look at: shift" in text
    assert "1 of 2" in text
    assert "1 case passed" in text


def test_a_hidden_case_shows_its_title_and_hint_and_no_value() -> None:
    hidden = case(False, title="large scores", message=SECRET, hint="shift", hidden=True, error="Mismatch")
    text = page(CellScore("lab", "f-check", 0.0, 2.0, (hidden,))).text
    assert "large scores hidden Look at: shift" in text
    assert SECRET not in text


def test_what_is_said_of_one_case_is_not_said_again_of_the_next() -> None:
    unnamed = {"message": "NameError: name 'f' is not defined", "hint": "has the cell been run?"}
    cases = (case(False, title="one", **unnamed), case(False, title="two", **unnamed),
             case(False, title="three", message="expected 1, got 2"))  # fmt: skip
    text = page(CellScore("lab", "f-check", 0.0, 2.0, cases)).text
    assert f"one {unnamed['message']} Look at: {unnamed['hint']} two As above. three expected 1, got 2" in text


def test_where_no_test_was_run_there_is_one_message_and_no_section_a_task() -> None:
    not_run = [CellScore("lab", name, 0.0, 2.0, message="NotRun: it cannot be read") for name in ("f-check", "words")]
    blank = notebook(("markdown", "", "", "# 01. A small lab"), ("markdown", "", "", "### Task 1. Softmax"),
                     ("code", "grade", "f-check", ""))  # fmt: skip
    found = page(*not_run, result={"status": Status.UNREADABLE, "messages": ("it cannot be read",)}, book=blank)
    assert found.text.count("cannot be read") == 1
    assert "NotRun" not in found.text
    assert found.text.count("Task 1. Softmax") == 1  # in the table of points


def test_the_source_of_a_test_is_never_shown() -> None:
    assert "the test's own source" not in page(CellScore("lab", "f-check", 2.0, 2.0, (case(),))).text


def test_a_task_that_was_not_begun_says_so_once() -> None:
    waiting = [case(False, message="not implemented yet: Task 1: f", error="NotImplementedError", hint="h")] * 3
    text = page(CellScore("lab", "f-check", 0.0, 2.0, tuple(waiting))).text
    assert "Not implemented yet. 3 cases waiting for it" in text
    assert "not implemented yet: Task 1" not in text
    some = page(CellScore("lab", "f-check", 0.5, 2.0, (case(), *waiting))).text
    assert "Part of what this task needs is not implemented yet. 3 cases waiting for it" in some


def test_the_student_s_own_code_and_answer_are_there() -> None:
    text = page(CellScore("lab", "f-check", 2.0, 2.0), CellScore("lab", "words", 0.0, 2.0)).text
    assert "Your code def f(): return 'mine'" in text
    assert "Because it does." in text


@pytest.mark.parametrize(
    ("points", "pending", "grade", "text"),
    [
        (None, {"lab/words"}, 0.0, "2 to be graded"),
        (None, {"lab/words"}, None, "2 to be graded"),
        (None, {"lab/other"}, 0.0, "0 of 2"),
        (None, set(), 0.0, "0 of 2"),
        (None, set(), 1.5, "1.5 of 2"),
        (0.0, set(), 0.0, "0 of 2"),
        (0.0, {"lab/other"}, None, "0 of 2"),
        (1.0, set(), 2.0, "2 of 2"),
    ],
)
def test_a_person_s_grade_goes_before_the_computer_s(
    points: float | None, pending: set[str], grade: float | None, text: str
) -> None:
    grades = {} if grade is None else {"lab/words": grade}
    cell = CellScore("lab", "words", points, 2.0)
    found = page(cell, to_grade=len(pending), grades=grades, pending=frozenset(pending))
    assert text in found.text
    assert ("so far; a person grades the other" in found.text) == ("to be graded" in text)


def test_a_zero_given_by_hand_is_no_answer_that_waits() -> None:
    cells = (CellScore("lab", "words", None, 2.0), CellScore("lab", "more", None, 2.0))
    found = page(*cells, grades={"lab/words": 0.0, "lab/more": 0.0}, to_grade=1, pending=frozenset({"lab/more"}))
    rows = " ".join(" ".join(word.split()) for word in found.words)
    assert "0 of 2" in rows
    assert "2 to be graded" in rows
    assert "so far; a person grades the other 2" in found.text
    assert found.text.count("to be graded") == 2  # in the table, above the answer


def test_what_a_test_says_whole_is_on_no_page_for_students() -> None:
    score = CellScore("lab", "f-check", 0.0, 2.0, message="an error: not shown", whole=SECRET)
    assert "an error: not shown" in page(score).text
    assert SECRET not in page(score).text
    result = Result("ada", "lab", Status.GRADED, cells=(score,))
    private = feedback_page(result, stored(), "lab", USUAL, headings(USUAL), private=True)
    assert SECRET in Page(private).text


def test_each_page_of_several_notebooks_says_the_same_total_and_what_of_it_is_its_own() -> None:
    """What waits was this notebook's alone, and so 12 of 20 points stood on one page and 12 of 23 on the other."""
    cells = [CellScore("a", "f-check", 8.0, 11.0), CellScore("a", "words", None, 6.0)]
    cells += [CellScore("b", "f-check", 4.0, 6.0), CellScore("b", "words", None, 3.0)]
    grades, waiting = {"a/f-check": 8.0, "b/f-check": 4.0}, frozenset({"a/words", "b/words"})
    held = stored(score=12.0, max_score=26.0, to_grade=2, grades=grades, pending=waiting)
    whole = "12 of 17 points so far; a person grades the other 9 a, b together. Of these on this page: "
    own = {"a": "8 of 11 points, and 6 that wait", "b": "4 of 6 points, and 3 that wait"}
    for name, words in own.items():
        for private in (False, True):
            result = Result("ada", "lab", Status.GRADED, cells=tuple(cells))
            found = Page(feedback_page(result, held, name, USUAL, headings(USUAL), private=private))
            assert f"{whole}{words} for a person" in found.text
    done = stored(score=21.0, max_score=26.0, grades=grades | {"a/words": 6.0, "b/words": 3.0})
    assert (
        "21 of 26 points a, b together. Of these on this page: 14 of 17 points Task"
        in Page(feedback_page(result, done, "a", USUAL, headings(USUAL))).text
    )


def test_comments_penalty_status_and_messages_are_shown() -> None:
    result = {"status": Status.TAMPERED, "messages": ("locked cell 'a' was changed", "two")}
    found = page(
        CellScore("lab", "words", 1.0, 2.0, message="the cell did not run"),
        result=result,
        comments={"lab/words": "Well said."},
        penalty=0.5,
    )
    assert "Tampered: locked cell 'a' was changed two" in found.text
    assert "0.5 points were taken off because it was handed in late." in found.text
    assert "Well said." in found.text
    assert "the cell did not run" in found.text


def test_a_comment_on_the_code_of_a_task_stands_at_the_task() -> None:
    said = {"lab/f": "Use axis=1.", "lab/f-check": "See above.", "other/f": "not here"}
    assert "No response" not in page(CellScore("lab", "f-check", 0.0, 2.0), comments={"lab/f": "No response."}).text
    text = page(CellScore("lab", "f-check", 1.0, 2.0), comments=said).text
    assert "Use axis=1." in text
    assert text.index("Use axis=1.") < text.index("See above.")
    assert "not here" not in text


def test_what_stands_below_the_last_check_belongs_to_it() -> None:
    book = notebook(("code", "grade", "f-check", "x"), ("code", "solution", "g", "late = 1"))
    text = page(CellScore("lab", "f-check", 1.0, 2.0), book=book, comments={"lab/g": "Too late."}).text
    assert "Too late." in text
    assert "late = 1" in text


def test_only_the_cells_of_this_notebook_are_on_its_page() -> None:
    found = page(CellScore("lab", "f-check", 2.0, 2.0), CellScore("other", "x-check", 0.0, 1.0))
    assert "x" not in [words.strip() for words in found.words]


def test_a_run_without_a_sandbox_is_marked() -> None:
    assert "run without a sandbox" in page(result={"isolated": False}).text
    assert "run without a sandbox" not in page().text


@pytest.mark.parametrize(("score", "most", "width"), [(1.0, 4.0, "25.0%"), (9.0, 4.0, "100%"), (0.0, 0.0, "0%")])
def test_the_bar_is_as_long_as_the_share(score: float, most: float, width: str) -> None:
    found = page(score=score, max_score=most)
    assert [a["style"] for tag, a in found.tags if tag == "i"] in ([f"width: {width}"], [f"width: {width[:-1]}.0%"])


@settings(deadline=None, max_examples=100)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_whatever_a_student_wrote_nothing_of_it_runs(extra: str) -> None:
    text = extra + HOSTILE + extra
    hostile = case(False, title=text, message=text, hint=text, error="Mismatch")
    cells = (
        CellScore("lab", text, 1.0, 2.0, (hostile, {**hostile, "passed": True}), text),
        CellScore("lab", "words", 1.0, 2.0),
    )
    book = notebook(
        ("markdown", "", "", f"# {text}"),
        ("markdown", "", "", f"### {text}"),
        ("code", "solution", "f", text),
        ("code", "grade", text, "x"),
        ("markdown", "solution grade", "words", text),
    )
    found = page(
        *cells,
        book=book,
        result={"student": text, "lab": text, "messages": (text,), "status": Status.TAMPERED},
        comments={"lab/words": text, f"lab/{text}": text},
    )
    check_harmless(found)
    assert "{{1234*4321}}" in found.text
    assert str(1234 * 4321) not in found.text


def test_a_tag_with_a_blank_in_an_answer_is_shown_as_text() -> None:
    text = "Why: < script>alert(1)</ script> and < img src=x onerror=alert(1)>"
    book = notebook(("markdown", "grade solution", "words", text))
    found = page(CellScore("lab", "words", None, 2.0), book=book)
    check_harmless(found)
    assert text in found.text


def test_half_a_character_does_not_stop_the_page(tmp_path: Path) -> None:
    course, result = course_with(tmp_path, USUAL)
    pages = write_feedback(course, replace(result, messages=("\ud800",)))
    assert "?" in pages[0].read_text(encoding="utf-8")


def test_headings_are_known_by_the_cells_below_them() -> None:
    assert headings(USUAL) == {
        "": "01. A small lab",
        "f": "Task 1. Softmax in NumPy",
        "f-check": "Task 1. Softmax in NumPy",
        "words": "In your words",
    }


@pytest.mark.parametrize("unit", [" ", "#", "a", "(", "( ", " (points", "# a\n"])
def test_no_heading_takes_long(unit: str) -> None:
    started = time.process_time()
    headings(notebook(("markdown", "", "", "# a" + unit * (10**6 // len(unit)))))
    assert time.process_time() - started < 2


# ----------------------------------------------------------------------------------------------------------- the files
def course_with(root: Path, book: nbformat.NotebookNode) -> tuple[Any, Result]:
    """Return what stands for a course in which ada was graded, and her result."""
    (root / "autograded").mkdir()
    nbformat.write(book, root / "autograded" / "lab.ipynb")
    course = SimpleNamespace(
        app=None,
        release_directory=root / "release",
        score=lambda student, lab: stored(),
        autograded=lambda student, lab: root / "autograded",
        feedback=lambda student, lab: root / "feedback" / student / lab,
    )
    return course, Result("ada", "lab", Status.GRADED, cells=(CellScore("lab", "f-check", 2.0, 2.0),))


def test_a_mark_scheme_is_on_no_page(tmp_path: Path) -> None:
    """nbgrader takes it out of what students receive; who grades has it, and so has what is stored."""
    scheme = f"### Task 2. Explain\n\nWhy?\n=== BEGIN MARK SCHEME ===\n## {SECRET}\n{SECRET}\n=== END MARK SCHEME ==="
    book = nbformat.v4.new_notebook(cells=[*USUAL.cells])
    task = {"grade_id": "explain", "task": True, "locked": True, "grade": False, "solution": False}
    book.cells += [
        nbformat.v4.new_markdown_cell(scheme, metadata={"nbgrader": task}),
        nbformat.v4.new_markdown_cell(
            "Because it is.", metadata={"nbgrader": task | {"grade_id": "own", "locked": False}}
        ),
        *notebook(("code", "grade", "last-check", "")).cells,
    ]
    course, result = course_with(tmp_path, book)
    given = copy.deepcopy(book)
    given.cells[-3].source = "### Task 2. Explain\n\nWhy?"
    released = course.release_directory / "lab/lab.ipynb"
    released.parent.mkdir(parents=True)
    nbformat.write(given, released)
    scores = [CellScore("lab", name, None, 2.0) for name in ("explain", "own", "last-check")]
    (path,) = write_feedback(course, replace(result, cells=(*result.cells, *scores)))
    page = path.read_text(encoding="utf-8")
    assert SECRET not in page
    titles = [f"Task 2. Explain: {name}" for name in ("explain", "last-check")]
    assert [page.count(title) for title in titles] == [2, 2], "in the table of points, and above what is said of it"
    assert Page(page).text.count("What was asked ### Task 2. Explain Why?") == 1
    assert "Because it is." in page


def test_the_text_of_a_locked_cell_is_not_the_student_s_answer() -> None:
    about = {"grade_id": "explain", "task": True, "locked": True, "grade": False, "solution": False}
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(SECRET, metadata={"nbgrader": about})])
    assert SECRET not in page(CellScore("lab", "explain", None, 2.0), book=book).text


def test_a_page_is_written_for_every_notebook(tmp_path: Path) -> None:
    course, result = course_with(tmp_path, USUAL)
    assert write_feedback(course, result) == [tmp_path / "feedback" / "ada" / "lab" / "lab.html"]


@pytest.mark.parametrize("content", [None, b"", b"{}", b"[]"])
def test_an_executed_notebook_that_is_gone_or_damaged_is_named(tmp_path: Path, content: bytes | None) -> None:
    course, result = course_with(tmp_path, USUAL)
    path = tmp_path / "autograded" / "lab.ipynb"
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(CourseError, match=r"lab\.ipynb: cannot be read: .*\n?.*hint: grade it again"):
        write_feedback(course, result)


@pytest.mark.parametrize(
    "source",
    [
        "match " + " " * 9000,
        " \n" * 9000 + "x",
        "'" + "\\'" * 4000,
        "f(a, b)\r\nreturn <b>\n\n",
        "x = 1\n" + "@" * 500 + "\ny = 2",
    ],
    ids=["spaces", "lines", "quotes", "ordinary", "one long line"],
)
def test_long_lines_and_blanks_are_shown_and_not_coloured(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    coloured: list[str] = []

    def recorded(code: str, *arguments: Any) -> str:
        coloured.append(code)
        return str(highlight(code, *arguments))

    monkeypatch.setattr(feedback, "highlight", recorded)
    page = feedback._coloured(nbformat.v4.new_code_cell(source))
    assert "".join(Page(page).words) == source.replace("\r", "")
    assert all(len(line) < 500 for code in coloured for line in code.split("\n"))
    assert not any(re.search(r"\s{100}", code) for code in coloured)
