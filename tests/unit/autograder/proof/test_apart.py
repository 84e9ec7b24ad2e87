"""What becomes of arguments that a fault changes in place, where a test hands them over and where it does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autograder.proof import apart, wrongly
from labkit import check
from labkit._values import remotes


@pytest.fixture(autouse=True)
def test_cell() -> Iterator[None]:
    apart.tests.add("<a-check>")
    yield
    apart.tests.discard("<a-check>")
    remotes.clear()


def called(source: str, **names: Any) -> dict[str, Any]:
    """Run this as the cell of a test, with a function that changes its argument x."""
    space: dict[str, Any] = names | {"f": wrongly.changing("x")(lambda x, y=None: 3), "check": check, "np": np}
    exec(compile(source, "<a-check>", "exec"), space)
    return space


@pytest.mark.parametrize("x", [np.ones(2), [1, 2], {"a": 1}, [np.ones(2)]])
def test_what_a_test_hands_over_stays_as_it_was_and_is_known_to_be_changed(x: Any) -> None:
    before = repr(x)
    called("f(x)\nf(y=1, x=x)", x=x)
    assert repr(x) == before
    with pytest.raises(check.Mismatch):
        called("with check.unchanged(x=x): f(x)", x=x)
    called("with check.unchanged(x=x): f(1, x)", x=x)
    called("f(x)\nwith check.unchanged(x=x): pass", x=x)


def test_an_array_within_a_list_counts_if_it_is_handed_over_itself() -> None:
    rows = [np.ones(2), np.ones(2)]
    with pytest.raises(check.Mismatch):
        called("with check.unchanged(rows=rows): f(rows[1])", rows=rows)


def test_what_is_shared_is_changed_and_so_is_what_another_function_hands_over() -> None:
    x = np.ones(2)
    called("f(check.shared(x))", x=x)
    assert x.tolist() == [2, 2]
    y = np.ones(2)
    called("g(f, y)", y=y, g=lambda f, y: f(y))
    assert y.tolist() == [2, 2]


def test_checks_that_call_a_function_hand_over_copies_too() -> None:
    x = np.ones(2)
    with pytest.raises(check.Mismatch):
        called(
            "with check.unchanged(x=x):\n    try: check.raises(ValueError, f, x)\n    except check.Mismatch: pass", x=x
        )
    assert x.tolist() == [1, 1]


def given_back(source: str) -> dict[str, Any]:
    """Run this as the cell of a test, with a function that puts all its results into one array or list."""
    reused = wrongly.one_list if "array" not in source else wrongly.one_buffer
    space: dict[str, Any] = {"f": reused(lambda x: x), "check": check, "np": np}
    exec(compile(source, "<a-check>", "exec"), space)
    return space


@pytest.mark.parametrize(
    ("one", "other"), [("np.array([1, 1])", "np.array([0, 0])"), ("[1, 2]", "[3]"), ("(3, [1.5])", "(3, [])")]
)
def test_what_a_test_got_stays_as_it_was_but_checks_see_what_it_is_a_copy_of(one: str, other: str) -> None:
    space = given_back(f"first = f({one})\nsecond = f({other})")
    assert repr(space["first"]) == repr(eval(one, {"np": np}))
    given_back(f"first = f({one})\nf({other})\ncheck.equal(first[0], ({one})[0])")
    with pytest.raises(check.Mismatch):
        given_back(f"first = f({one})\nf({other})\ncheck.equal(first, {one})")
    with pytest.raises(check.Mismatch):
        given_back(f"first = f({one})\nwith check.unchanged(first=first): f({other})")
    with pytest.raises(check.Mismatch):
        given_back(f"first = f({one})\ncheck.separate(f({other}), first)")
    given_back(f"first = f({one})\nwith check.unchanged(first=first): pass")
