"""`make setup` installs the versions that all tests pass with: one for whatever pyproject.toml names."""

from __future__ import annotations

import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]


def fixed_versions() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


@pytest.mark.parametrize("python", ["3.11.2", "3.12.3", "3.13.5"])
def test_every_version_is_one_for_each_python_that_systems_come_with(python: str) -> None:
    fixed = fixed_versions()
    here = [found for found in distributions() if fixed.get(found.name.lower().replace("_", "-")) == found.version]
    assert len(here) > 100
    asking = [(found.name, found.metadata) for found in here if "Requires-Python" in found.metadata]
    refuse = [name for name, about in asking if python not in SpecifierSet(about["Requires-Python"])]
    assert not refuse, f"{refuse}: python docker/lock.py kit"


def test_every_package_has_a_version_within_its_range() -> None:
    fixed = fixed_versions()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    wanted = [Requirement(line) for lines in groups for line in lines if not line.startswith("torch==")]
    outside = [str(one) for one in wanted if fixed.get(one.name.lower(), "none") not in one.specifier]
    assert not outside, f"{outside}: python docker/lock.py kit"
