"""How wrong numbers are related to the expected ones is said where a rule is seen, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from labkit import check
from labkit._relations import relation

W = np.array([0.5, -1.25, 3.1, 0.0])
SQUARE = np.array([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("got", "want", "said"),
    [
        (-W, W, "each has the other sign"),
        (4 * W, W, "each is 4 times what is expected"),
        (W / 3, W, "each is 0.3333 times what is expected"),
        (W + 0.25, W, "each is 0.25 too large"),
        (W - 1, W, "each is 1 too small"),
        (W[::-1], W, "in reverse order"),
        (W[[1, 0, 3, 2]], W, "the same numbers in another order"),
        (SQUARE.T, SQUARE, "rows and columns have changed places"),
        (SQUARE[:, ::-1], SQUARE, "in reverse order along axis 1"),
        (np.float16(W), W, "each is rounded as float16 rounds"),
        (np.rint(W), W, "each is rounded to a whole number"),
        (np.trunc([0.5, 2.75]), np.array([0.5, 2.75]), "each is cut to a whole number"),
        (np.array([2, 4, 6]), np.array([1, 2, 3]), "each is 2 times what is expected"),
        (W + np.array([0, 0, 0, 1]), W, ""),
        (np.array([2.0]), np.array([1.0]), ""),
        (np.array([2.0, 2.0]), np.array([1.0, 1.0]), ""),
        (np.array([np.nan, 2.0]), np.array([1.0, 2.0]), ""),
        (np.array([True, False]), np.array([False, True]), ""),
        (np.zeros(3), np.array([1.0, 2.0, 3.0]), "all are 0"),
    ],
)
def test_a_rule_is_seen(got: np.ndarray, want: np.ndarray, said: str) -> None:
    assert relation(got, want) == said


@given(st.lists(st.floats(-(2.0**90), 2.0**90, width=32), min_size=2, max_size=6))
def test_bfloat16_is_torch_s(values: list[float]) -> None:
    from labkit._relations import _bfloat16

    assert np.array_equal(_bfloat16(np.array(values)), torch.tensor(values).bfloat16().double().numpy())


def test_a_check_says_it() -> None:
    with pytest.raises(
        AssertionError, match=r"^w: expected 0.5 at \[0\], got 1 \(3 of 4 values differ: each is 2 times what"
    ):
        check.close(2 * W, W, name="w")
    with pytest.raises(AssertionError, match=r"\(4 of 4 values differ: in reverse order\)$"):
        check.equal(np.arange(4)[::-1].copy(), np.arange(4))
