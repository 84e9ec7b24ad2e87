"""The instructor's container: a course that can be released and graded, and formgrader in JupyterLab."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

import pytest

from tests.images.conftest import IDLE, ROOT, TOKEN, Container

pytestmark = pytest.mark.image

Start = Callable[..., Container]
PROFILE = ("--security-opt", f"seccomp={ROOT / 'docker' / 'seccomp.json'}")
GRADE_RANKS = """
import shutil
from pathlib import Path
from autograder.commands.demo import CONFIG
from autograder.release.publish import release_labs
from autograder.release.build import build
from autograder.commands.grade import grade_lab
lab, course = "11_collectives", Path.home() / "ranks"
shutil.copytree(Path("solutions") / lab, course / "source" / lab)
(course / "nbgrader_config.py").write_text(CONFIG)
list(release_labs(course, (lab,)))
place = course / "submitted" / "ann" / lab / f"{lab}.ipynb"
place.parent.mkdir(parents=True)
place.write_bytes(build(course / "source" / lab).source_notebook)
(outcome,) = grade_lab(course, lab, (), workers=1, force=False, as_json=False)
lost = [cell.grade_id for cell in outcome.result.cells if cell.points is not None and cell.points < cell.max_points]
print("lost", lost, "isolated", outcome.result.isolated)
"""
SERVED = ("--publish", "127.0.0.1::8888", "--env", f"JUPYTER_TOKEN={TOKEN}")


def test_the_course_is_there_and_releases_as_it_was_committed(instructor_image: str, start: Start) -> None:
    container = start(instructor_image, *SERVED)
    container.wait()
    names = {entry["name"] for entry in container.get("/api/contents")["content"]}
    assert {"labs", "solutions", "nbgrader_config.py"} <= names
    container.run("sh", "-c", "cd ~/course && autograder release --check", timeout_s=300)


@pytest.mark.smoke
@pytest.mark.parametrize("way", ["as it comes", "with the profile"])
def test_the_demo_grades_as_the_readme_shows_in_whichever_sandbox(
    way: str, instructor_image: str, start: Start
) -> None:
    container = start(instructor_image, *(PROFILE if way == "with the profile" else ()), command=IDLE)
    said = container.run("sh", "-c", "cd ~/course && autograder demo", timeout_s=400)
    rows = {words[0]: words[1] for line in said.splitlines() if len(words := line.split()) > 2}
    assert rows["another_way"] == rows["full_marks"] == "16/20"
    assert rows["blank"] == "0/20"
    assert ("sandbox: landlock, because this container forbids namespaces" in said) is (way == "as it comes")
    assert "not sandboxed" not in said
    log = container.run("sh", "-c", "cat ~/course/build/demo/.autograder/01_numpy_mlp.jsonl")
    results = [json.loads(line) for line in log.splitlines()]
    used = {result["sandbox"] for result in results if result["cells"]}
    assert used == ({"landlock"} if way == "as it comes" else {"bubblewrap, pre-warmed"})


@pytest.mark.parametrize("options", [("--network", "none"), PROFILE, ()], ids=["no network", "profile", "network"])
def test_ranks_are_graded_and_a_network_in_their_reach_is_told(
    options: tuple[str, ...], instructor_image: str, start: Start
) -> None:
    container = start(instructor_image, *options, command=IDLE)
    said = container.run("sh", "-c", f"cd ~/course && python -c {shlex.quote(GRADE_RANKS)}", timeout_s=300)
    assert f"lost [] isolated {options != ()}\n" in said
    assert ("Landlock does not keep that" in said) is (options == ())


def test_formgrader_shows_the_labs(instructor_image: str, start: Start) -> None:
    container = start(instructor_image, *SERVED)
    container.wait()
    found = container.get("/formgrader/api/assignments", timeout_s=60)
    assert "01_numpy_mlp" in {assignment["name"] for assignment in found}
