"""Points given by hand stay; whose answer has changed since is said, and only that is asked about."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.course import open_course
from autograder.grading.by_hand import GivenBefore
from autograder.grading.outcome import Outcome
from autograder.release.publish import release_labs
from tests.system.courses import ADD, DOUBLE, FULL, TINY, answered, grade_by_hand, hand_in
from tests.unit.autograder.grading.fake_executor import FakeExecutor, graded

LOOK = "by hand before the answer was changed: look at it again"


@pytest.fixture
def course(tiny: Path) -> Path:
    """A course in which ada was graded."""
    hand_in(tiny, "ada", answered(tiny, **FULL))
    graded(tiny, FakeExecutor())
    return tiny


def again(course: Path, **answers: str) -> Outcome:
    """Hand in and grade other answers, and ask of each whether formgrader asks for a look at it."""
    hand_in(course, "ada", answered(course, **answers))
    return graded(course, FakeExecutor(), force=True)["ada"]


def asked(course: Path) -> set[str]:
    return set(open_course(course).score("ada", TINY).again)


def test_of_an_answer_that_has_not_changed_nobody_is_asked(course: Path) -> None:
    grade_by_hand(course, "ada", "why", 2.5, extra=0.5)
    outcome = again(course, **FULL)
    assert (outcome.to_grade, outcome.result.notes, asked(course)) == (0, (), set())
    assert outcome.result.score == 5 + 3
    outcome = again(course, add=ADD, double=f"# another way\n{DOUBLE}", why=FULL["why"])
    assert (outcome.to_grade, outcome.result.notes) == (0, ()), "other answers have changed, this one has not"


def test_of_one_that_has_changed_somebody_is_until_somebody_has_looked(course: Path) -> None:
    grade_by_hand(course, "ada", "why", 2.5, extra=0.5)
    outcome = again(course, **FULL | {"why": "Because it must be."})
    said = (f"why: 2.5 points and 0.5 extra given {LOOK}",)
    assert (outcome.to_grade, outcome.result.notes, asked(course)) == (1, said, {f"{TINY}/why"})
    assert outcome.result.score == 5 + 3, "they stay until then"
    still = (said[0].replace("the answer was changed", "a change that nobody has looked at yet"),)
    assert again(course, **FULL | {"why": "Because it must be."}).result.notes == still, "nobody has looked yet"
    grade_by_hand(course, "ada", "why", 1.0)
    outcome = again(course, **FULL | {"why": "Because it must be."})
    assert (outcome.to_grade, outcome.result.notes, outcome.result.score) == (0, (), 6)


@pytest.mark.parametrize(
    ("cell", "changed"),
    [("why", {"why": "Because it must be."}), ("add-check", {"add": f"{ADD}  # changed"})],
)
def test_of_one_that_is_again_what_was_graded_nobody_is(course: Path, cell: str, changed: dict[str, str]) -> None:
    grade_by_hand(course, "ada", "why", 2.5)
    grade_by_hand(course, "ada", cell, 1.5)
    for _ in range(2):
        for other in (changed, changed, changed | {"why": "Another one."}):
            again(course, **FULL | other)
            assert f"{TINY}/{cell}" in asked(course)
        outcome = again(course, **FULL)
        assert (outcome.to_grade, outcome.result.notes, asked(course)) == (0, (), set())


def test_of_one_that_is_what_was_graded_with_other_points_somebody_is_asked(course: Path) -> None:
    grade_by_hand(course, "ada", "why", 2.5)
    again(course, **FULL | {"why": "Because it must be."})
    grade_by_hand(course, "ada", "why", 1.0)
    outcome = again(course, **FULL)
    assert (outcome.to_grade, asked(course)) == (1, {f"{TINY}/why"}), "the points are those of the other answer"
    assert again(course, **FULL | {"why": "Because it must be."}).to_grade == 0


def test_what_is_stored_with_a_blank_in_a_tag_has_not_changed(course: Path) -> None:
    """As where nbgrader itself had graded it, which stores what was handed in, and no log says what that was."""
    answers = FULL | {"why": "<script>alert(1)</script> < script> ![a](attachment:my%20plot.png)"}
    assert again(course, **answers).result.notes == ()
    grade_by_hand(course, "ada", "why", 2.0)
    path = course / "autograded/ada" / TINY / f"{TINY}.ipynb"
    assert "< script>alert" in path.read_text()
    path.write_bytes((course / "submitted/ada" / TINY / f"{TINY}.ipynb").read_bytes())
    (course / ".autograder" / f"{TINY}.jsonl").unlink()
    outcome = again(course, **answers)
    assert (outcome.to_grade, outcome.result.notes) == (0, ())


def test_a_file_that_an_answer_mentions_may_be_put_back_too(course: Path) -> None:
    answers, path = FULL | {"why": "See plot.svg."}, course / "submitted/ada" / TINY / "plot.svg"
    for content, many in (("<svg/>", 1), ("<svg>2</svg>", 1), ("<svg/>", 0)):
        path.write_text(content)
        assert again(course, **answers).to_grade == many
        if not asked(course):
            grade_by_hand(course, "ada", "why", 2.0)


def test_points_in_place_of_a_test_s_stand_as_long_as_the_code_and_what_the_test_gives_do(course: Path) -> None:
    grade_by_hand(course, "ada", "add-check", 1.0)
    assert again(course, **FULL | {"why": "Words are no code."}).to_grade == 1, "the written answer has no points yet"
    outcome = again(course, **FULL | {"add": f"{ADD}  # changed"})
    said = f"add-check: 1 point given {LOOK}".replace("the answer", "code of the notebook")
    assert outcome.result.notes == (said,)
    assert asked(course) == {f"{TINY}/add-check"}


@pytest.mark.parametrize(
    ("own", "others", "said"),
    [
        ("x = 1", "y = 1", ""),
        ("x = 2", "y = 1", "the answer"),
        ("x = 1", "y = 2", "other code of the notebook"),
        ("x = 2", "y = 2", "the answer"),
    ],
)
def test_an_answer_in_code_is_told_from_the_code_around_it(own: str, others: str, said: str) -> None:
    def answers(own: str, others: str) -> dict[str, Any]:
        return {"own": (own, {}), "": (f"{own}\n\n{others}", {})}

    cell: Any = SimpleNamespace(notebook="lab", grade_id="own", cell_type="code")
    before = GivenBefore({"lab/own": cell}, {"lab": answers("x = 1", "y = 1")}, {}, False, {})
    assert before._changed_in(cell, answers(own, others)) == said
    assert before._changed_in(cell, None) == "the answer", "nobody knows"


def gave(course: Path, points: float) -> None:
    """Have add-check, which gives 2, have given other points in ada's last run."""
    before = open_course(course).cells(TINY, "ada")["ada"]
    assert [cell.auto_score for cell in before if cell.grade_id == "add-check"] == [2.0]
    with sqlite3.connect(course / "gradebook.db") as database:
        database.execute("UPDATE grade SET auto_score = ? WHERE auto_score = 2.0", (points,))


def edited(course: Path, before: str, after: str, points: int = 8) -> None:
    """Change a text of the lab's source, which has so many points then, and release it."""
    folder = course / "source" / TINY
    text = (folder / f"{TINY}.py").read_text()
    assert before in text
    (folder / f"{TINY}.py").write_text(text.replace(before, after))
    (folder / "lab.toml").write_text((folder / "lab.toml").read_text().replace("points = 8", f"points = {points}"))
    list(release_labs(course, (TINY,)))


def test_where_the_test_gives_other_points_the_answer_is_not_said_to_have_changed(course: Path) -> None:
    grade_by_hand(course, "ada", "add-check", 1.0)
    grade_by_hand(course, "ada", "why", 3.0)
    gave(course, 1.5)
    said = "add-check: 1 point given by hand before its test gave 2 points, not 1.5: look at it again"
    assert again(course, **FULL).result.notes == (said,)
    (still,) = again(course, **FULL).result.notes
    assert still == "add-check: 1 point given by hand before a change that nobody has looked at yet: look at it again"


def test_a_test_that_was_changed_is_said_to_be(course: Path) -> None:
    grade_by_hand(course, "ada", "add-check", 1.0)
    gave(course, 1.5)
    edited(course, "add(1, 2)", "add(1, 3 - 1)")
    (said,) = [note for note in again(course, **FULL).result.notes if note.startswith("add-check: 1 point")]
    assert said.endswith("by hand before its test was changed and gave 2 points, not 1.5: look at it again")


def test_points_above_what_a_cell_is_worth_now_are_named_and_stay_until_somebody_has_looked(course: Path) -> None:
    grade_by_hand(course, "ada", "why", 3.0, extra=2.0)
    edited(course, '"solution": true, "points": 3', '"solution": true, "points": 2', points=7)
    said = ("why: 3 points and 2 extra given by hand, 2 at most now: look at it again",)
    outcome = again(course, **FULL)
    assert (outcome.to_grade, outcome.result.notes, asked(course)) == (1, said, {f"{TINY}/why"})
    assert outcome.result.score == 5 + 5
    (both,) = again(course, **FULL | {"why": "Because it must be."}).result.notes
    assert both.endswith("by hand before the answer was changed, 2 at most now: look at it again")
    grade_by_hand(course, "ada", "why", 2.0, extra=2.0)
    outcome = again(course, **FULL | {"why": "Because it must be."})
    assert (outcome.to_grade, outcome.result.notes) == (0, ()), "extra credit may go above it"


@pytest.mark.parametrize(
    ("cell", "given", "now", "points"),
    [("double-check", 1.0, 6, 11), ("double-check", 1.0, 2, 7), ("why", 2.0, 4, 9), ("why", 1.0, 2, 7)],
)
def test_points_of_a_cell_that_is_worth_more_or_less_now_are_asked_about(
    course: Path, cell: str, given: float, now: int, points: int
) -> None:
    """Only points above the new maximum were, or where the test gave others: 1 of 2 was 1 of 4 without a word."""
    stub = FULL | {"double": DOUBLE.replace("return 2 * a", "raise NotImplementedError")}  # it gets 0 of any maximum
    again(course, **stub)
    grade_by_hand(course, "ada", "why", 2.0)
    grade_by_hand(course, "ada", cell, given)
    again(course, **stub)
    assert asked(course) == set()
    source = course / "source" / TINY / f"{TINY}.py"
    if cell != "why":
        source.write_text(source.read_text().replace("check.score(3)", f"check.score({now})"))
    worth = '"solution": true, "points": ' if cell == "why" else '"grade": true, "points": '
    edited(course, f"{worth}3", f"{worth}{now}", points=points)
    said = f"{cell}: {given:g} point{'s' * (given != 1)} given by hand before its maximum was changed from 3 to {now}"
    assert again(course, **stub).result.notes == (f"{said}: look at it again",)
    assert asked(course) == {f"{TINY}/{cell}"}
    again(course, **stub)
    assert asked(course) == {f"{TINY}/{cell}"}, "until somebody has looked"
    grade_by_hand(course, "ada", cell, given)
    assert again(course, **stub).result.notes == ()


def test_where_the_graded_copy_is_lost_only_what_was_handed_in_anew_is_asked_about(course: Path) -> None:
    grade_by_hand(course, "ada", "why", 2.0)
    copy = course / "autograded" / "ada" / TINY / f"{TINY}.ipynb"
    copy.unlink()
    outcome = graded(course, FakeExecutor(), force=True)["ada"]
    assert (outcome.to_grade, outcome.result.notes) == (0, ()), "what was handed in is what was graded"
    for left in (None, "half"):
        copy.unlink()
        if left:
            copy.write_text(left)
        (line,) = again(course, **FULL | {"add": f"{ADD}  # {left}"}).result.notes
        assert line.startswith("why: 2 points given by hand before the graded copy was lost, so that nobody knows")
        assert asked(course) == {f"{TINY}/why"}
        grade_by_hand(course, "ada", "why", 2.0)


def test_a_file_that_an_answer_mentions_is_part_of_it(course: Path) -> None:
    plot = hand_in(course, "ada", b"one", "my plot.png")
    why = "![the loss](my%20plot.png) falls"
    again(course, **FULL | {"why": why})
    grade_by_hand(course, "ada", "why", 2.0)
    assert again(course, **FULL | {"why": why, "add": f"{ADD}  # changed"}).to_grade == 0, "the file is the same"
    plot.write_bytes(b"two")
    outcome = again(course, **FULL | {"why": why})
    assert outcome.result.notes == ("why: 2 points given by hand before my plot.png was changed: look at it again",)
    assert asked(course) == {f"{TINY}/why"}
    grade_by_hand(course, "ada", "why", 2.0)
    plot.unlink()
    assert again(course, **FULL | {"why": why}).to_grade == 1, "one that is gone, too"


@pytest.mark.parametrize("name", ["fig.svg", "page.html", "data/fig.svg"])
def test_a_file_that_is_kept_under_another_name_is_known_by_its_own(course: Path, name: str) -> None:
    """What a browser would run is kept as .txt, and an answer says the name that was handed in."""
    why = FULL | {"why": f"see {name}"}
    (course / "submitted" / "ada" / TINY / name).parent.mkdir(exist_ok=True)
    hand_in(course, "ada", b"<svg>1</svg>", name)
    again(course, **why)
    grade_by_hand(course, "ada", "why", 2.0)
    hand_in(course, "ada", b"<svg>2</svg>", name)
    assert again(course, **why).result.notes == (
        f"why: 2 points given by hand before {name} was changed: look at it again",
    )


def test_another_file_that_was_changed_is_said_and_no_point_waits_for_it(course: Path) -> None:
    hand_in(course, "ada", b"1", "notes.txt")
    again(course, **FULL)
    grade_by_hand(course, "ada", "why", 2.0)
    hand_in(course, "ada", b"2", "notes.txt")
    outcome = again(course, **FULL)
    said = "changed since points were given by hand: notes.txt: does an answer refer to it?"
    assert (outcome.to_grade, outcome.result.notes) == (0, (said,))
    assert again(course, **FULL).result.notes == (), "it has not changed since then"


def test_an_answer_that_is_gone_has_changed(course: Path) -> None:
    grade_by_hand(course, "ada", "why", 2.0)
    hand_in(course, "ada", b"")
    outcome = graded(course, FakeExecutor())["ada"]
    assert outcome.result.notes == (f"why: 2 points given {LOOK}",)
