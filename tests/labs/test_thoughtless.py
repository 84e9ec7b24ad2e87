"""No case of any lab passes for an answer without a thought: a constant, an argument handed back, an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.extent import ALL
from tests.labs.by_module import found_by, labs

pytestmark = [pytest.mark.slow, pytest.mark.frameworks]


@pytest.mark.parametrize("lab", labs("00_", "01_", "08_"))
def test_nothing_done_earns_nothing(lab: Path) -> None:
    """`make test-all` tries some fifty answers, `make test` four of them."""
    assert found_by("thoughtless", lab, *([] if ALL else ["--few"])) == {}
