"""What the README and the docs say is true: their commands run, their paths exist, their output is what comes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def _tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    return [Path(name) for name in listed.stdout.decode().splitlines() if (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with its environment, so that make finds everything set up and writes nothing here."""
    copy = tmp_path_factory.mktemp("clone")
    for name in _tracked():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
    (copy / ".venv").symlink_to(ROOT / ".venv")
    return copy


def _run(command: str, where: Path) -> subprocess.CompletedProcess[str]:
    of_make = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}  # these tests are run by `make test`
    environment = {key: value for key, value in os.environ.items() if key not in of_make}
    environment |= {"NO_COLOR": "1", "COLUMNS": "100"}
    return subprocess.run(
        ["bash", "-c", command], cwd=where, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.slow
def test_the_demo_prints_what_the_readme_shows(checkout: Path) -> None:
    done = _run("make --old-file=.venv/.ready demo", checkout)
    assert done.returncode == 0, done.stderr
    shown = re.search(r"```text\n(student .*?)```", README, re.DOTALL)
    assert shown
    assert _without_seconds(done.stdout) == _without_seconds(shown[1])
    for line in re.findall(r"^[1-4]/4 .*$", README, re.MULTILINE):
        assert line in done.stderr
    pages = list((checkout / "build/demo/feedback").glob("*/*/*.html"))
    assert len(pages) == 8


def _without_seconds(table: str) -> list[list[str]]:
    words = [line.split() for line in table.strip().splitlines()]
    return [[w for w in line if not re.fullmatch(r"\d+\.\d", w)] for line in words]


def test_make_help_lists_every_target_of_the_readme(checkout: Path) -> None:
    listed = _run("make help", checkout).stdout
    for page in PAGES:
        for target in re.findall(r"(?<![\w/])make ([a-z]+)\b(?=[`\s])", page.read_text(encoding="utf-8")):
            if f"`make {target}" in page.read_text(encoding="utf-8") or f"$ make {target}" in page.read_text("utf-8"):
                assert f"make {target} " in listed, f"{page.name}: make {target}"


def test_make_lab_passes_jupyterlab_a_port_and_flags(checkout: Path) -> None:
    said = _run("make --dry-run --old-file=.venv/.ready lab PORT=9000 FLAGS=--no-browser", checkout).stdout
    assert said.split()[-4:] == [".venv/bin/labkit", "lab", "--port=9000", "--no-browser"]


@pytest.mark.slow
def test_labkit_doctor_runs_as_the_readme_says(checkout: Path) -> None:
    done = _run(".venv/bin/labkit doctor", checkout)
    assert done.returncode == 0, done.stdout
    assert "sandbox" in done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_and_path_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), target
    made = {"build", "submitted", "autograded", "feedback", ".venv"}  # by commands, not committed
    for path in re.findall(r"`((?:labs|solutions|autograder|labkit|datasets|benchmarks|docs|tests)/[\w./-]+)`", text):
        if path.split("/")[0] not in made and not re.search(r"NN|STUDENT|LAB", path):
            assert (ROOT / path).exists(), path


def test_the_table_of_labs_names_all_eighteen() -> None:
    rows = re.findall(r"^\| \[(\d\d_\w+)\]\(([^)]+)\) \|.*\| ([\d.]+) \| (\d+) \|$", README, re.MULTILINE)
    assert [int(name[:2]) for name, *_ in rows] == list(range(18))
    for name, link, hours, points in rows:
        assert link == f"labs/{name}/{name}.ipynb"
        lab = tomllib.loads((ROOT / "solutions" / name / "lab.toml").read_text(encoding="utf-8"))
        assert (float(hours), float(points)) == (lab["hours"], lab["points"])


def test_nothing_committed_names_a_registry_or_a_place_of_one_machine() -> None:
    secret = re.compile(
        "|".join(["python" + "hosted", "registry" + r"\.npmjs", "deb" + r"\.debian", "/home/" + r"(?!jovyan)\w+/"])
    )
    for name in _tracked():
        if name.suffix in {".py", ".md", ".toml", ".yml", ".yaml", ".ipynb", ".json", ".svg", ""}:
            found = secret.search((ROOT / name).read_text(encoding="utf-8", errors="replace"))
            assert not found, f"{name}: {found and found[0]}"


def test_the_claims_page_is_generated_from_the_cards() -> None:
    done = _run(".venv/bin/python -m benchmarks.claims --check", ROOT)
    assert done.returncode == 0, done.stderr
