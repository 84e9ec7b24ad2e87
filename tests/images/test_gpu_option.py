"""`docker run --gpus all` where there is no GPU: what the engine asks NVIDIA's hook for, and what the kit then says.

Docker calls an executable named nvidia-container-runtime-hook before a container starts, if one was on its PATH when
it started itself. A second engine with a stand-in for it shows that the image asks for what NVIDIA's own hook needs to
bring the driver in, and that the container works where none comes. It does not show that a driver would come.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.images.conftest import DOCKER, IDLE, Container, docker

pytestmark = pytest.mark.image

HOOK = """#!/bin/sh
# Keep what a hook is told: the container's state, and from its bundle the process that is about to start.
state=$(cat)
bundle=$(printf '%s' "$state" | sed -n 's/.*"bundle": *"\\([^"]*\\)".*/\\1/p')
cp "$bundle/config.json" {told}
"""
# What the image's own file system, mounted below, must find: Debian's links into /usr.
LINKS = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}
FOLDERS = ("usr", "opt", "etc", "home/jovyan", "tmp", "run", "var", "dev", "proc", "sys")


@dataclass(frozen=True)
class Engine:
    """A Docker engine of the test's own."""

    socket: Path
    told: Path

    def docker(self, *words: str, data: bytes = b"", timeout_s: float = 120) -> str:
        """Run the client on this engine and return what it prints."""
        command = [DOCKER, "--host", f"unix://{self.socket}", *words]
        done = subprocess.run(command, input=data, capture_output=True, timeout=timeout_s, check=False)
        said = done.stdout.decode() + done.stderr.decode()
        assert done.returncode == 0, said
        return said


@pytest.fixture(scope="module")
def with_hook(engine: None) -> Iterator[Engine]:
    """An engine on whose PATH a stand-in for NVIDIA's hook was found."""
    if os.getuid() != 0 or not shutil.which("dockerd"):
        pytest.skip("starting a second engine needs root and dockerd")
    # Sockets have short names.
    root = Path(tempfile.mkdtemp(prefix="gpu-"))
    found = Engine(root / "d.sock", root / "told.json")
    hook = root / "bin" / "nvidia-container-runtime-hook"
    hook.parent.mkdir()
    hook.write_text(HOOK.format(told=found.told))
    hook.chmod(0o755)
    options = {"data-root": root / "data", "exec-root": root / "exec", "pidfile": root / "pid"}
    # An engine without a bridge deletes the one it finds: it gets a network namespace where there is none.
    command = [
        "unshare",
        "--net",
        "dockerd",
        "--host",
        f"unix://{found.socket}",
        "--bridge",
        "none",
        "--iptables=false",
    ]
    command += [word for name, value in options.items() for word in (f"--{name}", str(value))]
    environment = {**os.environ, "PATH": f"{hook.parent}:{os.environ['PATH']}"}
    with (root / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        for _ in range(150):
            with contextlib.suppress(AssertionError):
                found.docker("info")
                break
            time.sleep(0.2)
        else:
            raise AssertionError((root / "log").read_text())
        yield found
    finally:
        process.terminate()
        process.wait(timeout=60)
        shutil.rmtree(root)


def _changes(config: dict[str, Any]) -> Iterator[str]:
    """Yield the settings of an image as `docker import` takes them."""
    for variable in config["Env"]:
        name, _, value = variable.partition("=")
        yield f'ENV {name}="{value}"'
    yield f"ENTRYPOINT {json.dumps(config['Entrypoint'])}"
    yield f"CMD {json.dumps(config['Cmd'])}"
    yield f"USER {config['User']}"
    yield f"WORKDIR {config['WorkingDir']}"


def _empty() -> bytes:
    """Return a file system with nothing but the places where the image's own is mounted."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name in FOLDERS:
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(folder)
        for name, target in LINKS.items():
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            archive.addfile(link)
    return file.getvalue()


@pytest.fixture
def twin(student_image: str, with_hook: Engine, start: Callable[..., Container]) -> list[str]:
    """Return how to run the students' image on the other engine: its settings there, its files from here.

    Copying the image from one engine to the other would take minutes.
    """
    files = start(student_image, command=IDLE).look("{{.GraphDriver.Data.MergedDir}}")
    config = json.loads(docker("inspect", "--format", "{{json .Config}}", student_image))
    settings = [word for change in _changes(config) for word in ("--change", change)]
    with_hook.docker("import", *settings, "-", "twin", data=_empty())
    mounts = [word for name in ("usr", "opt", "etc") for word in ("--volume", f"{files}/{name}:/{name}:ro")]
    return ["--rm", "--network", "none", *mounts, "--tmpfs", "/tmp", "--tmpfs", "/home/jovyan:uid=1000,gid=100,exec"]


def test_the_engine_tells_the_hook_what_the_image_asks_for(with_hook: Engine, twin: list[str]) -> None:
    said = with_hook.docker("run", *twin, "--gpus", "all", "twin", "labkit", "doctor", "--json")
    told = json.loads(with_hook.told.read_text())
    asked = dict(variable.partition("=")[::2] for variable in told["process"]["env"])
    assert asked["NVIDIA_VISIBLE_DEVICES"] == "all"
    assert asked["NVIDIA_DRIVER_CAPABILITIES"] == "compute,utility"
    (hook,) = told["hooks"]["prestart"][:1]
    assert hook["path"].endswith("nvidia-container-runtime-hook")
    findings = {finding["what"]: finding for finding in json.loads(said)["findings"]}
    assert findings["GPU"]["status"] == "ok" and findings["GPU"]["detail"].startswith("none")


def test_the_server_starts_although_no_gpu_came(with_hook: Engine, twin: list[str]) -> None:
    name = with_hook.docker("run", "--detach", *twin, "--gpus", "all", "twin").strip()
    try:
        for _ in range(100):
            try:
                assert json.loads(with_hook.docker("exec", name, "curl", "-sf", "http://127.0.0.1:8888/api"))["version"]
            except AssertionError as error:
                said = str(error)
                time.sleep(0.3)
            else:
                return
        raise AssertionError(said + with_hook.docker("logs", name))
    finally:
        with_hook.docker("rm", "--force", name)


def test_without_gpus_the_hook_is_not_called(with_hook: Engine, twin: list[str]) -> None:
    with_hook.told.unlink(missing_ok=True)
    assert with_hook.docker("run", *twin, "twin", "python", "-c", "print('ran')") == "ran\n"
    assert not with_hook.told.exists()
