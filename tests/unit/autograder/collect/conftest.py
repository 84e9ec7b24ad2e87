"""A course to collect into."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.autograder.collect.desk import LAB, Course


@pytest.fixture
def course(tmp_path: Path) -> Course:
    root = tmp_path / "course"
    root.mkdir()
    more = {"known": [], "max_files_bytes": 1000, "excluded": set(), "given": [], "text": ""}
    return Course(root=root, state=root / ".autograder", names=[LAB], **more)
