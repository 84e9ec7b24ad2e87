"""Faults of a function: what they spoil, and what they leave alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import cloudpickle
import numpy as np
import pytest

from autograder.proof import wrongly
from autograder.proof.met import met
from labkit._values import remotes


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    met.clear()
    wrongly._kept.clear()
    remotes.clear()


def same(value: Any) -> Any:
    return value


def test_a_result_becomes_narrower_wider_or_rounded_wherever_it_stands() -> None:
    array = np.array([0.12345])
    assert wrongly.narrowed(same)((array, {"x": array}))[1]["x"].dtype == np.float32
    assert wrongly.widened(same)(array.astype(np.float32)).dtype == np.float64
    assert wrongly.rounded(same)([array, 0.12345])[1] == 0.123


def test_a_result_becomes_of_another_type() -> None:
    assert wrongly.zero_dimensional(same)((1.0, "x"))[0].shape == ()
    assert wrongly.list_for_tuple(same)((1, 2)) == [1, 2]
    assert wrongly.tuple_for_list(same)([1, 2]) == (1, 2)


def test_a_cached_result_is_given_to_arguments_of_the_same_form() -> None:
    by_shape = wrongly.cached_by_shape(same)
    assert by_shape(np.zeros(2)) is by_shape(np.ones(2))
    assert by_shape(np.zeros(3)).shape == (3,)
    by_first_call = wrongly.cached_by_first_call(same)
    assert by_first_call(1) == by_first_call(2) == 1


def test_one_buffer_holds_the_results_of_all_calls() -> None:
    reused = wrongly.one_buffer(same)
    first = reused(np.zeros(2))
    assert reused(np.ones(2)) is first
    assert reused([first]) is not reused([first])


def test_one_list_holds_the_items_of_the_last_call() -> None:
    reused = wrongly.one_list(same)
    first, other = reused([1, np.zeros(2)]), np.zeros(2)
    assert reused([2, other]) is first
    assert first[1] is other
    assert reused({"a": [3]}) is reused({"b": 4})
    assert reused({"b": 4}) == {"b": 4}


def test_what_is_kept_is_made_once() -> None:
    wrongly.kept("a", list).append(1)
    assert wrongly.kept("a", list) == [1]


@pytest.mark.parametrize("value", [np.zeros(2), [1, 2], {"a": 1}], ids=["array", "list", "dict"])
def test_an_argument_is_changed_in_place(value: Any) -> None:
    before = repr(value)
    wrongly.changing("value")(same)(value)
    assert repr(value) != before
    assert not wrongly.idle()


def test_an_argument_loses_digits_or_its_sign() -> None:
    assert wrongly.coarse("value")(same)(np.array([0.1, 2.0])).tolist() == [float(np.float16(0.1)), 2.0]
    assert wrongly.coarse("value")(same)(1e30) == 1e30
    assert wrongly.unsigned("value")(same)([np.array([-1.0]), -2])[1] == 2


def test_a_fault_that_met_nothing_it_could_spoil_is_idle() -> None:
    assert not wrongly.idle()
    wrongly.rounded(same)("text")
    assert wrongly.idle()
    wrongly.rounded(same)(1.0)
    assert not wrongly.idle()


def test_what_a_fault_meets_in_a_rank_is_known_where_ranks_are_forked_from() -> None:
    sent = cloudpickle.dumps(wrongly.rounded(lambda value: value))
    if (pid := os.fork()) == 0:
        cloudpickle.loads(sent)(0.12345)
        os._exit(0)
    os.waitpid(pid, 0)
    assert met.has("seen")
    assert not wrongly.idle()


def test_some_of_a_series() -> None:
    assert list(wrongly.without_last(range(3))) == [0, 1]
    assert list(wrongly.without_first(range(3))) == [1, 2]
    assert list(wrongly.first_only(range(3))) == [0]
