"""What is told of an exception, whatever its arguments are."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.boundary.exceptions import report
from autograder.boundary.frames import WireError


def keep(_error: BaseException) -> int:
    return 1


@pytest.mark.parametrize("failure", [WireError("too large"), RecursionError(), ValueError()])
def test_arguments_that_cannot_go_are_left_out_and_the_rest_is_told(failure: BaseException) -> None:
    def encode(_value: Any) -> Any:
        raise failure

    found = report(ValueError("no samples", object()), encode, keep)
    assert found["type"] == "ValueError"
    assert found["text"].startswith("('no samples', <object object")
    assert "args" not in found


def test_what_can_go_goes() -> None:
    assert report(KeyError("a", 1), lambda value: value, keep)["args"] == ["a", 1]
