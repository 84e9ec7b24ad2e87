"""No constant earns much: not even one of the results that the solution's own function returns in its checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.labs.by_module import found_by, labs

pytestmark = [pytest.mark.slow, pytest.mark.frameworks]

MOST = 0.4
"""Of a test's points: the worked example, and what follows where one thing is right."""
_FREE = "predictions-check"
"""Any guess in the right form is one."""


@pytest.mark.parametrize("lab", labs("00_", "07_"))
def test_a_constant_earns_less_than_half_of_a_task(lab: Path) -> None:
    found = found_by("constant", lab)
    assert found, "the worked example at least should pass"
    shares = {test: best[0] / best[1] for test, best in found.items() if test != _FREE}
    assert {test: share for test, share in shares.items() if share > MOST} == {}
