"""What nbgrader's converters are made to do otherwise."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Any

import nbgrader.utils
import pytest

from autograder.course.converters import _each_pattern_once

PATTERNS = [".ipynb_checkpoints", "*.pyc", "__pycache__", ".*", "*.ipynb", "file7.txt"]


def test_what_is_left_out_is_the_same_and_is_looked_for_once_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (tmp_path, tmp_path / "data", tmp_path / "__pycache__"):
        folder.mkdir(exist_ok=True)
        for name in ("a.pyc", ".hidden", "lab.ipynb", *(f"file{number}.txt" for number in range(40))):
            (folder / name).touch()
    want = nbgrader.utils.find_all_files(str(tmp_path), PATTERNS)
    asked, usual = [], glob.glob

    def counted(pattern: str, **options: Any) -> list[str]:
        asked.append(pattern)
        return usual(pattern, **options)

    monkeypatch.setattr(glob, "glob", counted)
    before = nbgrader.utils.is_ignored
    with _each_pattern_once():
        assert nbgrader.utils.find_all_files(str(tmp_path), PATTERNS) == want
        assert not nbgrader.utils.is_ignored("x")
    assert len(want) == 2 * 39
    assert len(asked) <= 3 * len(PATTERNS)  # the folders: above, itself, data
    assert nbgrader.utils.is_ignored is before
