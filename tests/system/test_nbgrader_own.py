"""nbgrader's own tests for autograde, with our sandboxed step in place of its Execute."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from autograder.sandbox import choose
from tests.system.courses import BIN

pytestmark = pytest.mark.slow

SUITE = "nbgrader.tests.apps.test_nbgrader_autograde"
FAILS = {
    "test_side_effects": "expects a file that the notebook writes in autograded/; it stays in the sandbox",
}
"""The tests of nbgrader that do not pass, and why."""
SKIPPED = {
    "test_many_students": "nbgrader itself skips it: it takes too long, and wants a database set up by hand",
    "test_infinite_loop_with_output": "nbgrader itself skips it: it takes too long and much memory",
}
_LIMIT_S = 900
_CONFIG = """
from autograder.nbgrader_hooks import autograde_preprocessors

c = get_config()
c.Autograde.autograde_preprocessors = autograde_preprocessors()
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What became of each test: passed, failure, error or skipped. An instructor's configuration puts our step in."""
    folder = tmp_path_factory.mktemp("nbgrader")
    (folder / "config").mkdir()
    (folder / "config/nbgrader_config.py").write_text(_CONFIG)
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", str(folder), "-p", "no:cacheprovider"]
    command += ["-q", "-n", "2", "--junitxml", str(folder / "report.xml"), "--pyargs", SUITE]
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    environment |= {"JUPYTER_CONFIG_PATH": str(folder / "config"), "TMPDIR": str(folder)}
    for name in [name for name in environment if name.startswith("PYTEST_")]:
        del environment[name]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=_LIMIT_S, check=False
    )
    assert (folder / "report.xml").exists(), done.stdout + done.stderr
    return _outcomes(folder / "report.xml")


def _outcomes(path: Path) -> dict[str, str]:
    found = {}
    for case in ET.parse(path).getroot().iter("testcase"):
        kinds = [child.tag for child in case if child.tag in {"failure", "error", "skipped"}]
        found[str(case.get("name"))] = kinds[0] if kinds else "passed"
    return found


@pytest.mark.thorough
@pytest.mark.skipif(not choose().isolated, reason="no bubblewrap here: files that a notebook writes are not kept apart")
def test_all_pass_but_those_that_are_listed(report: dict[str, str]) -> None:
    """One that fails and is not listed, and one that is listed and passes, are both errors."""
    assert {name for name, outcome in report.items() if outcome in {"failure", "error"}} == set(FAILS)
    assert {name for name, outcome in report.items() if outcome == "skipped"} == set(SKIPPED)
    assert len(report) >= 42
