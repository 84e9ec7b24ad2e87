"""The students' container: what is in it, who runs in it, how it starts and stops, and that the labs' ranks work."""

from __future__ import annotations

import json
import time
import urllib.error
from collections.abc import Callable

import pytest

from tests.images.conftest import IDLE, TOKEN, Container, docker

pytestmark = pytest.mark.image

Start = Callable[..., Container]
SERVED = ("--publish", "127.0.0.1::8888", "--env", f"JUPYTER_TOKEN={TOKEN}")

RANKS = """
import os, time
import numpy as np
from labkit import Communicator, RankError, launch

def begin(rank, world_size, what):
    comm = Communicator()
    if what == "crash" and rank == 1:
        raise ValueError("of rank 1")
    if what == "exit" and rank == 1:
        os._exit(3)
    if what == "everyone sends":
        comm.send(np.ones(3), 1 - rank)
    if what == "hang" and rank == 1:
        time.sleep(60)
    return float(comm.exchange(np.ones(3), 1 - rank, 1 - rank).sum())

for what in ("crash", "exit", "everyone sends", "hang"):
    try:
        launch(begin, 2, what, timeout_s=5)
    except RankError as error:
        print(what, "|", str(error))
print("well |", launch(begin, 2, "work"))
"""


def test_the_server_answers_soon_and_only_with_the_token(student_image: str, start: Start) -> None:
    container = start(student_image, *SERVED)
    seconds = container.wait()
    print(f"JupyterLab answered after {seconds:.1f} s")
    assert container.get("/api/status")["kernels"] == 0
    with pytest.raises(urllib.error.HTTPError, match="403"):
        container.get("/api/status", token="wrong")
    assert "labs" in {entry["name"] for entry in container.get("/api/contents")["content"]}


def test_without_a_token_given_the_server_makes_one_up(student_image: str, start: Start) -> None:
    container = start(student_image, "--publish", "127.0.0.1::8888")
    container.wait()
    with pytest.raises(urllib.error.HTTPError, match="403"):
        container.get("/api/status", token="")
    assert "token" not in docker("inspect", "--format", "{{json .Config.Env}}", student_image).lower()


def test_solutions_and_grader_are_not_in_it(student_image: str, start: Start) -> None:
    container = start(student_image, command=IDLE)
    names = "-name", "solutions", "-o", "-name", "autograder"
    found = container.run("find", "/", "-xdev", *names, user="root")
    assert found.strip() == ""
    assert "No module named 'autograder'" in container.python("import autograder")
    assert container.run("labkit", "--version").startswith("labkit")


def test_the_user_owns_the_home_and_root_the_environment(student_image: str, start: Start) -> None:
    container = start(student_image, command=IDLE)
    assert container.run("id", "-u", "-n").strip() == "jovyan"
    assert container.run("stat", "-c", "%U", "/opt/kit/bin/python", "/opt/kit", "/home/jovyan/labs").split() == [
        "root", "root", "jovyan",
    ]  # fmt: skip
    assert "Permission denied" in container.run("touch", "/opt/kit/lib/x", check=False)
    assert container.run("bash", "-lc", "command -v labkit").strip() == "/opt/kit/bin/labkit"


@pytest.mark.parametrize("started_as", ["root", "any"])
def test_it_takes_on_another_user(started_as: str, student_image: str, start: Start) -> None:
    if started_as == "root":
        options = ["--user", "root", "--env", "NB_UID=4321", "--env", "NB_GID=1234"]
    else:
        options = ["--user", "4321:1234", "--tmpfs", "/home/jovyan:uid=4321,gid=1234"]
    look = "id -u; id -g; touch ~/mine; ls -d ~/labs; sleep 60"
    container = start(student_image, *options, command=("sh", "-c", look))
    time.sleep(2)
    assert container.log().split() == ["4321", "1234", "/home/jovyan/labs"]


def test_a_home_that_cannot_be_written_is_explained(student_image: str, start: Start) -> None:
    container = start(student_image, "--user", "4321:1234")
    time.sleep(2)
    assert "user 4321 cannot write to /home/jovyan\nhint: " in container.log()
    assert container.look("{{.State.ExitCode}}") == "1"


def test_it_needs_no_privilege_and_no_writable_system(student_image: str, start: Start) -> None:
    options = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--network", "none")
    container = start(student_image, *options, "--tmpfs", "/home/jovyan:uid=1000,gid=100,exec")
    for _ in range(100):
        if "is running at" in container.log():
            break
        time.sleep(0.2)
    notebook = "labs/00_orientation/00_orientation.ipynb"
    container.run("jupyter", "nbconvert", "--to", "notebook", "--execute", "--allow-errors", notebook, timeout_s=120)


def test_ranks_fail_with_an_explanation_and_leave_nothing(student_image: str, start: Start) -> None:
    container = start(student_image, "--network", "none", command=IDLE)
    said = container.python(RANKS, timeout_s=120)
    assert "crash | launch: rank 1 of 2 raised ValueError: of rank 1" in said
    assert "exit | launch: rank 1 of 2 ended with exit code 3 before it returned" in said
    assert "a circle: 0 for 1, 1 for 0" in said
    assert "hang | launch: " in said and "were still running after 5 s" in said
    assert "well | [3.0, 3.0]" in said
    for _ in range(50):
        if (left := container.run("ps", "-eo", "comm").split()[1:]) == ["tini", "sleep", "ps"]:
            return
        time.sleep(0.1)
    raise AssertionError(left)


def test_work_survives_a_restart_and_new_labs_do_not_replace_it(student_image: str, start: Start) -> None:
    container = start(student_image, *SERVED)
    container.wait()
    container.run("sh", "-c", "echo mine > labs/00_orientation/notes.md; rm -r labs/01_numpy_mlp")
    docker("restart", container.name)
    container.wait()
    assert container.run("cat", "labs/00_orientation/notes.md") == "mine\n"
    assert "01_numpy_mlp.ipynb" in container.run("ls", "labs/01_numpy_mlp")


def test_health_follows_the_server_and_stopping_is_quick(student_image: str, start: Start) -> None:
    container = start(student_image, "--health-interval", "1s", "--health-retries", "1", *SERVED)
    container.wait()
    assert _becomes(container, "healthy")
    server = container.run("pgrep", "-f", "jupyter-lab|jupyter lab").split()[0]
    container.run("kill", "-STOP", server)
    assert _becomes(container, "unhealthy")
    container.run("kill", "-CONT", server)
    assert _becomes(container, "healthy")
    started = time.monotonic()
    docker("stop", container.name)
    seconds = time.monotonic() - started
    print(f"stopped after {seconds:.1f} s")
    assert seconds < 5
    assert container.look("{{.State.ExitCode}}") == "0"


def test_doctor_finds_nothing_amiss_that_matters_to_students(student_image: str, start: Start) -> None:
    container = start(student_image, "--shm-size", "2g", command=IDLE)
    said = json.loads(container.run("labkit", "doctor", "--json", check=False))
    amiss = {finding["what"] for finding in said["findings"] if finding["status"] != "ok"}
    assert amiss <= {"sandbox"}


def _becomes(container: Container, health: str) -> bool:
    for _ in range(100):
        if container.look("{{.State.Health.Status}}") == health:
            return True
        time.sleep(0.2)
    return False
