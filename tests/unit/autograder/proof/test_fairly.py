"""Other forms of a result: the same numbers, held by something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from autograder.proof import fairly
from autograder.proof.met import met

TORCH, ARRAY = torch.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
CHANGED: dict[str, list[tuple[Any, Callable[[Any], bool]]]] = {
    "numpy_scalar": [
        (2.5, lambda x: type(x) is np.float64),
        (3, lambda x: type(x) is np.int64),
        (True, lambda x: type(x) is np.bool_),
    ],
    "python_scalar": [(np.float64(2.5), lambda x: type(x) is float), (np.int32(3), lambda x: type(x) is int)],
    "integer": [(2.0, lambda x: type(x) is int)],
    "fortran": [
        (ARRAY, lambda x: x.flags.f_contiguous and not x.flags.c_contiguous),
        (TORCH, lambda x: x.stride() == (1, 2)),
    ],
    "strided": [(ARRAY, lambda x: x.strides[1] == 16), (TORCH, lambda x: x.stride() == (6, 2))],
    "view": [(ARRAY, lambda x: x.base is not None), (TORCH, lambda x: x.storage_offset() == 1)],
    "read_only": [(ARRAY, lambda x: not x.flags.writeable)],
    "subclass": [(ARRAY, lambda x: isinstance(x, np.ndarray) and type(x) is not np.ndarray)],
    "requires_grad": [(TORCH, lambda x: x.requires_grad and x.is_leaf)],
    "ordered": [({"a": 1}, lambda x: type(x) is not dict and isinstance(x, dict))],
    "named": [((1, 2), lambda x: x.part1 == 2)],
}
LEFT: dict[str, list[Any]] = {
    "numpy_scalar": [1 << 70, "text", None],
    "python_scalar": [np.float32(0.1), 2.5],
    "integer": [2.5, -0.0, float("inf")],
    "fortran": [np.arange(3), torch.ones(3), torch.ones(2, 2, requires_grad=True)],
    "requires_grad": [torch.arange(3), torch.ones(2, requires_grad=True) * 2],
    "named": [[1, 2]],
}


def test_each_form_is_tried_here() -> None:
    assert CHANGED.keys() == fairly.FORMS.keys()
    assert set(fairly.FORMS) == set(fairly.__all__) - {"FORMS"}


@pytest.mark.parametrize("form", CHANGED)
def test_a_result_keeps_its_numbers_in_another_form(form: str) -> None:
    for value, is_in_form in CHANGED[form]:
        met.clear()
        found = getattr(fairly, form)(lambda value=value: value)()
        assert is_in_form(found)
        assert met.has("touched")
        plain = found.detach() if isinstance(found, torch.Tensor) else found
        assert np.array_equal(np.asarray(plain), np.asarray(value))


@pytest.mark.parametrize("form", LEFT)
def test_what_has_no_such_form_stays(form: str) -> None:
    for value in LEFT[form]:
        met.clear()
        assert getattr(fairly, form)(lambda value=value: value)() is value
        assert not met.has("touched")


def test_what_a_tuple_or_a_dict_holds_changes_its_form_too() -> None:
    held: Any = (1.5, {"a": [2]})
    found: Any = fairly.numpy_scalar(lambda: held)()
    first, table = found
    assert (type(first), type(table["a"][0])) == (np.float64, np.int64)
