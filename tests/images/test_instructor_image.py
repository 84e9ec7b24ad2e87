"""The instructor's container: a course that can be released and graded, and formgrader in JupyterLab."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.images.conftest import IDLE, TOKEN, Container

pytestmark = pytest.mark.image

Start = Callable[..., Container]
SERVED = ("--publish", "127.0.0.1::8888", "--env", f"JUPYTER_TOKEN={TOKEN}")


def test_the_course_is_there_and_releases_as_it_was_committed(instructor_image: str, start: Start) -> None:
    container = start(instructor_image, *SERVED)
    container.wait()
    names = {entry["name"] for entry in container.get("/api/contents")["content"]}
    assert {"labs", "solutions", "nbgrader_config.py"} <= names
    container.run("sh", "-c", "cd ~/course && autograder release --check", timeout_s=300)


def test_the_demo_grades_as_the_readme_shows(instructor_image: str, start: Start) -> None:
    container = start(instructor_image, command=IDLE)
    said = container.run("sh", "-c", "cd ~/course && autograder demo", timeout_s=400)
    rows = {words[0]: words[1] for line in said.splitlines() if len(words := line.split()) > 2}
    assert rows["another_way"] == rows["full_marks"] == "16/20"
    assert rows["blank"] == "0/20"
    assert "no sandbox: this container forbids namespaces" in said
    assert "these results are marked as not sandboxed" in said


def test_formgrader_shows_the_labs(instructor_image: str, start: Start) -> None:
    container = start(instructor_image, *SERVED)
    container.wait()
    found = container.get("/formgrader/api/assignments", timeout_s=60)
    assert "01_numpy_mlp" in {assignment["name"] for assignment in found}
