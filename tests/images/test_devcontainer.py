"""The development container, brought up by the Dev Containers command line on a copy of this checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.images.conftest import ROOT, docker

pytestmark = pytest.mark.image

Exec = Callable[..., str]


def _copy(folder: Path) -> Path:
    """Return a copy of what Docker and a developer see of the checkout, which the container's user may write to."""
    target = folder / "kit"
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    if os.getuid() == 0:
        subprocess.run(["chown", "--recursive", "1000:100", str(folder)], check=True)
    return target


@pytest.fixture(scope="module")
def inside(engine: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exec]:
    """Run commands in a development container; the only one of this module, because making it takes minutes."""
    if not (cli := shutil.which("devcontainer")):
        pytest.skip("no Dev Containers command line (npm install --global @devcontainers/cli)")
    folder = tmp_path_factory.mktemp("developer")
    folder.chmod(0o755)
    checkout, label = _copy(folder), f"practicum-test={uuid.uuid4().hex}"
    # Debian's client before one that another package put on the PATH, as everywhere in these tests.
    environment = {**os.environ, "PATH": f"/usr/bin:{os.environ['PATH']}"}
    where = ["--workspace-folder", str(checkout), "--id-label", label]
    options = []
    if ca := os.environ.get("PIP_CERT"):
        options = ["--mount", f"type=bind,source={Path(ca).resolve()},target=/run/ca.crt"]
        where += ["--remote-env", "PIP_CERT=/run/ca.crt"]

    def call(verb: str, *words: str, timeout_s: float = 120) -> str:
        command = [cli, verb, *where, *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False)
        # Without the program's own stack.
        lines = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("    at ")]
        assert done.returncode == 0, "\n".join(lines[-40:])
        return done.stdout

    try:
        made = json.loads(call("up", *options, timeout_s=590).splitlines()[-1])
        assert made["outcome"] == "success" and made["remoteUser"] == "jovyan"
        yield lambda *words: call("exec", *words)
    finally:
        for container in docker("ps", "--all", "--quiet", "--filter", f"label={label}").split():
            image = docker("inspect", "--format", "{{.Config.Image}}", container).strip()
            docker("rm", "--force", "--volumes", container)
            # Where the user's number is not the image's, there is a second image with it changed.
            for name in {image, image.removesuffix("-uid")}:
                docker("rmi", "--force", name, check=False)


def test_the_checkout_and_its_tools_run_in_it(inside: Exec) -> None:
    where = inside(
        "python", "-c", "import autograder, labkit, torch; print(autograder.__file__, torch.__file__)"
    ).split()
    assert where[0].startswith("/workspaces/") and where[1].startswith("/opt/kit/")
    inside("make", "types")
    assert "passed" in inside("pytest", "-q", "tests/unit/test_architecture.py")
    assert inside("make", "-n", "lab").startswith("/home/jovyan/venv/bin/jupyter lab")


def test_doctor_finds_nothing_amiss(inside: Exec) -> None:
    findings = json.loads(inside("labkit", "doctor", "--json"))["findings"]
    amiss = {finding["what"]: finding["detail"] for finding in findings if finding["status"] != "ok"}
    amiss.pop("disk", None)  # the host's
    assert not amiss
    assert "sandbox" in {finding["what"] for finding in findings}
