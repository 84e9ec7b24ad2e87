"""Faults of what nobody looked at: what they spoil, and what they leave alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from autograder.proof import unseen, wrongly
from autograder.proof.met import met


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    met.clear()


def same(value: Any) -> Any:
    return value


PAIRS = [("a", 1), ("b", 0), ("c", 1), ("d", 0)]


def second(pair: tuple[str, int]) -> int:
    return pair[1]


def test_of_equal_items_the_last_is_first() -> None:
    assert unseen.ties(max)(PAIRS, key=second) == ("c", 1)
    assert unseen.ties(min)(*PAIRS, key=second) == ("d", 0)
    assert [name for name, _ in unseen.ties(sorted)(PAIRS, key=second)] == ["d", "b", "c", "a"]
    assert [name for name, _ in unseen.ties(sorted)(PAIRS, key=second, reverse=True)] == ["c", "a", "d", "b"]
    items = list(PAIRS)
    unseen.ties(items.sort)(key=second)
    assert [name for name, _ in items] == ["d", "b", "c", "a"]
    assert not wrongly.idle()


def test_a_part_of_a_name_counts_as_the_name() -> None:
    names = {"norm", "exp"}
    assert unseen.within("norm", "in", names)
    assert unseen.within("batch_norm", "in", names)
    assert not unseen.within("batch_norm", "not in", names)
    assert unseen.within("relu", "not in", dict.fromkeys(names))
    assert not wrongly.idle()
    met.clear()
    assert unseen.within(2, "in", [1, 2])
    assert unseen.within("a", "in", "abc")
    assert wrongly.idle(), "no texts among which a part could be one"


def test_of_equal_numbers_in_arrays_the_last_is_first() -> None:
    x = np.array([[3, 5, 5], [1, 0, 1]])
    assert unseen.ties(np.argmax)(x, axis=1).tolist() == [2, 2]
    assert unseen.ties(np.argmax)(x, 1).tolist() == [2, 2]
    assert unseen.ties(x.argmax)() == 2
    assert unseen.ties(np.argmin)([1, 0, 0]) == 2
    assert unseen.ties(partial_named(np.argsort))(np.array([2, 1, 1]), kind="stable").tolist() == [2, 1, 0]
    square = np.array([[2, 1], [1, 2]])
    assert unseen.ties(np.argsort)(square, kind="stable").tolist() == [[1, 0], [0, 1]]
    assert unseen.ties(np.argsort)(square, axis=None, kind="stable").tolist() == [2, 1, 3, 0]
    assert unseen.ties(np.argsort)(square, None, kind="stable").tolist() == [2, 1, 3, 0]
    assert not wrongly.idle()


def partial_named(function: Any) -> Any:
    """Return it as a test may hand it over, with its name."""
    wrapped = partial(function)
    wrapped.__name__ = function.__name__  # type: ignore[attr-defined]
    return wrapped


@pytest.mark.parametrize(
    "items",
    [[3, 1, 3], ["b", "a", "b"], [np.int64(1), np.float32(1)], [(1, 2)]],
    ids=["numbers", "texts", "scalars", "one"],
)
def test_where_nobody_could_tell_which_of_two_was_taken_a_tie_is_idle(items: list[Any]) -> None:
    assert unseen.ties(sorted)(items) == sorted(items)
    assert unseen.ties(max)(items) == max(items)
    assert wrongly.idle()


@pytest.mark.parametrize(
    ("sign", "near", "far"),
    [
        ("==", True, False),
        ("!=", False, True),
        ("<", False, True),
        ("<=", True, True),
        (">", False, False),
        (">=", True, False),
    ],
)
def test_floats_that_differ_by_a_ten_millionth_are_equal(sign: str, near: bool, far: bool) -> None:
    assert unseen.nearly(1.0, sign, 1.0 + 1e-7) == near
    assert unseen.nearly(1.0 + 1e-7, sign, 1.0) == near
    assert unseen.nearly(1, sign, 1.1) == far
    assert unseen.nearly(np.array([1.0, 1.0]), sign, np.array([1.0000001, 1.1])).tolist() == [near, far]
    assert unseen.nearly(float("inf"), sign, float("inf")) == (sign in ("==", "<=", ">="))
    assert unseen.nearly(1.0, sign, float("inf")) == (sign in ("!=", "<", "<="))


def test_what_is_no_float_is_compared_as_it_is() -> None:
    assert unseen.nearly(10**9, "<", 10**9 + 1)
    assert unseen.nearly("a", "<", "b")
    assert unseen.nearly([1.0], "==", [1.0])
    assert wrongly.idle()


def test_halves_are_rounded_up() -> None:
    assert [unseen.half_up(round)(x) for x in (0.5, 1.5, 2.5, -0.5, -1.5, 0.49)] == [1, 2, 3, 0, -1, 0]
    assert unseen.half_up(np.rint)(np.array([0.5, 2.5])).tolist() == [1, 3]
    assert unseen.half_up(np.array([0.5, 2.5]).round)().tolist() == [1, 3]
    met.clear()
    assert (unseen.half_up(round)(0.25, 1), unseen.half_up(round)(3)) == (0.2, 3)
    assert wrongly.idle()


def test_a_result_is_given_again_to_arguments_as_long() -> None:
    by_length = unseen.cached_by_length(same)
    assert by_length(["a", "b"]) is by_length(["c", "d"])
    assert by_length(["c"]) == ["c"]
    assert by_length({"x": 1}) is by_length({"y": 2})
    assert by_length(3) == by_length(4) == 3


def test_a_method_s_result_is_given_again_to_other_instances() -> None:
    class Layer:
        def __init__(self, value: int) -> None:
            self.value = value

        @unseen.cached_by_class
        def forward(self, x: int) -> int:
            return self.value * x

    assert (Layer(2).forward(1), Layer(3).forward(1), Layer(3).forward(2)) == (2, 2, 6)


def test_an_argument_is_seen_in_order_or_each_item_once() -> None:
    assert unseen.ordered("value")(same)([3, 1, 2]) == [1, 2, 3]
    assert unseen.ordered("value")(same)({"x": ([2, 1], 5, [[1, 0]])}) == {"x": ([1, 2], 5, [[0, 1]])}
    assert unseen.ordered("value")(same)(np.array([3.0, 1.0])).tolist() == [1.0, 3.0]
    assert unseen.distinct("value")(same)(([3, 1, 3],)) == ([3, 1],)
    assert unseen.distinct("value")(same)(np.array([3, 1, 3])).tolist() == [3, 1]
    assert not wrongly.idle()


@pytest.mark.parametrize("value", [(2, 1, 1), np.eye(2), "ba", {"b": 1}], ids=["tuple", "matrix", "text", "dict"])
def test_what_has_no_order_of_its_own_is_left_alone(value: Any) -> None:
    assert unseen.ordered("value")(same)(value) is value or unseen.ordered("value")(same)(value) == value
    assert wrongly.idle()


@pytest.mark.parametrize("make", [np.random.default_rng, random.Random], ids=["numpy", "python"])
def test_a_generator_goes_too_far_or_stays(make: Any) -> None:
    def draw(rng: Any) -> float:
        return float(rng.random())

    first, second, third = (make(0), make(0), make(0))
    assert draw(first) == unseen.advanced("rng")(draw)(second) == unseen.copied("rng")(draw)(third)
    after = [draw(rng) for rng in (first, second, third)]
    assert after[0] != after[1]
    assert after[2] == draw(make(0))
    assert not wrongly.idle()


@pytest.mark.frameworks
def test_tensors_too() -> None:
    import torch

    assert unseen.ties(torch.argmax)(torch.tensor([1, 2, 2])).item() == 2
    assert unseen.ties(torch.tensor([[1, 2, 2]]).argmax)(dim=1).tolist() == [2]
    assert unseen.nearly(torch.tensor([1.0]), "==", 1 + 1e-7).tolist() == [True]
    assert unseen.half_up(torch.round)(torch.tensor([0.5, 2.5])).tolist() == [1, 3]
    assert unseen.ordered("value")(same)(torch.tensor([2, 1])).tolist() == [1, 2]
    generators = [torch.Generator().manual_seed(0) for _ in range(3)]
    unseen.advanced("value")(same)(generators[1])
    torch.rand(1, generator=unseen.copied("value")(same)(generators[2]))
    drawn = [torch.rand(1, generator=generator).item() for generator in generators]
    assert drawn[0] == drawn[2] != drawn[1]


@pytest.mark.parametrize(
    ("shape", "seen"), [((1, 3), (3,)), ((3, 1), (3,)), ((2, 1, 3), (2, 3)), ((1, 1), (1,)), ((2, 3), (2, 3))]
)
def test_axes_of_length_one_are_dropped(shape: tuple[int, ...], seen: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch")
    for array in (np.zeros(shape), torch.zeros(shape)):
        assert tuple(unseen.squeezed("value")(same)(array).shape) == seen
    assert not wrongly.idle()  # also where no side is 1: one could be


def test_what_has_one_axis_has_none_to_drop() -> None:
    for value in (np.zeros(1), [[1.0]], 3.0):
        assert unseen.squeezed("value")(same)(value) is value
    assert wrongly.idle()
