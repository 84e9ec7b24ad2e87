"""The students' container: what is in it, who runs in it, how it starts and stops, and that the labs' ranks work."""

from __future__ import annotations

import http.client
import json
import statistics
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from tests.images.conftest import IDLE, ROOT, TOKEN, TORCH, Container, docker

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


@pytest.mark.smoke
def test_the_server_answers_soon_and_stops_soon(student_image: str, start: Start) -> None:
    answers, stops = [], []
    for _ in range(3):
        container = start(student_image, *SERVED)
        answers.append(container.wait())
        started = time.monotonic()
        docker("stop", container.name)
        stops.append(time.monotonic() - started)
        assert container.look("{{.State.ExitCode}}") == "0"
    print(f"JupyterLab answers after {answers} s, the container stops after {stops} s")
    assert statistics.median(answers) < 5
    assert statistics.median(stops) < 2


@pytest.mark.smoke
def test_the_server_answers_only_with_the_token(student_image: str, start: Start) -> None:
    container = start(student_image, *SERVED)
    container.wait()
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


@pytest.mark.smoke
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


@pytest.mark.smoke
def test_it_needs_no_privilege_and_no_writable_system(student_image: str, start: Start) -> None:
    options = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--network", "none")
    container = start(student_image, *options, "--tmpfs", "/home/jovyan:uid=1000,gid=100,exec")
    for _ in range(100):
        if "is running at" in container.log():
            break
        time.sleep(0.2)
    notebook = "labs/00_orientation/00_orientation.ipynb"
    container.run("jupyter", "nbconvert", "--to", "notebook", "--execute", "--allow-errors", notebook, timeout_s=120)


@pytest.mark.smoke
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


def test_a_lab_of_an_older_image_becomes_this_one_s_and_keeps_its_answers(student_image: str, start: Start) -> None:
    container = start(student_image, *SERVED)
    container.wait()
    # As an image had it before labs were stamped: nobody knows what it began as.
    container.python(
        "import json, pathlib\n"
        "path = pathlib.Path('labs/00_orientation/00_orientation.ipynb')\n"
        "text = path.read_text().replace('raise NotImplementedError', 'return 1  #')\n"
        "old = json.loads(text)\n"
        "del old['metadata']['labkit']\n"
        "old['cells'].pop()\n"
        "path.write_text(json.dumps(old))"
    )
    docker("restart", container.name)
    container.wait()
    text = container.run("cat", "labs/00_orientation/00_orientation.ipynb")
    assert "return 1  #" in text
    assert '"digest"' in text
    assert "labs/00_orientation: updated" in container.log()


def test_health_follows_the_server(student_image: str, start: Start) -> None:
    container = start(student_image, "--health-interval", "1s", "--health-retries", "1", *SERVED)
    container.wait()
    assert _becomes(container, "healthy")
    server = container.run("pgrep", "-f", "jupyter-lab|jupyter lab").split()[0]
    container.run("kill", "-STOP", server)
    assert _becomes(container, "unhealthy")
    container.run("kill", "-CONT", server)
    assert _becomes(container, "healthy")


def test_health_is_found_out_without_a_network(student_image: str, start: Start) -> None:
    container = start(student_image, "--network", "none", "--health-interval", "1s")
    assert _becomes(container, "healthy")


def test_a_cell_runs_and_jupyterlab_s_own_saving_survives_a_restart(
    student_image: str, start: Start, page: Any
) -> None:
    container = start(student_image, *SERVED)
    container.wait()
    path = "labs/00_orientation/mine.ipynb"
    _put(container, path, _notebook("6 * 7"))
    page.goto(f"{container.address()}/lab/tree/{path}?token={TOKEN}")
    printed = page.locator(".jp-OutputArea-output", has_text="42")
    for _ in range(30):  # a cell that is run before the kernel is there does nothing
        page.locator(".jp-CodeCell .cm-content").first.click()
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(2000)
        if printed.count():
            break
    assert printed.count() == 1
    page.locator(".jp-CodeCell .cm-content").first.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("; kept = 'by nobody but JupyterLab'")
    deadline = time.monotonic() + 90
    while "by nobody" not in json.dumps(container.get(f"/api/contents/{path}")["content"]):
        assert time.monotonic() < deadline, "JupyterLab does not save by itself"
        time.sleep(1)
    docker("restart", container.name)
    container.wait()
    saved = json.dumps(container.get(f"/api/contents/{path}")["content"]["cells"])
    assert "by nobody" in saved and "42" in saved


def test_it_opens_on_the_course_s_first_page(student_image: str, start: Start, page: Any) -> None:
    container = start(student_image, *SERVED)
    container.wait()
    page.goto(f"{container.address()}/?token={TOKEN}")
    page.locator(".jp-MarkdownViewer h1").first.wait_for()
    assert page.locator(".jp-MarkdownViewer h1").first.inner_text().startswith("Deep learning at scale")
    assert page.locator(".jp-MarkdownViewer h2").all_inner_texts() == ["For students", "The labs"]
    assert page.locator("text=Jupyter news").count() == 0
    # No exchange, so no list of assignments, which would show errors; nor what is for instructors.
    assert "Nbgrader" not in page.locator(".lm-MenuBar-itemLabel").all_inner_texts()


def test_stopping_while_a_notebook_is_saved_leaves_one_version_of_it_whole(student_image: str, start: Start) -> None:
    container = start(student_image, *SERVED)
    container.wait()
    path = "labs/big.ipynb"
    versions = [_notebook(mark * 8_000_000) for mark in "ab"]
    _put(container, path, versions[0])
    saved = 0
    ended = threading.Event()

    def save_all_the_time() -> None:
        nonlocal saved
        while not ended.is_set():
            try:
                _put(container, path, versions[saved % 2])
            except (OSError, http.client.HTTPException):
                return
            saved += 1

    writer = threading.Thread(target=save_all_the_time)
    writer.start()
    while saved < 3 and writer.is_alive():
        time.sleep(0.05)
    docker("stop", container.name)
    ended.set()
    writer.join()
    assert saved >= 3
    docker("start", container.name)
    container.wait()
    source = container.get(f"/api/contents/{path}", timeout_s=30)["content"]["cells"][0]["source"]
    assert source in {"a" * 8_000_000, "b" * 8_000_000}


def test_what_is_in_it_can_be_looked_up(student_image: str, start: Start) -> None:
    labels = json.loads(docker("inspect", "--format", "{{json .Config.Labels}}", student_image))
    assert {"title", "version", "licenses", "revision", "created"} <= {name.rpartition(".")[2] for name in labels}
    container = start(student_image, command=IDLE)
    versions = set(container.run("cat", "/opt/kit/versions.txt").split())
    known = json.loads(container.run("cat", "/opt/kit/sbom.cdx.json"))["components"]
    locked = (ROOT / "docker" / "requirements.txt").read_text(encoding="utf-8")
    assert {"numpy", "keras", "jupyterlab", "torch", "dl-scale-practicum"} <= {part["name"] for part in known}
    assert next(line for line in locked.splitlines() if line.startswith("numpy==")) in versions
    assert any(line.startswith("openssh-server=") for line in versions)


def test_python_files_come_compiled_and_no_key_comes_at_all(student_image: str, start: Start) -> None:
    container = start(student_image, command=IDLE)
    counts = container.python(
        "import importlib.util, pathlib\n"
        "for name in ('torch', 'keras', 'labkit'):\n"
        "    files = [*pathlib.Path(importlib.util.find_spec(name).origin).parent.rglob('*.py')]\n"
        "    made = [f for f in files if (f.parent / '__pycache__' / f'{f.stem}.cpython-311.pyc').exists()]\n"
        "    print(len(made) / len(files) > 0.99)"
    )
    assert counts.split() == ["True"] * 3
    assert container.run("find", "/etc/ssh", "/root", "/home", "-name", "*_key*", user="root").strip() == ""


def test_torch_is_the_build_that_was_asked_for(student_image: str, start: Start) -> None:
    container = start(student_image, command=IDLE)
    built, found = container.python("import torch; print(torch.version.cuda, torch.cuda.is_available())").split()
    assert (built != "None") is (TORCH == "cuda")
    assert found == "False" or TORCH == "cuda"
    assert container.python("import torch; print(torch.compile(lambda x: x * 2 + 1)(torch.ones(3)))", 120) == (
        "tensor([3., 3., 3.])\n"
    )


@pytest.mark.smoke
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


def _notebook(source: str) -> dict[str, Any]:
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "one",
        "source": source,
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return {"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


def _put(container: Container, path: str, notebook: dict[str, Any]) -> None:
    """Save a notebook as JupyterLab does."""
    body = json.dumps({"type": "notebook", "format": "json", "content": notebook}).encode()
    headers = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"}
    address = f"{container.address()}/api/contents/{path}"
    urllib.request.urlopen(urllib.request.Request(address, body, headers, method="PUT"), timeout=30).close()
