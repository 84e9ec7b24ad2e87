"""Hostile notebooks gain nothing, see nothing and stop nobody; unusual honest ones lose nothing."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from autograder.course import open_course
from autograder.model import Status
from autograder.sandbox import choose
from tests.redteam.attacks import ATTACKS
from tests.redteam.conftest import by_name
from tests.redteam.graded import RedClass
from tests.redteam.oddities import ODDITIES
from tests.redteam.redlab import ALL, CANARY

pytestmark = pytest.mark.slow

_TOTAL_TIME_S, _SLACK_S = 6, 20  # it is not held up; how fast the machine is does not matter
_DEAD = frozenset(
    [
        *(
            "a",
            "b",
            "body",
            "br",
            "code",
            "details",
            "div",
            "em",
            "figcaption",
            "figure",
            "footer",
            "h1",
            "h2",
            "h3",
            "h4",
        ),
        *("head", "header", "html", "i", "li", "main", "meta", "nav", "ol", "p", "pre", "section", "small", "span"),
        *(
            "strong",
            "style",
            "sub",
            "summary",
            "sup",
            "table",
            "tbody",
            "td",
            "tfoot",
            "th",
            "thead",
            "title",
            "tr",
            "ul",
        ),
    ]
)
"""Elements that run nothing and fetch nothing."""
_IMAGE = ("data:image/png;base64,", "data:image/jpeg;base64,", "data:image/gif;base64,")


@by_name(ATTACKS)
def test_an_attack_earns_no_more_than_its_honest_part(name: str, red_class: RedClass) -> None:
    result = red_class.result(name)
    assert result.score <= ATTACKS[name].honest, result
    assert all(cell.points is None or 0 <= cell.points <= cell.max_points for cell in result.cells), result


@by_name(ATTACKS)
def test_an_attack_ends_in_a_status_that_fits_it(name: str, red_class: RedClass) -> None:
    result = red_class.result(name)
    assert result.status in ATTACKS[name].status, result
    assert result.seconds < _TOTAL_TIME_S + _SLACK_S
    assert all("\n" not in message for message in result.messages), result.messages


@by_name(ATTACKS)
def test_nothing_that_is_secret_is_written_down_about_an_attack(name: str, red_class: RedClass) -> None:
    if ATTACKS[name].isolated and not choose().isolated:
        pytest.skip("no bubblewrap here: student code can read what the grader can")
    assert {found[0] for text in red_class.written(name) for found in CANARY.finditer(text)} == set()


@by_name(ATTACKS)
def test_the_feedback_on_an_attack_has_no_live_markup(name: str, red_class: RedClass) -> None:
    assert _live(red_class.page(name)) == []


@by_name(ODDITIES)
def test_an_honest_oddity_earns_full_marks(name: str, red_class: RedClass) -> None:
    result = red_class.result(name)
    lost = [(cell.grade_id, cell.message, [c for c in cell.cases if not c["passed"]]) for cell in result.cells
            if cell.points is not None and cell.points < cell.max_points]  # fmt: skip
    assert (result.status, result.score, lost) == (Status.GRADED, ALL, []), result.messages
    assert red_class.to_grade[red_class.students[name]] == 1


def test_the_one_whose_work_was_to_be_stolen_has_full_marks(red_class: RedClass) -> None:
    result = red_class.result("victim")
    assert (result.status, result.score) == (Status.GRADED, ALL)


def test_everybody_has_a_result_and_none_of_them_is_the_graders_failure(red_class: RedClass) -> None:
    assert sorted(set(red_class.students.values()) - set(red_class.results)) == []
    assert {student: r.messages for student, r in red_class.results.items() if r.status == Status.FAILED} == {}


def test_the_gradebook_holds_what_the_results_say(red_class: RedClass) -> None:
    stored = {row.student: row.score for row in open_course(red_class.root).scores()}
    assert stored == {student: result.score for student, result in red_class.results.items()}


def test_what_the_grader_prints_is_harmless_on_a_terminal(red_class: RedClass) -> None:
    assert [c for c in set(red_class.said) if not c.isprintable() and c != "\n"] == []
    assert CANARY.findall(red_class.said) == []


def test_the_course_and_the_submissions_are_untouched(red_class: RedClass) -> None:
    assert red_class.untouched


def test_no_process_of_an_attack_is_left(red_class: RedClass) -> None:
    assert red_class.left_over == ()


def test_what_is_kept_of_an_attack_is_bounded(red_class: RedClass) -> None:
    sizes = {path.parts[-3]: path.stat().st_size for path in red_class.root.glob("autograded/*/*/*.ipynb")}
    assert max(sizes.values()) < 2 << 20, max(sizes, key=lambda student: sizes[student])


def test_the_class_is_graded_in_minutes(red_class: RedClass) -> None:
    assert red_class.seconds < 900


# ------------------------------------------------------------------------------------------------------------- markup
class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.live: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        image = tag == "img" and values.get("src", "").startswith(_IMAGE)
        address = values.get("href", values.get("src", "#"))
        handlers = [key for key in values if key.startswith("on") or key in {"srcdoc", "srcset", "formaction"}]
        style = values.get("style", "").lower()
        refresh = values.get("http-equiv", "").lower() == "refresh"
        if (
            not (tag in _DEAD or image)
            or handlers
            or refresh
            or "url(" in style
            or "expression" in style
            or not (address.startswith("#") or image)
        ):
            self.live.append(self.get_starttag_text() or tag)


def _live(page: str) -> list[str]:
    """Return the elements of a page that could run or fetch something."""
    parser = _Elements()
    parser.feed(page)
    parser.close()
    return parser.live


def test_live_markup_is_recognised() -> None:
    live = (
        *("<script>", "<img src=x onerror=alert(1)>", "<a href='javascript:x'>", "<svg onload=x>", "<p onclick=x>"),
        *("<img src='http://x/y.png'>", "<iframe srcdoc=x>", "<meta http-equiv=refresh>", "<p style='a:url(x)'>"),
    )
    assert [len(_live(markup)) for markup in live] == [1] * len(live)
    assert _live("<p>&lt;script&gt;</p><a href='#task-1'>x</a><img src='data:image/png;base64,AAAA'>") == []
