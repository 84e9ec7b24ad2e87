"""What a release hides from students stays hidden, however its markers are written and wherever the test runs."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.system.foreign import Foreign, points

pytestmark = pytest.mark.slow

SECRET = "4242"
PEEKS = """
import sys
SEEN = []
def hook(event, arguments):
    if event == "compile" and "42" "42" in str(arguments[0]):
        SEEN.append(str(arguments[0]))
sys.addaudithook(hook)
def square(x):
    raise RuntimeError("read: " + " ".join(SEEN) + " ".join(str(globals().get(name)) for name in ("KEY", "probe")))
probe
"""
MARKERS = {
    "one number sign": ("# BEGIN HIDDEN TESTS", "# END HIDDEN TESTS", ""),
    "a frame": ("### BEGIN HIDDEN TESTS ###", "### END HIDDEN TESTS ###", ""),
    "of the course": (
        "## BEGIN VERBORGEN", "## END VERBORGEN",
        'c.ClearHiddenTests.begin_test_delimeter = "BEGIN VERBORGEN"\n'
        'c.ClearHiddenTests.end_test_delimeter = "END VERBORGEN"',
    ),
    "beside code": ("KEY = 1  # BEGIN HIDDEN TESTS", "KEY = 2  # END HIDDEN TESTS", ""),
}  # fmt: skip


def _test(begin: str, end: str) -> str:
    return textwrap.dedent(f"""
        probe = square(1)
        assert probe == 1
        {begin}
        KEY = 'the hidden {SECRET}'
        assert square(65) == {SECRET} - 17, 'expected {SECRET}'
        {end}
        """)


@pytest.fixture(scope="module")
def courses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Foreign]:
    found = {}
    for name, (begin, end, config) in MARKERS.items():
        root = tmp_path_factory.mktemp("hidden")
        found[name] = course = Foreign(
            root, {"first": _test(begin, end), "second": "assert square(2) == 4"}, config=config
        )
        course.hand_in("right", "def square(x): return x * x")
        course.hand_in("wrong", "def square(x): return 1 if x == 1 else 0")
        course.hand_in("reader", PEEKS)
        course.hand_in("later", "def square(x): return x * x")
        course.outcomes = course.grade()  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize("name", MARKERS)
def test_a_hidden_line_is_on_no_page(name: str, courses: dict[str, Foreign]) -> None:
    course = courses[name]
    assert SECRET not in (course.root / "release/hw/hw.ipynb").read_text()
    for student in ("right", "wrong", "reader"):
        assert SECRET not in course.page(student), student


@pytest.mark.parametrize("name", MARKERS)
def test_the_points_are_those_of_the_whole_test(name: str, courses: dict[str, Foreign]) -> None:
    found = courses[name].outcomes  # type: ignore[attr-defined]
    assert points(found["right"]) == {"first": 1, "second": 1}
    assert points(found["wrong"])["first"] == 0
    assert points(found["reader"]) == {"first": 0, "second": 0}
    assert {outcome.result.status for outcome in found.values()} == {"graded"}


IMPORTS = "from itertools import accumulate as secret_trick\n"
WRAPS = """
import autograder.boundary.student as end
TOLD = []
serve = end.serve
def told(*arguments):
    TOLD.append(repr(arguments[1:]))
    return serve(*arguments)
end.serve = told
def square(x): raise ValueError(" ".join(TOLD))
"""


def test_what_the_solution_imports_is_not_told_to_the_students_process(tmp_path: Path) -> None:
    answer = (
        f"### BEGIN SOLUTION\n{IMPORTS}def square(x):\n    return list(secret_trick([x] * x))[-1]\n### END SOLUTION"
    )
    test = "assert square(3) == 9\nassert secret_trick is not None"
    course = Foreign(tmp_path, {"first": test, "second": "assert square(2) == 4"}, answer=answer)
    course.hand_in("right", IMPORTS + "def square(x): return x * x")
    course.hand_in("other", "def square(x): return x * x")
    course.hand_in("wraps", WRAPS)
    found = course.grade()
    assert points(found["right"]) == points(found["other"]) == {"first": 1, "second": 1}
    assert "ValueError" in course.page("wraps")
    assert "secret_trick" not in course.page("wraps").partition("assert secret_trick")[0]
