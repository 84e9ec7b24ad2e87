"""What a checked cell shows and hands to graders."""

from __future__ import annotations

import html.parser
import json
import linecache
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit._check_report import MIME, Case, CheckFailed, Ledger, Score, error_message

HOSTILE = "<script>alert(1)</script>\"><img src=x onerror=alert(1)>'</td>"
GOOD = Case("adds up", passed=True, weight=2.0)
BAD = Case("each row sums to one", passed=False, message="expected 1, got 2", hint="axis=1", error="Mismatch")
HIDDEN = Case(
    "large scores", passed=False, message="expected 0.731, got nan", hint="shift", hidden=True, error="Mismatch"
)


def tags(page: str) -> list[tuple[str, list[str]]]:
    """Return every tag of a page with the names of its attributes."""
    found = []

    class Parser(html.parser.HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.append((tag, [name for name, _ in attrs]))

    Parser().feed(page)
    return found


def test_a_score_reads_as_lines_in_a_terminal() -> None:
    assert str(Score(3, (GOOD, BAD, HIDDEN))) == (
        "pass  adds up\n"
        "FAIL  each row sums to one\n"
        "      expected 1, got 2\n"
        "      look at: axis=1\n"
        "FAIL  large scores\n"
        "      look at: shift\n"
        "1.5 of 3 points, 1 of 3 cases"
    )


def test_the_error_of_a_cell_that_did_not_run_is_told_once() -> None:
    unnamed = Case("one", False, "NameError: name 'f' is not defined", "has the cell been run?", error="NameError")
    score = Score(3, (unnamed, replace(unnamed, title="two"), BAD))
    shown = str(score).splitlines()
    assert shown[1:5] == [
        f"      {unnamed.message}",
        f"      look at: {unnamed.hint}",
        "FAIL  two",
        "      as above",
    ]
    html = score._repr_mimebundle_()["text/html"]
    assert (html.count("NameError"), html.count("as above")) == (1, 1)
    assert [case["message"] for case in score.to_dict()["cases"][:2]] == [unnamed.message] * 2


def test_a_score_is_a_number_to_nbgrader_and_json_to_graders() -> None:
    bundle = Score(3, (GOOD, BAD, HIDDEN))._repr_mimebundle_()
    assert list(bundle) == ["text/plain", "text/html", MIME]
    assert bundle["text/plain"] == "1.5"
    report = json.loads(json.dumps(bundle[MIME]))
    assert (report["protocol"], report["points"], report["max_points"]) == (1, 1.5, 3.0)
    assert report["cases"][1] == {
        "title": "each row sums to one",
        "passed": False,
        "message": "expected 1, got 2",
        "hint": "axis=1",
        "hidden": False,
        "weight": 1.0,
        "error": "Mismatch",
        "guard": False,
        "essential": False,
        "more": "",
        "sort": "",
    }


def test_nothing_that_a_student_reads_holds_the_values_of_a_hidden_case() -> None:
    score = Score(3, (HIDDEN,))
    assert "0.731" not in str(score) + score._repr_mimebundle_()["text/html"] + str(CheckFailed(score))


@pytest.mark.parametrize(
    "error",
    [
        NameError("spelled", name="got 0.731"),
        type("got 0.731", (Exception,), {})("anything"),
        type("got 0.731", (NameError,), {})("anything", name="0.731"),
        TypeError("argument 0.731"),
        TypeError("NoneType 0.731"),
    ],
)
def test_what_the_student_s_code_raises_in_a_hidden_case_tells_nothing_of_it(error: Exception) -> None:
    """Its text, its class and the name that it holds may be what the case has given that code."""

    def answer() -> None:
        raise error

    ledger = Ledger()
    with ledger.case(Case("hidden", passed=True, hint="shift by the maximum", hidden=True)):
        answer()
    (case,) = ledger.cases
    assert "0.731" in case.message + str(error) + str(getattr(error, "name", "")) + type(error).__name__
    assert "0.731" not in case.hint + case.error
    assert "0.731" not in str(Score(1, (case,)))


def test_the_table_follows_the_theme_of_jupyterlab() -> None:
    table = Score(3, (GOOD, BAD))._repr_mimebundle_()["text/html"]
    assert "var(--jp-success-color1, #" in table
    assert "var(--jp-error-color1, #" in table
    assert "background:none" in table
    assert "✓" in table
    assert "✗" in table


@given(st.text(), st.text(), st.text(), st.booleans())
def test_text_in_the_table_is_never_markup(title: str, message: str, hint: str, passed: bool) -> None:
    case = Case(title + HOSTILE, passed, message + HOSTILE, hint + HOSTILE, essential=True, more=hint + HOSTILE)
    page = Score(1, (case,))._repr_mimebundle_()["text/html"]
    assert {tag for tag, _ in tags(page)} <= {"table", "tr", "td", "div", "details", "summary", "i"}
    assert {name for _, names in tags(page) for name in names} <= {"style"}


def test_full_marks_need_every_case() -> None:
    assert Score(2, (GOOD,)).full
    assert not Score(2, (GOOD, BAD)).full
    assert float(Score(0.1, (GOOD, GOOD, GOOD))) == 0.1


def test_a_failed_check_shows_its_lines_instead_of_a_traceback() -> None:
    error = CheckFailed(Score(3, (BAD,)))
    assert error._render_traceback_() == str(error).splitlines()
    assert len(error._render_traceback_()) == 4


def caught(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as raised:
        return raised


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no"), "ValueError: no"),
        (ValueError(), "ValueError"),
        (KeyError("k"), "KeyError: 'k'"),
        (SystemExit(3), "SystemExit: 3"),
        (NotImplementedError("Task 2: f"), "not implemented yet: Task 2: f"),
        (NotImplementedError(), "not implemented yet"),
        (SyntaxError("invalid syntax", ("cell", 3, 5, "a b", 3, 6)), '  File "cell", line 3'),
    ],
)
def test_an_error_is_named_in_words(error: BaseException, text: str) -> None:
    assert error_message(caught(error)).startswith(text.strip())


def test_an_error_that_cannot_be_printed_is_named_all_the_same() -> None:
    class Unprintable(NotImplementedError):
        def __str__(self) -> str:
            raise ValueError("gotcha")

    assert error_message(caught(Unprintable())) == "not implemented yet: <exception str() failed>"


def test_a_long_error_is_cut() -> None:
    assert len(error_message(caught(ValueError("x" * 10**6)))) < 1100


def test_an_error_names_the_line_of_the_notebook_that_raised_it() -> None:
    source = "def broken(x):\n    return x + missing\n\ndef outer(x):\n    return broken(x)\n"
    linecache.cache["<cell>"] = (len(source), None, source.splitlines(keepends=True), "<cell>")
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, "<cell>", "exec"), space)
    try:
        space["outer"](1)
    except NameError as error:
        text = error_message(error)
    assert text == "NameError: name 'missing' is not defined\nin broken, line 2: return x + missing"
