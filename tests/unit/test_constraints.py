"""`make setup` installs the versions that all tests pass with: one for whatever pyproject.toml names."""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]


def test_every_package_has_a_version_within_its_range() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    fixed = dict(line.split("==") for line in lines if not line.startswith("#"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    wanted = [Requirement(line) for lines in groups for line in lines if not line.startswith("torch==")]
    outside = [str(one) for one in wanted if fixed.get(one.name.lower(), "none") not in one.specifier]
    assert not outside, f"{outside}: python docker/lock.py kit"
