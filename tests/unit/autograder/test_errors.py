"""Errors say where and what, then the fix, and their tree is the one in the docstring."""

from __future__ import annotations

import re

import pytest

from autograder import errors
from autograder.errors import AutograderError, SourceError, did_you_mean, listed


def test_an_error_is_a_sentence_and_a_hint() -> None:
    assert str(SourceError("a.py:3 (f): what", hint="the fix")) == "a.py:3 (f): what\nhint: the fix"
    assert str(SourceError("a.py:3 (f): what")) == "a.py:3 (f): what"


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    drawn = re.findall(r"^[├└]── (\w+)", errors.__doc__ or "", re.MULTILINE)
    assert (
        sorted(["AutograderError", *drawn, "counted", "cut", "did_you_mean", "in_one_line", "listed"]) == errors.__all__
    )
    assert {kind.__name__ for kind in AutograderError.__subclasses__()} == set(drawn)


def test_of_many_names_five_are_named_and_none_at_any_length() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed(list("abcdefg")) == "a, b, c, d, e and 2 more"
    assert listed(["x" * 200, "y" * 201]) == f"{'x' * 200}, {'y' * 197}..."


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_says_what_it_means(name: str) -> None:
    assert (getattr(errors, name).__doc__ or "").strip()


LABS = ["01_numpy_mlp", "02_frameworks", "11_collectives", "12_data_parallel"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("01", "01_numpy_mlp"),
        ("01_numpy", "01_numpy_mlp"),
        ("02_framework", "02_frameworks"),
        ("11_colectives", "11_collectives"),
        ("1", ""),
        ("", ""),
        ("99_nothing_like_it", ""),
    ],
)
def test_the_name_that_begins_so_or_is_nearly_the_same(name: str, meant: str) -> None:
    assert did_you_mean(name, LABS) == (meant and f"did you mean {meant}? ")
