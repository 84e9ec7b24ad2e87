"""A released course for every test that needs one, made once and copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.courses import copied, tiny_course


@pytest.fixture(scope="session")
def tiny_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_course(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def tiny(tiny_template: Path, tmp_path: Path) -> Path:
    """A course of its own with one small lab, released; nobody has handed in."""
    return copied(tiny_template, tmp_path / "course")
