"""What formgrader shows of a graded submission: nothing of the student's acts in the grader's session."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import nbformat
import pytest

from autograder.grading.outcome import Outcome
from tests.formgrader import COMMANDS, Page, rendered_notebook
from tests.system.courses import TINY, answered, cell, grade, hand_in, process, tiny_course

pytestmark = pytest.mark.slow

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()
LIVE = "<script>alert(1)</script><img src=http://192.0.2.1 onerror=alert(1)>$\\href{javascript:alert(1)}{x}$"
SHOWS = f"""
from IPython.display import HTML, Javascript, Latex, Markdown, display
live = {LIVE!r}
def shows():
    for kind in (HTML, Javascript, Latex, Markdown):
        display(kind(live))
    display({{"text/html": live, "image/svg+xml": "<svg onload=alert(1)><script>alert(1)</script></svg>"}}, raw=True)
    display({{"image/png": live, "application/vnd.jupyter.widget-view+json": {{"model_id": live}}}}, raw=True)
    display({{"image/png": {PNG!r}}}, raw=True, metadata={{"image/png": {{"width": "1 onload=alert(1)"}}}})
    print(live)
shows()
"""
FLOOD = "for _ in range(10): print('x' * 10**6)\n"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_course(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def graded(course: Path) -> tuple[Outcome, nbformat.NotebookNode]:
    """Return the outcome of a hostile submission, and what was stored of it."""
    add = "def add(a, b):\n    shows()\n    return a + b if a > 0 else {live: live}"
    double = "Evil = type(live, (ValueError,), {})\ndef double(a):\n    raise Evil(live)"
    notebook = answered(course, why=LIVE)
    cell(notebook, "add").source, cell(notebook, "double").source = SHOWS + add, double
    notebook.cells.insert(1, nbformat.v4.new_raw_cell(LIVE))
    notebook.cells.insert(1, nbformat.v4.new_markdown_cell(f"# {LIVE}\n\n[x]: http://a.b"))
    notebook.cells.append(nbformat.v4.new_code_cell(f"shows()\n{FLOOD}raise Evil(live)"))
    cell(notebook, "why").attachments = {"a.png": {"image/png": PNG}, "b": {"text/html": LIVE}}
    cell(notebook, "why").source += "\n\n![a](attachment:a.png) ![b](attachment:b)"
    hand_in(course, "eve", notebook)
    (outcome,) = grade(course, ("eve",)).values()
    return outcome, nbformat.read(course / "autograded/eve" / TINY / f"{TINY}.ipynb", as_version=4)


def _body(page: str) -> str:
    """Return the part of the page that is the notebook, without the controls that nbgrader itself puts there."""
    body = page[page.index('id="notebook-container"') :].partition('<div class="help">')[0]
    for control in (r"<button[^>]*>", r"<input class=\"[^>]*/>", r"<textarea[^>]*>", r"<main>", r"<body>"):
        body = re.sub(control, "", body)
    return re.sub(r'(<div) style="[^"]*"|<a data-link[^>]*>', r"\1", body)


def test_nothing_in_the_page_acts(graded: tuple[Outcome, nbformat.NotebookNode]) -> None:
    page = Page(_body(rendered_notebook(graded[1])))
    assert page.live == []
    assert COMMANDS.search(page.text) is None


def test_what_the_student_wrote_and_drew_can_be_read(graded: tuple[Outcome, nbformat.NotebookNode]) -> None:
    body = _body(rendered_notebook(graded[1]))
    assert "&lt; script&gt;alert(1)" in body
    assert body.count(f"data:image/png;base64,{PNG}") >= 3
    assert "two is doubled" in body, "the table of cases"


def test_what_is_stored_is_small_and_says_what_was_left_out(graded: tuple[Outcome, nbformat.NotebookNode]) -> None:
    flooded = graded[1].cells[-1]
    assert len(nbformat.writes(graded[1])) < 2**20
    assert "characters more were left out" in flooded.outputs[-1].text


def test_only_text_pictures_and_the_grader_s_tables_are_stored(graded: tuple[Outcome, nbformat.NotebookNode]) -> None:
    for found in graded[1].cells:
        for output in found.get("outputs", []):
            assert output.get("metadata", {}) == {}
            markup = output.get("data", {}).pop("text/html", "")
            assert set(output.get("data", {})) <= {"text/plain", "image/png"}
            assert markup.startswith(("<img alt=", "<div class='tex2jax_ignore")) or not markup
        attachments = dict(found.get("attachments", {}))
        drawing = base64.b64decode(attachments.pop("b", {}).get("image/svg+xml", "")).decode()
        assert attachments in ({}, {"a.png": {"image/png": PNG}})
        assert not drawing or "A picture that cannot be shown here" in drawing
        assert not re.search(r"script|onerror|href|url\(", drawing)


def test_the_instructor_s_own_text_stays_as_it_is(course: Path, graded: tuple[Outcome, nbformat.NotebookNode]) -> None:
    source = nbformat.read(course / "source" / TINY / f"{TINY}.ipynb", as_version=4)
    own = {c.source for c in source.cells if c.cell_type == "markdown" and "nbgrader" not in c.metadata}
    assert own <= {c.source for c in graded[1].cells}


def test_nbgrader_s_feedback_is_harmless_too(course: Path, graded: tuple[Outcome, nbformat.NotebookNode]) -> None:
    assert graded[0].result.score == 1.0
    done = process("nbgrader", "generate_feedback", TINY, "--student", "eve", "--force", cwd=course)
    assert done.returncode == 0, done.stderr
    page = (course / "feedback/eve" / TINY / f"{TINY}.html").read_text()
    assert "<script>alert" not in page
    assert "onerror=alert(1)>" not in page
