"""A Docker engine, the images made from this checkout, and containers that end with the test that started them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCKER = subprocess.run([ROOT / "docker" / "client.sh"], capture_output=True, text=True, check=False).stdout.strip()
# Which images: those with torch for the CPU, or those with its CUDA build, which run on a CPU too.
TORCH = os.environ.get("PRACTICUM_TORCH", "cpu")
TOKEN = "open-sesame"
IDLE = ("sh", "-c", "echo prepared; exec sleep infinity")


def docker(*words: str, timeout_s: float = 60, check: bool = True) -> str:
    """Run the Docker client and return what it prints."""
    done = subprocess.run([DOCKER, *words], capture_output=True, text=True, timeout=timeout_s, check=False)
    if check and done.returncode:
        raise AssertionError(f"docker {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


@dataclass(frozen=True)
class Container:
    """A running container."""

    name: str

    def run(self, *command: str, user: str = "", check: bool = True, timeout_s: float = 60) -> str:
        """Run a command in it and return what it prints."""
        options = ["--user", user] if user else []
        return docker("exec", *options, self.name, *command, timeout_s=timeout_s, check=check)

    def python(self, code: str, timeout_s: float = 60) -> str:
        """Run Python code in it and return what it prints."""
        return self.run("python", "-c", code, check=False, timeout_s=timeout_s)

    def look(self, template: str) -> str:
        """Return a part of `docker inspect`."""
        return docker("inspect", "--format", template, self.name).strip()

    def log(self) -> str:
        """Return what its main process has printed."""
        return docker("logs", self.name)

    def address(self) -> str:
        """Return where its server is to be reached from here."""
        port = self.look('{{(index (index .NetworkSettings.Ports "8888/tcp") 0).HostPort}}')
        return f"http://127.0.0.1:{port}"

    def get(self, path: str, token: str = TOKEN, timeout_s: float = 5) -> Any:
        """Return the server's answer to a request, as JSON."""
        request = urllib.request.Request(f"{self.address()}{path}", headers={"Authorization": f"token {token}"})
        with urllib.request.urlopen(request, timeout=timeout_s) as answer:
            return json.loads(answer.read())

    def wait(self, timeout_s: float = 30, path: str = "/api") -> float:
        """Wait until the server answers; return the seconds that took."""
        started = time.monotonic()
        while time.monotonic() - started < timeout_s:
            try:
                self.get(path)
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.1)
            else:
                return time.monotonic() - started
        raise AssertionError(f"no answer in {timeout_s} s\n{self.log()}")


@pytest.fixture(scope="session")
def engine() -> None:
    """A Docker engine that answers; docker/engine.sh starts one where it can."""
    done = subprocess.run([ROOT / "docker" / "engine.sh"], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(done.stderr.strip())


def _image(target: str, torch: str) -> str:
    started = time.monotonic()
    name = f"dl-scale-practicum:{torch}" if target == "student" else f"dl-scale-practicum:{torch}-{target}"
    command = [str(ROOT / "docker" / "build.sh"), target, torch]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TAG": name}, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-8000:]
    size = int(docker("image", "inspect", "--format", "{{.Size}}", name))
    print(f"{name}: {size / 1e9:.2f} GB, built in {time.monotonic() - started:.0f} s")
    return name


@pytest.fixture(scope="session")
def student_image(engine: None) -> str:
    """The students' image."""
    return _image("student", TORCH)


@pytest.fixture(scope="session")
def instructor_image(engine: None) -> str:
    """The instructor's image."""
    return _image("instructor", TORCH)


@pytest.fixture
def start(engine: None) -> Iterator[Callable[..., Container]]:
    """Start containers: start(image, *options, command=(...)); they are gone after the test."""
    started: list[str] = []

    def begin(image: str, *options: str, command: tuple[str, ...] = ()) -> Container:
        name = f"practicum-{uuid.uuid4().hex[:12]}"
        started.append(name)
        docker("run", "--detach", "--name", name, *options, image, *command)
        container = Container(name)
        for _ in range(300):
            if command != IDLE or "prepared" in container.log():
                return container
            time.sleep(0.1)
        raise AssertionError(container.log())

    yield begin
    for name in started:
        docker("rm", "--force", "--volumes", name, check=False)


@pytest.fixture
def page() -> Iterator[Any]:
    """A page of a browser."""
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.set_default_timeout(60_000)
        yield page
        browser.close()
