"""No helper that stands open in a test is an answer to a task."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.labs.by_module import labs
from tests.labs.pasted import pasted

pytestmark = [pytest.mark.slow, pytest.mark.frameworks]

_OF_A_LIBRARY = {
    ("05_convolution", "theirs"): "one call of torch.nn.functional.conv2d, which students know, too",
    ("13_consistency", "torch_step"): "one step of torch.optim.SGD, which students know, too",
}
"""Helpers that hand a task to a library: a right answer, wherever it is from."""


@pytest.mark.parametrize("lab", labs("00_"))
def test_no_open_helper_earns_a_point_as_an_answer(lab: Path) -> None:
    found = [answer for answer in pasted(lab) if (lab.name, answer.helper) not in _OF_A_LIBRARY]
    assert found == []
