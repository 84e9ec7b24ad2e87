"""No test hands a function of the student's what a hidden case expects of another: a later hand-in could hold it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.labs.by_module import found_by, labs

pytestmark = [pytest.mark.slow, pytest.mark.frameworks]

_THERE_AND_BACK = {("08_deep_compression", "format-check")}
"""What was written is read back: the format is the student's own, and nothing else can be expected."""


@pytest.mark.parametrize("lab", labs("13_", "14_"))
def test_no_expected_value_is_handed_to_another_function(lab: Path) -> None:
    assert [one for one in found_by("told", lab) if (lab.name, one[0]) not in _THERE_AND_BACK] == []
