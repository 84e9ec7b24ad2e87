"""A student's prose on the page that formgrader shows: it reads as it was written, and nothing in it acts."""

from __future__ import annotations

import base64
import time
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.submission.sanitize_prose import MAX_TEXT, bounded_code, harmless_text, make_harmless, picture_name
from tests.formgrader import COMMANDS, Page, rendered_notebook

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()
BEGIN, END = "x-begin-x", "x-end-x"


def rendered(source: str, pictures: dict[str, Any] | None = None, make: Any = nbformat.v4.new_markdown_cell) -> str:
    """Return what a cell of this text looks like in formgrader."""
    borders = [nbformat.v4.new_raw_cell(text) for text in (BEGIN, END)]
    cell = make(source)
    if pictures:
        cell.attachments = nbformat.from_dict(pictures)
    notebook = nbformat.v4.new_notebook(cells=[borders[0], cell, borders[1]])
    return rendered_notebook(notebook).partition(BEGIN)[2].partition(END)[0]


def check_dead(source: str, pictures: dict[str, Any] | None = None) -> str:
    """Check that nothing of this text acts, in a cell of markdown and in a raw one; return the page of the first."""
    harmless = harmless_text(source, pictures or {})
    page = rendered(harmless, pictures)
    for found in (Page(page), Page(rendered(harmless, make=nbformat.v4.new_raw_cell))):
        assert found.live == [], (source, harmless)
        assert COMMANDS.search(found.text) is None, (source, harmless)
    assert "://" not in page, (source, harmless)
    return page


# ------------------------------------------------------------------------------------------------- what reads as before
@pytest.mark.parametrize(
    "text",
    [
        "Because **momentum** *averages* the gradient, `v = b * v + g`.",
        "# A title\n\n1. one\n2. two\n   * nested\n\n> quoted\n\n---",
        "| a | b |\n|---|:-:|\n| 1 | 2 |",
        "For $0 < x < 1$ and $\\frac{\\partial L}{\\partial w}$: $$\\sum_{i=1}^n x_i \\le n$$",
        "\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}",
        "x < y, 3 <= 4, 2<3, a <- b, and b > a",
        "```python\ndef f(x: list[int]) -> int:\n    return x[0] if x[1:] else 0\n```",
        "50 % & more; R&D; caf\u00e9 &lt; &nbsp; &alpha; &mdash;",
        "- [ ] to do\n- [x] done",
        "f[0], g(1), [see below], (a) and {b}: C:\\temp",
    ],
)
def test_what_students_write_is_left_alone(text: str) -> None:
    assert harmless_text(text) == text
    check_dead(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a<b", "a< b"),
        ("[x](y)", "[x] (y)"),
        ("x[0][1]", "x[0] [1]"),
        ("see https://example.org", "see https: //example.org"),
        ("ada@example.org", "ada@ example.org"),
        ("a\r\nb\rc\x00", "a\nb\nc"),
    ],
)
def test_a_space_is_all_that_it_takes(text: str, shown: str) -> None:
    assert harmless_text(text) == shown


def test_a_pasted_picture_is_shown_whatever_it_is_called() -> None:
    for name, written in (("a.png", "a.png"), ("my picture (1).png", "my%20picture%20(1).png"), ("b c.png", "b c.png")):
        pictures = {picture_name(name): {"image/png": PNG}}
        page = check_dead(f'Look: ![a "b" c](attachment:{written}) there', pictures)
        assert f"data:image/png;base64,{PNG}" in page
        assert "there" in page


@pytest.mark.parametrize(
    "text", ["< script>alert(1)< /script>", "< script >\nx\n< / script >", "a < b > c, < img src=x>"]
)
def test_a_tag_with_a_blank_is_text_and_stays_as_it_was_written(text: str) -> None:
    assert harmless_text(text) == text
    check_dead(text)


def test_a_picture_that_is_not_there_stops_no_page() -> None:
    assert "[picture: missing.png]" in check_dead("![x](attachment:missing.png)")


# ---------------------------------------------------------------------------------------------------- what does not act
LIVE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<!-- x --><b onclick=x>",
    "<\x00script>alert(1)</script>",
    "<\\script>",
    "<iframe srcdoc='&lt;script&gt;'>",
    "<http://example.org>",
    "<javascript:alert(1)>",
    "[x](javascript:alert(1))",
    "[x](<javascript:alert(1)> 'y')",
    "![x](http://example.org/x.png)",
    "[x][y]\n\n[y]: javascript:alert(1)",
    "[y]\n\n[y]:\n   http://example.org 'z'",
    "[y]\n\n> [y]: x",
    "https://example.org",
    "HTTP://example.org",
    "[x]\x00(y)",
    "[x]\u00ad(y)",
    "\\![a](attachment:a.png)",
    "[![a](attachment:a.png)](http://x.y)",
    "```mermaid\n<script>alert(1)</script>\n```",
    "~~~ mermaid\n&lt;script&gt;\n~~~",
    "> ```\u00a0mermaid\n> <b>\n",
    "$\\href{javascript:alert(1)}{x}$",
    "\\\\(\\href{x}{y}\\\\)",
    "\\$\\\\href{x}{y}\\$",
    "&#36;&#92;href{x}{y}&#36;",
    "&dollar;&bsol;href{x}{y}&dollar;",
    "&#x24&#x5chref{x}{y}",
    "$\\h\x00ref{x}{y}$",
    "$\\h\ufeffref{x}$",
    "$\\require{html}$",
    "\\begin{align}\\style{background:url(x)}{y}\\end{align}",
    "$$\\unicode[url(x)]{65}$$",
    "$\\let\\x\\href \\x{a}{b}$",
    "# <b>\n",
    "# &lt;img src=x onerror=alert(1)&gt;",
    "&amp;#92;href",
    "&amp;lt;script&amp;gt;",
    "a<b@c.d",
    "www.example.org",
    "![x](data:image/svg+xml,<svg>)",
    '![" onerror="alert(1)](attachment:a.png)',
    "| <b onmouseover=x> |\n|-|\n",
    "<![CDATA[x]]>",
    "<?x?>",
    "</div></div>",
    "`<b>`",
    "    <b>",
    "<![a](attachment:a.png)",
    "x\n: <b>\n",
]


@pytest.mark.parametrize("text", LIVE)
def test_nothing_of_it_acts_or_is_fetched(text: str) -> None:
    check_dead(text, {"a.png": {"image/png": PNG}})


PIECES = [
    *LIVE,
    *"<>[]()!&#;:\\$`*_~|\"'/ \n\t\x00\r",
    "attachment:",
    "a.png",
    "href",
    "script",
    "\\(",
    "\\[",
    "$$",
    "amp;",
    "lt;",
    "http:",
    "//",
    "javascript:",
    "mermaid",
    "```",
    "![",
    "](",
    "]:",
    "\n\n",
    "    ",
    "> ",
    "- ",
    "\u2028",
    "\ufeff",
    "92",
]


def test_live_prose_is_recognised() -> None:
    dead = {"&amp;#92;href", "&amp;lt;script&amp;gt;", "`<b>`", "    <b>", "# &lt;img src=x onerror=alert(1)&gt;"}
    pages = {text: Page(rendered(text, {"a.png": {"image/png": PNG}})) for text in LIVE if "missing" not in text}
    unseen = {text for text, page in pages.items() if not page.live and not COMMANDS.search(page.text)}
    assert len(unseen - dead) < len(LIVE) / 3, unseen
    assert pages["<script>alert(1)</script>"].live == ["<script>"]


@settings(deadline=None, max_examples=150)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=12))
def test_whatever_is_put_together_nothing_of_it_acts(pieces: list[str]) -> None:
    text = "".join(pieces).encode("utf-8", "replace").decode()
    check_dead(text, {"a.png": {"image/png": PNG}})


def test_a_flood_of_text_is_cut_and_said_to_be() -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("x" * 10**6) for _ in range(50)])
    make_harmless(notebook, ())
    first, last = notebook.cells[0].source, notebook.cells[-1].source
    assert first == "x" * MAX_TEXT + "\n\n[980,000 more characters were left out]"
    assert last.strip() == "[1,000,000 more characters were left out]"


@pytest.mark.parametrize("unit", ["[", "![", "`", "~", "<", "&", "@a", "![a](attachment:a ", "\\", "www.", "&a", ":/"])
def test_no_text_takes_long(unit: str) -> None:
    started = time.process_time()
    harmless_text(unit * 10**6, {"a"})
    assert time.process_time() - started < 2


def test_the_instructor_s_own_text_is_left_alone_unless_a_picture_in_it_is_gone() -> None:
    own = "<b>bold</b> [link](http://example.org)"
    code = nbformat.v4.new_code_cell("a<b")
    cells = [nbformat.v4.new_markdown_cell(own), nbformat.v4.new_markdown_cell(own + " "), code]
    lost = nbformat.v4.new_markdown_cell("![x](attachment:a.png)")
    make_harmless(nbformat.v4.new_notebook(cells=[*cells, lost]), {own, lost.source})
    assert [cell.source for cell in cells] == [own, "< b>bold< /b> [link] (http: //example.org) ", "a<b"]
    assert lost.source == "[picture: a.png]"


# ---------------------------------------------------------------------------------------------------- code on the page
@pytest.mark.parametrize("source", ["", "x = 1\n\n\ny = 2", "x" * 400, f"a = [\n{'    1,' * 60}\n]\n"])
def test_code_of_usual_lines_is_left_alone(source: str) -> None:
    assert bounded_code(source) == source


def test_long_lines_are_broken_and_the_rest_is_counted() -> None:
    shown = bounded_code("y" * 900 + "\nz = 1")
    assert shown.split("\n")[1:] == ["y" * 400, "y" * 400, "y" * 100, "z = 1"]
    assert shown.startswith("# [shown in part: ")
    assert bounded_code("x = 1\n" * 10_000).endswith(f"# [{60_000 - MAX_TEXT:,} more characters were left out]")


@pytest.mark.parametrize("unit", ["a.", "*", " \n", "((", "\\", "%\n", "?", "a, ", '"', "f'{"])
def test_a_page_of_any_code_takes_seconds_at_most(unit: str) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(unit * (100_000 // len(unit)))])
    make_harmless(notebook, ())
    begin = time.process_time()
    rendered_notebook(notebook)
    assert time.process_time() - begin < 8


def test_all_code_of_a_student_is_bounded_together_and_the_lab_s_is_shown_whole() -> None:
    about = {"nbgrader": {"grade_id": "setup", "locked": True, "solution": False, "grade": False}}
    own = [nbformat.v4.new_code_cell("x = 1\n" * 3000) for _ in range(40)]
    lab = nbformat.v4.new_code_cell("y = 1\n" * 9000, metadata=about)
    notebook = nbformat.v4.new_notebook(cells=[*own, lab])
    make_harmless(notebook, ())
    assert sum(len(cell.source) for cell in own) < 11 * MAX_TEXT
    assert lab.source == "y = 1\n" * 9000
