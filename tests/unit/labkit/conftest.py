"""What several tests of labkit start from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mirror import Mirror, serving


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """A running mirror; its `url` ends with a slash."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as mirror:
        yield mirror


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder that labkit uses."""
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache"
