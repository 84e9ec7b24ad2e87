"""How the tests are shared out between two processes."""

from __future__ import annotations

import re
from typing import Any

import pytest

_LAB = re.compile(r"\[(\d\d_\w+)[-\]]")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep a module's tests together, but of the labs' tests only those of one lab: two labs run side by side."""
    from xdist.scheduler import LoadScopeScheduling

    class ByLab(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            scope = str(super()._split_scope(nodeid))
            lab = _LAB.search(nodeid) if scope.startswith("tests/labs/") else None
            return f"{scope}/{lab[1]}" if lab else scope

    return ByLab(config, log) if config.getoption("dist") == "loadscope" else None
