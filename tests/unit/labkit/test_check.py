"""Cases, credit and expectations as test cells use them."""

from __future__ import annotations

import contextlib
import linecache
import logging
import math
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit import check
from labkit._check_report import CheckFailed, Score


@pytest.fixture(autouse=True)
def empty_ledger() -> Iterator[None]:
    """No case of one test reaches the next."""
    yield
    with contextlib.suppress(RuntimeError):
        check.score(1)


def one_case(body: Callable[[], object], **options: Any) -> Any:
    """Run body in a case and return what is recorded of it."""
    with check.case("title", **options):
        body()
    return check.score(1).cases[0]


def fail(message: str = "", error: type[BaseException] = ValueError) -> Callable[[], None]:
    def body() -> None:
        raise error(message)

    return body


def message(function: Callable[..., object], *args: Any, **kwargs: Any) -> str:
    with pytest.raises(check.Mismatch) as caught:
        function(*args, **kwargs)
    return str(caught.value)


# ---------------------------------------------------------------------------------------------------- cases and score
def test_public_names_are_sorted_and_there() -> None:
    assert check.__all__ == sorted(check.__all__)
    for name in check.__all__:
        assert getattr(check, name).__doc__


def test_a_failing_case_never_stops_the_next() -> None:
    for error in (
        ValueError,
        check.Mismatch,
        NotImplementedError,
        SystemExit,
        GeneratorExit,
        StopIteration,
        BaseException,
    ):
        with check.case(error.__name__):
            raise error("no")
    with check.case("the last one"):
        pass
    score = check.score(8)
    assert [case.passed for case in score.cases] == [False] * 7 + [True]
    assert [case.error for case in score.cases[:3]] == ["ValueError", "Mismatch", "NotImplementedError"]
    assert score.points == 1.0


def test_a_hidden_case_counts_like_any_other_and_says_that_it_is_hidden() -> None:
    with check.hidden_case("large scores", hint="shift", weight=3):
        check.equal(1, 2)
    with check.case("small scores"):
        pass
    score = check.score(4)
    assert float(score) == 1.0
    assert [(case.hidden, case.hint) for case in score.cases] == [(True, "shift"), (False, "")]


def test_an_interrupt_ends_the_cell_and_leaves_no_case_open() -> None:
    with pytest.raises(KeyboardInterrupt), check.case("stopped"):
        raise KeyboardInterrupt
    assert one_case(lambda: None).passed


def test_what_is_not_implemented_is_said_so() -> None:
    assert one_case(fail("Task 2: softmax", NotImplementedError)).message == "not implemented yet: Task 2: softmax"
    assert one_case(fail("", NotImplementedError)).message == "not implemented yet"


def test_a_case_without_the_student_s_mistake_shows_no_hint() -> None:
    assert one_case(lambda: None, hint="look here").hint == ""
    assert one_case(fail(), hint="look here").hint == "look here"


def test_a_hint_of_the_expectation_goes_before_that_of_the_case() -> None:
    assert one_case(lambda: check.equal(1, 2, hint="inner"), hint="outer").hint == "inner"
    assert one_case(lambda: check.equal(1, 2), hint="outer").hint == "outer"
    assert (
        one_case(lambda: check.equal(None, 2), hint="outer").hint == "does every path of the function end in a return?"
    )


def test_stderr_inside_a_case_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    def noisy() -> None:
        print("careful", file=sys.stderr)
        logging.StreamHandler().emit(logging.makeLogRecord({"msg": "logged"}))

    assert one_case(noisy).passed
    assert capsys.readouterr() == ("careful\nlogged\n", "")
    print("after", file=sys.stderr)
    assert capsys.readouterr().err == "after\n"


def test_a_case_inside_a_case_fails_the_outer_one() -> None:
    with check.case("outer"), check.case("inner"):
        pass
    (case,) = check.score(1).cases
    assert (case.title, case.passed) == ("outer", False)
    assert "check.case('inner') stands inside another case" in case.message


@pytest.mark.parametrize("weight", [0, -1, math.inf, math.nan])
def test_a_weight_is_positive_and_finite(weight: float) -> None:
    with pytest.raises(ValueError, match="weight must be positive"), check.case("title", weight=weight):
        pass


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 9)), min_size=1, max_size=9), st.integers(1, 400))
def test_the_score_is_the_points_times_the_weighted_share(cases: list[tuple[bool, int]], quarters: int) -> None:
    points = quarters / 4
    for passes, weight in cases:
        with check.case("title", weight=weight):
            check.true(passes, "it to hold")
    score = check.score(points)
    share = sum(weight for passes, weight in cases if passes) / sum(weight for _, weight in cases)
    assert float(score) == round(points * share, 2)
    assert 0 <= float(score) <= points
    assert (float(score) == points) == all(passes for passes, _ in cases) or share > 1 - 0.01 / points
    assert repr(score) == repr(float(score))


def test_full_marks_are_the_points_whatever_their_decimals() -> None:
    with check.case("title"):
        pass
    assert float(check.score(0.125)) == 0.125


def test_a_cell_without_a_case_has_no_score() -> None:
    with pytest.raises(RuntimeError, match="no case has run"):
        check.score(1)


def test_cases_of_a_cell_that_never_reached_its_score_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shell:
        execution_count = 1

    class IPython:
        get_ipython = staticmethod(lambda: Shell)

    monkeypatch.setitem(sys.modules, "IPython", IPython)
    with check.case("of the first cell"):
        pass
    Shell.execution_count = 2
    with check.case("of the second"):
        pass
    assert [case.title for case in check.score(1).cases] == ["of the second"]
    with check.case("of the second, later"):
        pass
    Shell.execution_count = 3
    with pytest.raises(RuntimeError):
        check.score(1)


def test_validate_shows_one_line_a_case_instead_of_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    with check.case("good"):
        pass
    assert isinstance(check.score(1), Score)
    with check.case("bad", hint="here"):
        check.equal(1, 2)
    with pytest.raises(CheckFailed) as caught:
        check.score(1)
    lines = ["FAIL  bad", "      expected 2, got 1", "      look at: here", "0 of 1 point, 0 of 1 cases"]
    assert caught.value._render_traceback_() == lines


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("softmaxx(1)", "is `softmaxx` spelled exactly so"),
        ("(lambda a: a)()", "keep the name and the arguments that the stub has"),
        ("None.shape", "does every path of the function end in a return? over axis=1"),
        ("a, b = None", "does every path of the function end in a return? over axis=1"),
        ("1 / 0", "over axis=1"),
    ],
)
def test_an_error_that_says_what_to_do_next_replaces_the_hint(code: str, says: str) -> None:
    with check.case("a case", hint="over axis=1"):
        exec(code, {})
    with check.case("not begun", hint="over axis=1"):
        fail("Task 1: f", NotImplementedError)()
    failed, blank = check.score(1).cases
    assert failed.hint.startswith(says)
    assert blank.hint == ""


# ------------------------------------------------------------------------------------------------------- expectations
@pytest.mark.parametrize("value", [True, np.True_, np.ones(2).all()])
def test_true_takes_the_bool_itself(value: object) -> None:
    check.true(value, "it to hold")


class Truthy:
    def __bool__(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (False, "expected other logits"),
        (np.False_, "expected other logits"),
        (1, "expected other logits, got the int 1"),
        (None, "expected other logits, got None"),
        (np.ones(2), "expected other logits, got an array of shape (2,) and dtype float64"),
        (Truthy(), "expected other logits, got a value of type Truthy"),
    ],
)
def test_true_takes_nothing_that_only_counts_as_true(value: object, text: str) -> None:
    assert message(check.true, value, "other logits") == text


@pytest.mark.frameworks
def test_true_takes_a_tensor_of_one_bool() -> None:
    import torch

    check.true((torch.ones(2) == 1).all(), "ones")
    assert message(check.true, torch.tensor(False), "ones") == "expected ones"
    assert message(check.true, torch.ones(2) == 1, "ones") == "expected ones, got an array of shape (2,) and dtype bool"


@pytest.mark.parametrize("got", [np.ones((2, 3)), [[1, 1, 1], [1, 1, 1]]])
def test_shape_takes_arrays_and_nested_lists(got: object) -> None:
    check.shape(got, (2, 3))
    assert message(check.shape, got, (3, 2), name="f", hint="h") == "f: expected shape (3, 2), got (2, 3)\nlook at: h"


@pytest.mark.parametrize(
    ("got", "text"),
    [
        (None, "expected an array of shape (2,), got None\nlook at: does every path of the function end in a return?"),
        (3.0, "expected an array of shape (2,), got a number"),
        (["a", "b"], "expected an array of shape (2,), got the list ['a', 'b']"),
    ],
)
def test_shape_says_what_came_instead_of_an_array(got: object, text: str) -> None:
    assert message(check.shape, got, (2,)) == text


@pytest.mark.parametrize(
    ("got", "text"),
    [
        (0.5, "accuracy: expected at least 0.96, got 0.5"),
        (0.9599999, "accuracy: expected at least 0.96, got 0.9599999"),
        (math.nan, "accuracy: expected at least 0.96, got nan"),
        (math.inf, "accuracy: expected at least 0.96, got inf"),
        (True, "accuracy: expected a number at least 0.96, got the bool True"),
        ([0.97], "accuracy: expected a number at least 0.96, got an array of shape (1,) and dtype float64"),
        ("0.97", "accuracy: expected a number at least 0.96, got the str '0.97'"),
        (1j, "accuracy: expected a number at least 0.96, got the complex 1j"),
    ],
)
def test_at_least_takes_one_finite_number(got: object, text: str) -> None:
    assert message(check.at_least, got, 0.96, name="accuracy") == text


@pytest.mark.parametrize("number", [Fraction(3, 2), Decimal("1.5")])
def test_exact_numbers_are_numbers(number: Fraction | Decimal) -> None:
    check.at_least(number, 1.25)
    check.close(number, 1.5, rtol=0, atol=0)
    check.close([number, 1], [1.5, 1])
    check.shape([number] * 3, (3,))
    assert message(check.close, number, 2.5).startswith("expected 2.5, got 1.5")


@pytest.mark.parametrize("number", [Fraction(10**400), Decimal("sNaN")])
def test_exact_numbers_that_no_float_holds_are_described(number: Fraction | Decimal) -> None:
    assert message(check.close, number, 1.5) == f"expected a number, got a value of type {type(number).__name__}"


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_a_number_is_at_least_or_at_most_a_bound(value: float, bound: float) -> None:
    if value >= bound:
        check.at_least(value, bound)
    if value <= bound:
        check.at_most(value, bound)
    if value > bound:
        assert "at most" in message(check.at_most, value, bound)


def test_raises_takes_the_kind_that_is_asked_for() -> None:
    check.raises(ValueError, int, "x")
    check.raises(LookupError, dict[str, int]().__getitem__, "x")
    assert message(check.raises, ValueError, int, "3") == "expected ValueError, got the int 3"
    assert message(check.raises, ValueError, lambda: 1 / 0).startswith("expected ValueError, got ZeroDivisionError")


@pytest.mark.parametrize("kind", [ValueError, RuntimeError, NotImplementedError, Exception])
def test_an_unfinished_task_is_no_error_that_was_asked_for(kind: type[Exception]) -> None:
    with pytest.raises(NotImplementedError):
        check.raises(kind, fail("Task 1: f", NotImplementedError))


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=4))
def test_the_right_gradient_agrees(entries: list[float]) -> None:
    x = np.array(entries)
    check.gradient(lambda v: float((v**3).sum()), x, 3 * x**2)


def test_a_wrong_gradient_is_named_by_its_worst_entry() -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    text = message(check.gradient, lambda v: (v**2).sum(), x, np.array([[2, 4.1], [6, 7]]), hint="2 x")
    assert text == "expected the gradient 8 at [1, 1], got 7 (relative error 6.7e-02)\nlook at: 2 x"


@pytest.mark.parametrize(
    ("grad", "text"),
    [
        (None, "expected a gradient of shape (1,), got None"),
        ([[2.0]], "expected a gradient of shape (1,), got (1, 1)"),
        ([math.nan], "expected the gradient 2 at [0], got nan (relative error inf)"),
    ],
)
def test_a_gradient_that_is_none(grad: object, text: str) -> None:
    assert message(check.gradient, lambda v: (v**2).sum(), [1.0], grad).startswith(text)


def test_a_function_that_returns_no_number_has_no_gradient() -> None:
    assert "a number from the function, got None" in message(check.gradient, lambda v: None, [1.0], [2.0])
    assert "a number from the function, got an array" in message(check.gradient, lambda v: (v, v), [1.0], [2.0])
    text = message(check.gradient, lambda v: math.nan, [1.0], [2.0])
    assert text == "expected a function that is finite around x at [0], got nan and nan"


def test_the_gradient_of_integers_is_taken_in_float64() -> None:
    check.gradient(lambda v: float((v**2).sum()), [1, 2], [2, 4])


def test_calls_are_counted() -> None:
    square = check.counted(lambda x, power=2: x**power)
    assert (square(3), square(2, power=3)) == (9, 8)
    check.calls(square, 2)
    assert message(check.calls, square, 3, name="f", hint="once an entry") == (
        "f: expected 3 calls, got 2\nlook at: once an entry"
    )


@pytest.mark.parametrize(
    ("value", "change"),
    [
        (np.array([1.0, math.nan]), lambda x: x.__setitem__(0, 2.0)),
        ([np.ones(2), np.ones(3)], lambda x: x[1].fill(0)),
        ([1.0, 2.0], lambda x: x.append(3.0)),
        ({"a": np.ones(2)}, lambda x: x["a"].fill(0)),
        ({"a": 1, "b": None}, lambda x: x.pop("b")),
        ([("name", ["w"], {1})], lambda x: x[0][1].append("v")),
        ([{"w"}], lambda x: x[0].add("v")),
    ],
)
def test_an_argument_that_was_changed_in_place_is_named(value: Any, change: Callable[[Any], object]) -> None:
    with check.unchanged(weights=value):
        pass

    def body() -> None:
        with check.unchanged(weights=value):
            change(value)

    assert message(body) == (
        "expected weights to stay as it was, but the call changed it in place\n"
        "look at: work on a copy, or use an operator that returns a new array"
    )


def test_a_result_that_is_not_new_is_named() -> None:
    x, members = np.ones((4, 4)), [{"w": np.ones(2)}]
    new: list[tuple[Any, Any]] = [
        (x * 2, x),
        (x[:2], x[2:]),
        (x[:, ::2], x[:, 1::2]),
        ([x.copy()], [x]),
        ((1, "a"), (1, "a")),
        ({"w": members[0]["w"].copy()}, members),
        (bytearray(b"ab"), bytearray(b"ab")),
    ]
    old: list[tuple[Any, Any]] = [
        (x, x),
        (x.T, x),
        (x[1:3], x[2:]),
        ({"y": (1, [x[0]])}, [x]),
        (members[0], members),
        ([members[0]["w"][:1]], members),
        (np.asarray(x), {"x": x}),
    ]

    class Dots(dict[str, Any]):
        __getattr__ = dict.get

    dots = Dots(y=1)
    new.append((dots, Dots(y=1)))
    old.append((dots, {"dots": dots}))
    for result, other in new:
        check.separate(result, 3, other)
    for result, other in old:
        assert message(partial(check.separate, result, 3, other, name="y", hint="copy")) == (
            "expected y to be new, but its memory is that of an argument or an earlier result\nlook at: copy"
        )


@pytest.mark.frameworks
def test_a_tensor_that_shares_memory_is_not_new() -> None:
    import torch

    x = torch.ones(4, 4, dtype=torch.bfloat16)
    for new in (x.clone(), torch.ones(0), torch.ones(4, device="meta")):
        check.separate(new, x)
    check.separate(x[:, ::2], x[:, 1::2])
    check.separate(torch.ones(3), torch.ones(3).numpy())
    y = torch.ones(3, requires_grad=True)
    for old, other in ((x.T, x), (x[1:3], x[2:]), (y.detach(), y), (y.detach().numpy()[1:], [y])):
        with pytest.raises(check.Mismatch):
            check.separate(old, other)


@pytest.mark.frameworks
def test_a_tensor_that_was_changed_in_place_is_named() -> None:
    import torch

    weights = torch.ones(2, requires_grad=True)
    with check.unchanged(w=weights):
        weights * 2

    def body() -> None:
        with check.unchanged(w=weights), torch.no_grad():
            weights.mul_(2)

    assert message(body).startswith("expected w to stay as it was")


@pytest.mark.frameworks
@pytest.mark.parametrize("asks", [True, False])
def test_a_tensor_that_no_longer_asks_for_a_gradient_or_does_now_was_changed(asks: bool) -> None:
    import torch

    logits = torch.ones(2, requires_grad=asks)
    with check.unchanged(logits=[logits]):
        logits.detach().requires_grad_(not asks)

    def body() -> None:
        with check.unchanged(logits=[logits]):
            logits.requires_grad_(not asks)

    assert message(body).startswith("expected logits to stay as it was")


def test_an_error_inside_unchanged_is_the_error_that_is_reported() -> None:
    with pytest.raises(ZeroDivisionError), check.unchanged(x=np.ones(2)):
        1 / 0  # noqa: B018


def test_outside_a_case_an_expectation_raises_an_assertion_error() -> None:
    with pytest.raises(AssertionError, match="expected 2, got 1"):
        check.close(1, 2)


# -------------------------------------------------------------------------------------------------------------- guards
@pytest.mark.parametrize(("others", "points"), [([True], 2), ([False], 0), ([], 0), ([True, False], 1.33)])
def test_a_guard_counts_only_beside_a_case_that_passes(others: list[bool], points: float) -> None:
    check.begin()
    with check.case("nothing is changed", guard=True):
        pass
    for number, passes in enumerate(others):
        with check.case(f"case {number}"):
            check.true(passes, "it")
    result = check.score(2)
    assert result.points == points
    said = result.cases[0]
    assert said.passed == bool(points)
    assert said.message == ("" if points else "counts once another case passes")


@pytest.mark.parametrize(("seen", "points"), [((False, False), 0.0), ((True, False), 0.75), ((True, True), 1.0)])
def test_hidden_cases_count_only_beside_one_that_students_see(seen: tuple[bool, ...], points: float) -> None:
    for number, passes in enumerate(seen):
        with check.case(f"example {number}"):
            check.equal(passes, True)
    for number in range(2):
        with check.hidden_case(f"hidden {number}"):
            check.equal(1, 1)
    found = check.score(1)
    assert found.points == points
    assert {case.message for case in found.cases if case.hidden} == (
        {""} if points else {"counts once another case passes"}
    )
    assert "counts once another case passes" in str(found) or points


def test_hidden_cases_alone_count() -> None:
    with check.hidden_case("a"):
        check.equal(1, 1)
    with check.hidden_case("b"):
        check.equal(1, 2)
    assert check.score(1).points == 0.5


def test_a_guard_that_fails_says_why() -> None:
    check.begin()
    with check.hidden_case("nothing is changed", guard=True):
        check.equal(1, 2)
    assert check.score(1).cases[0].message == "expected 2, got 1"


# ---------------------------------------------------------------------------------------- essential cases, second hints
@pytest.mark.parametrize(
    ("essential", "others", "points"),
    [(True, [True, True], 4), (False, [True, True, True], 2), (False, [True, False, False], 1), (True, [False], 2)],
)
def test_without_an_essential_case_at_most_half_of_the_points_are_earned(
    essential: bool, others: list[bool], points: float
) -> None:
    check.begin()
    with check.case("what the task is about", essential=True):
        check.true(essential, "it")
    for number, passes in enumerate(others):
        with check.case(f"case {number}"):
            check.true(passes, "it")
    result = check.score(4)
    assert result.points == points
    assert ("at most half of the points" in str(result)) == (not essential)


def test_a_second_hint_opens_on_demand_and_only_where_the_case_failed() -> None:
    check.begin()
    for good in (True, False):
        with check.case(f"case {good}", hint="the maximum of each row", more="keepdims keeps the shape"):
            check.true(good, "it")
    passed, failed = check.score(1).cases
    assert (passed.hint, passed.more) == ("", "")
    assert (failed.hint, failed.more) == ("the maximum of each row", "keepdims keeps the shape")
    assert "<details><summary>Another hint</summary>keepdims keeps the shape</details>" in failed.html()
    assert "keepdims" not in str(failed)


def test_a_second_hint_stays_away_where_the_exception_says_better_what_to_do() -> None:
    check.begin()
    with check.case("spelled otherwise", hint="a", more="b"):
        _raise(NameError("name 'softmx' is not defined", name="softmx"))
    (case,) = check.score(1).cases
    assert "is `softmx` spelled exactly so" in case.hint and not case.more


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ('raise NotImplementedError("Task 3: softmax")', "NotImplementedError"),
        ("torch.library_call()", "Error"),
        ("", "NotImplementedError"),
    ],
)
def test_what_a_library_has_not_implemented_is_no_unfinished_task(line: str, error: str) -> None:
    check.begin()
    raised = NotImplementedError("Could not run 'aten::x' with arguments from the 'Y' backend")
    raised.notebook_line = f"in softmax, line 3: {line}" if line else ""  # type: ignore[attr-defined]
    with check.case("a case", hint="look here"):
        _raise(raised)
    (case,) = check.score(1).cases
    assert case.error == error
    assert case.message.startswith("not implemented yet") == (error != "Error")
    assert case.hint.startswith("in the line above: what comes into each call") == (error == "Error")
    assert case.more == ("look here" if error == "Error" else "")


def _raise(error: Exception) -> None:
    raise error


def test_an_answer_that_was_right_before_is_known_again() -> None:
    check.begin()
    first, second = np.array([0.25, 1.5]), np.array([0.5, 1.5])
    with check.case("two numbers"):
        check.close(first, first)
        check.close(1, 1)
    with check.case("two others", hint="halve them"):
        check.close(first, second)
    with check.hidden_case("hidden", hint="halve them"):
        check.equal([first, 1], [second, 1])
    with check.hidden_case("hidden, alone", hint="halve them"):
        check.equal(first.copy(), second)
    with check.case("a small number comes by chance", hint="one more"):
        check.equal(1, 2)
    with check.case("a wrong answer is not remembered", hint="halve them"):
        check.close(second * 3, second)
    with check.case("nor known again", hint="halve them"):
        check.close(second * 3, second)
    hints = [case.hint for case in check.score(1).cases]
    again = "to the last digit this is what was right in 'two numbers': was it kept from there"
    assert [hint.startswith(again) for hint in hints] == [False, True, False, True, False, False, False]
    assert hints[4:] == ["one more", "halve them", "halve them"]


STUDENTS = {
    "calls": ("def f(x):\n    return len(x, 3)", "in the line above: what comes into each call"),
    "an index": ("def f(x):\n    return np.array(x)[7]", "over axis=1"),
    "shapes in a call": ("def f(x):\n    return np.dot(x, np.ones(7))", "in the line above: what comes into each call"),
    "raises itself": ("def f(x):\n    raise ValueError(f'no plan in {x}')", "over axis=1"),
    "other arguments": ("def f():\n    return 1", "keep the name and the arguments that the stub has"),
    "no return": ("def f(x):\n    x[0]", "does every path of the function end in a return?"),
    "none within": (
        "def f(x):\n    return None.T",
        "does every path of the function that made what is None in the line",
    ),
}


@pytest.mark.parametrize(("code", "says"), STUDENTS.values(), ids=STUDENTS)
def test_an_error_of_a_line_of_the_students_sends_there(code: str, says: str) -> None:
    test = "with check.case('one', hint='over axis=1'):\n    f([1.0, 2.0]).sum()"
    check.begin()
    names = {"__name__": "__main__", "np": np, "check": check}
    for text, place in ((code, "<student>"), (test, "<test>")):
        linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
        exec(compile(text, place, "exec"), names)
    (case,) = check.score(1).cases
    assert case.hint.startswith(says), case
    assert case.more == ("over axis=1" if says.startswith("in the line") else "")


def test_of_a_hidden_case_students_read_what_sort_of_mistake_it_is_and_no_value() -> None:
    wanted = np.array([[0.125, -2.5], [3.75, 4.0]])
    mistakes: dict[str, Callable[[], object]] = {
        "another shape came": lambda: check.close(wanted[0], wanted),
        "another type came": lambda: check.close("0.125", wanted),
        "another dtype came": lambda: check.close(np.float32(wanted), wanted, rtol=1, dtype="float64"),
        "all numbers differ: each has the other sign": lambda: check.close(-wanted, wanted),
        "one number differs: only signs differ": lambda: check.close(abs(wanted), wanted),
        "all numbers differ: each is so many times what is expected": lambda: check.close(wanted * 3, wanted),
        "all numbers differ: each is wrong by the same amount": lambda: check.close(wanted + 3, wanted),
        "one number differs: not all are finite": lambda: check.close([1.5, np.nan], [1.5, 2.5]),
        "some numbers differ": lambda: check.close(wanted + np.array([0, 1]), wanted),
        "the number differs": lambda: check.close(0.125, 2.5),
        "another value came": lambda: check.equal("relu", "tanh"),
        "too few items came": lambda: check.equal([1], [1, 2]),
        "too many items came": lambda: check.equal([1, 2, 3], [1, 2]),
        "other keys came": lambda: check.equal({"a": 1}, {"b": 1}),
        "nothing was raised": lambda: check.raises(ValueError, len, []),
        "the number is beyond its bound": lambda: check.at_most(3.75, 2.5),
        "another number of calls": lambda: check.calls(check.counted(len), 3),
        "the gradient differs": lambda: check.gradient(lambda x: (x**2).sum(), [1.5], [1.25]),
        "an error was raised": lambda: dict[str, int]()["0.125"],
        "not implemented yet": lambda: _raise(NotImplementedError("Task 3: softmax")),
    }
    check.begin()
    for make in mistakes.values():
        with check.hidden_case("a case"):
            make()
    score = check.score(1)
    assert [case.reason() for case in score.cases] == list(mistakes)
    shown = str(score) + score._repr_mimebundle_()["text/html"]
    assert not [value for value in ("0.125", "2.5", "3.75", "1.25", "relu", "tanh") if value in shown]
