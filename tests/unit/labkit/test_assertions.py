"""Two values agree or they do not, and the sentence that says so names the place, what was expected and what came."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from labkit._assertions import Mismatch, as_array, compare, real, same

ANY_SHAPE = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
FINITE = arrays.arrays(np.float64, ANY_SHAPE, elements=st.floats(-1e300, 1e300))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.complex_numbers()
NESTED = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
)


def close(got: object, want: object, rtol: float = 1e-5, atol: float = 1e-8, **more: Any) -> None:
    compare(got, want, rtol=rtol, atol=atol, **more)


def message(function: Callable[..., object], *args: Any, **kwargs: Any) -> str:
    with pytest.raises(Mismatch) as caught:
        function(*args, **kwargs)
    return str(caught.value)


# ------------------------------------------------------------------------------------------------------------- numbers
@given(FINITE)
def test_every_finite_array_is_close_to_itself_at_any_tolerance(x: np.ndarray[Any, Any]) -> None:
    close(x, x.copy(), rtol=0, atol=0)
    close(x, x.copy())
    if x.size:
        close(x.tolist(), x, rtol=0, atol=0)


@given(FINITE.filter(lambda x: x.size > 0), st.data())
def test_one_moved_entry_is_found_and_named(x: np.ndarray[Any, Any], data: st.DataObject) -> None:
    index = tuple(data.draw(st.integers(0, side - 1)) for side in x.shape)
    moved = x.copy()
    moved[index] += 1.0 + abs(moved[index])
    text = message(close, moved, x)
    assert (f"[{', '.join(map(str, index))}]" in text) == bool(index)
    assert ("1 of" in text) == (x.size > 1)


@given(FINITE, st.floats(0, 1e-3), st.floats(0, 1e-3))
def test_what_is_within_the_tolerance_agrees(x: np.ndarray[Any, Any], rtol: float, atol: float) -> None:
    moved = x + 0.9 * (atol + rtol * np.abs(x))
    rounding = 4 * np.finfo(np.float64).eps  # of the sum itself
    close(moved, x, rtol=rtol + rounding, atol=atol + 1e-290)


@given(FINITE, FINITE)
def test_two_shapes_never_agree(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> None:
    if x.shape != y.shape:
        assert "expected" in message(close, x, y)


@pytest.mark.parametrize(
    ("got", "want", "text"),
    [
        ([1.0, 2.5], [1.0, 2.0], "f: expected 2 at [1], got 2.5 (1 of 2 values differ)"),
        (2.5, 2.0, "f: expected 2, got 2.5"),
        (np.ones((2, 3)), np.ones((3, 2)), "f: expected shape (3, 2), got (2, 3)"),
        (1.0, [1.0, 2.0], "f: expected an array of shape (2,), got a number"),
        ([1.0], 1.0, "f: expected a number, got an array of shape (1,)"),
        ([], [1.0], "f: expected shape (1,), got (0,)"),
        ([1.0, math.nan], [1.0, 2.0], "f: expected 2 at [1], got nan (1 of 2 values differ)"),
        ([math.inf], [1.0], "f: expected 1 at [0], got inf"),
        ([5.0], [math.inf], "f: expected a number at [0] to compare with, got inf there"),
        ([-math.inf], [1.0, -math.inf], "f: expected shape (2,), got (1,)"),
        ([1.0], [math.nan], "f: expected a number at [0] to compare with, got nan there"),
        ([True, False], [1.0, 2.0], "f: expected 2 at [1], got False (1 of 2 values differ)"),
        ([1.0, 2 + 1j], [1.0, 2.0], "f: expected 2 at [1], got 2+1j (1 of 2 values differ)"),
        ("ab", [1.0, 2.0], "f: expected an array of shape (2,), got the str 'ab'"),
        ([[1.0], [1.0, 2.0]], [1.0], "f: expected an array of shape (1,), got the list [[1.0], [1.0, 2.0]], whose"),
        (np.array([1.0, None]), [1.0, 2.0], "f: expected an array of shape (2,), got an array of shape (2,) and dtype"),
        (None, 1.0, "f: expected a number, got None\nlook at: does every path of the function end in a return?"),
        ([1.0], None, "the value to compare with: expected numbers, got None"),
        (1.0000004, 1.0, "f: expected 1, got 1.0000004"),
    ],
)
def test_each_kind_of_difference_has_its_sentence(got: object, want: object, text: str) -> None:
    assert message(close, got, want, rtol=0.0, name="f").startswith(text)


def test_an_infinity_is_compared_only_if_the_test_asks_for_it() -> None:
    text = "f: expected a number at [1] to compare with, got -inf there"
    assert message(close, [1.0, -math.inf], [1.0, -math.inf], name="f") == text
    close([1.0, -math.inf], [1.0, -math.inf], infinite=True)
    assert message(close, [5.0], [math.inf], infinite=True, name="f") == "f: expected inf at [0], got 5"
    assert message(close, [-math.inf], [math.inf], infinite=True, name="f") == "f: expected inf at [0], got -inf"
    text = "expected a number to compare with, got nan there"
    assert message(close, math.nan, math.nan, infinite=True) == text


def test_the_hint_of_the_check_is_kept() -> None:
    assert message(close, None, 1.0, hint="use mean").endswith("\nlook at: use mean")
    assert message(close, 2.0, 1.0, hint="use mean").endswith("\nlook at: use mean")


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64, np.uint64, np.float16, np.float32, bool])
def test_small_types_do_not_wrap_around_or_overflow(dtype: type) -> None:
    limits: np.ndarray[Any, Any] = np.array([0, 1, 100], dtype)
    close(limits, limits)
    assert "expected" in message(close, limits[::-1], limits)


def test_huge_numbers_are_subtracted_without_a_warning() -> None:
    assert "expected -1.7e+308 at [0]" in message(close, [1.7e308], [-1.7e308])


def test_without_a_tolerance_large_integers_are_exact() -> None:
    close(np.array([2**62 + 1]), np.array([2**62 + 1]), rtol=0, atol=0)
    text = message(close, np.array([2**62 + 1]), np.array([2**62]), rtol=0, atol=0)
    assert text == "expected 4611686018427387904 at [0], got 4611686018427387905"


def test_the_dtype_is_asked_for_only_if_it_is_given() -> None:
    x = np.ones(2, np.float32)
    close(x, [1.0, 1.0])
    close(x, [1.0, 1.0], dtype="float32")
    assert message(close, x.astype(float), x, dtype="float32", name="f") == "f: expected dtype float32, got float64"
    assert message(close, [1.0, 1.0], x, dtype="float32") == "expected dtype float32, got the list [1.0, 1.0]"


@pytest.mark.frameworks
def test_tensors_are_compared_like_arrays() -> None:
    import torch

    half = torch.tensor([1.0, 2.5], dtype=torch.bfloat16, requires_grad=True)
    close(half, [1.0, 2.5], dtype="bfloat16")
    close([1.0, 2.5], half)
    assert message(close, half, [1.0, 2.0]) == "expected 2 at [1], got 2.5 (1 of 2 values differ)"
    assert message(close, half, [1.0, 2.5], dtype="float32") == "expected dtype float32, got bfloat16"
    same(torch.tensor([1, 2]), torch.tensor([1, 2]))
    assert (
        message(same, torch.tensor([1, 2]), torch.tensor([1, 3])) == "expected 3 at [1], got 2 (1 of 2 values differ)"
    )
    assert message(same, torch.tensor(3), 3) == "expected the int 3, got a value of type Tensor"
    same(torch.float32, torch.float32)
    assert message(same, torch.float32, torch.float64) == "expected torch.float64, got torch.float32"


def test_a_million_numbers_are_compared_in_a_moment() -> None:
    x = np.zeros((1000, 1000))
    y = x.copy()
    y[999, 998] = 1
    assert message(close, y, x) == "expected 0 at [999, 998], got 1 (1 of 1000000 values differ)"


@pytest.mark.parametrize("value", [True, 1j, [1.0], None, "1", np.ones(1)])
def test_a_real_number_is_neither_a_bool_nor_complex_nor_an_array(value: object) -> None:
    assert message(real, value, "a number", "f", "").startswith("f: expected a number, got ")


def test_a_real_number_may_come_from_numpy() -> None:
    assert real(np.float32(0.5), "a number", "", "") == 0.5
    assert real(np.array(2), "a number", "", "") == 2.0
    assert as_array(3, "a number", "", "").shape == ()


# ------------------------------------------------------------------------------------------------------ any other value
@given(NESTED)
def test_every_value_is_the_same_as_its_copy(value: object) -> None:
    import copy

    same(copy.deepcopy(value), value)


@given(st.lists(st.integers(), min_size=1), st.data())
def test_one_changed_item_of_a_list_is_found_and_named(items: list[int], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(items) - 1))
    changed = [*items]
    changed[index] += 1
    assert f"at [{index}]" in message(same, changed, items)


@given(NESTED, NESTED)
def test_what_is_the_same_is_also_equal_in_python(a: object, b: object) -> None:
    try:
        same(a, b)
    except Mismatch:
        return
    assert type(a) is type(b)
    assert repr(a) == repr(b) or a == b or ("nan" in repr(a) and "nan" in repr(b)), "a complex NaN has many forms"


@pytest.mark.parametrize(
    ("got", "want", "text"),
    [
        (True, 1, "f: expected the int 1, got the bool True"),
        (1.0, 1, "f: expected the int 1, got the float 1.0"),
        ((1, 2), [1, 2], "f: expected the list [1, 2], got the tuple (1, 2)"),
        ([1, True], [1, 1], "f: expected the int 1 at [1], got the bool True"),
        ([1, 2], [1, 2, 3], "f: expected 3 items, got 2: [1, 2]"),
        (
            [*range(9), "x", 10],
            list(range(10)),
            "f: expected 10 items, got 11: [0, 1, 2, 3, 4, 5, ...]; at [9] 'x' in place of 9",
        ),
        (
            list(range(9)),
            list(range(8)),
            "f: expected 8 items, got 9: [0, 1, 2, 3, 4, 5, ...]; at [8] 8 in place of nothing",
        ),
        ([[1, 2], [3, 4]], [[1, 2], [3, 5]], "f: expected 5 at [1][1], got 4"),
        ({"a": 1}, {"a": 1, "b": 2}, "f: expected the keys {'a', 'b'}, got {'a'}"),
        (ValueError, KeyError, "f: expected KeyError, got ValueError"),
        ({"a": [1]}, {"a": [2]}, "f: expected 2 at ['a'][0], got 1"),
        ({1: "x"}, {True: "x"}, "f: expected the keys {True}, got {1}"),
        ({1, 2}, {1, 3}, "f: expected {1, 3}, got {1, 2}"),
        ({1}, {1.0}, "f: expected {1.0}, got {1}"),
        ("a", "b", "f: expected 'b', got 'a'"),
        (0.1 + 0.2, 0.3, "f: expected 0.3, got 0.30000000000000004"),
        (3, None, "f: expected None, got the int 3"),
        (None, 3, "f: expected the int 3, got None\nlook at: does every path of the function end in a return?"),
        ([1, 2], np.array([1, 2]), "f: expected an array of integers, got the list [1, 2]"),
        (np.array([1, 2]), [1, 2], "f: expected the list [1, 2], got an array of shape (2,) and dtype int64"),
        (np.array([1.0]), np.array([1]), "f: expected an array of integers, got dtype float64"),
        (np.array([True]), np.array([1]), "f: expected an array of integers, got dtype bool"),
        (np.array([1, 2]), np.array([1, 3]), "f: expected 3 at [1], got 2 (1 of 2 values differ)"),
        (np.ones((2, 1)), np.ones(2), "f: expected shape (2,), got (2, 1)"),
        ({"w": np.array([1])}, {"w": np.array([2])}, "f at ['w']: expected 2 at [0], got 1"),
    ],
)
def test_values_that_are_not_the_same_say_where(got: object, want: object, text: str) -> None:
    assert message(same, got, want, name="f") == text


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (np.int64(3), 3),
        ([np.float64(0.5)], [0.5]),
        (math.nan, math.nan),
        (np.array([1, math.nan]), np.array([1, math.nan])),
        (np.array([1], np.int32), np.array([1], np.int64)),
        ({"b": 2, "a": 1}, {"a": 1, "b": 2}),
        ({(1, 2), (3, 4)}, {(3, 4), (1, 2)}),
        (ValueError, ValueError),
    ],
)
def test_values_that_are_the_same(got: object, want: object) -> None:
    same(got, want)


class Yes:
    """Says that it equals everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return hash(3)


class YesInt(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = int.__hash__


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (Yes(), 3),
        ([Yes()], [3]),
        ({Yes()}, {3}),
        ({Yes(): 1}, {3: 1}),
        ((Yes(),), (3,)),
        (YesInt(5), 3),
        ([YesInt(5)], [3]),
        ({YesInt(5)}, {3}),
        ({"a": YesInt(5)}, {"a": 3}),
        (Yes(), np.array([3])),
        (np.array([Yes()]), np.array([3])),
    ],
)
def test_a_value_that_claims_to_equal_everything_equals_nothing(got: object, want: object) -> None:
    with pytest.raises(Mismatch):
        same(got, want)
    with pytest.raises(Mismatch):
        compare(got, 3, rtol=0.0, atol=0.0)
