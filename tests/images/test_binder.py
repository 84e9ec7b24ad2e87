"""The image that Binder builds: started with its command line, it shows this checkout's labs to who has the token."""

from __future__ import annotations

import os
import subprocess
import urllib.error
from collections.abc import Callable

import pytest

from tests.images.conftest import DOCKER, ROOT, TOKEN, Container

pytestmark = pytest.mark.image

IMAGE, OLDER = "dl-scale-practicum:binder", "dl-scale-practicum:older"
_OLDER_LAB = (
    "import json, pathlib; from labkit._work.stamp import stamp; "
    "path = pathlib.Path('/opt/practicum/labs/01_numpy_mlp/01_numpy_mlp.ipynb'); old = json.loads(path.read_text()); "
    "old['cells'].pop(); stamp(old, {}); path.write_text(json.dumps(old))"
)
# What BinderHub adds to the user's name, port and token: a path of its own.
BASE = "/user/practicum-x1y2/"
COMMAND = (
    "jupyter", "notebook", "--ip", "0.0.0.0", "--port", "8888",
    f"--NotebookApp.base_url={BASE}", f"--NotebookApp.token={TOKEN}", "--NotebookApp.trust_xheaders=True",
)  # fmt: skip


def _build(*arguments: str) -> str:
    command = [DOCKER, "build", "--quiet", "--file", "binder/Dockerfile", *arguments, "--tag", IMAGE]
    environment = {**os.environ, "DOCKER_BUILDKIT": "1"}
    done = subprocess.run([*command, "."], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def _with(image: str, steps: str) -> str:
    """Return the name of this image after a few more steps."""
    command = [DOCKER, "build", "--quiet", "--tag", OLDER, "-"]
    text = f"FROM {image}\n{steps}"
    environment = {**os.environ, "DOCKER_BUILDKIT": "1"}
    subprocess.run(command, input=text, env=environment, capture_output=True, text=True, check=True)
    return OLDER


def test_binders_command_serves_this_checkouts_labs(student_image: str, start: Callable[..., Container]) -> None:
    # The published image may be older than the checkout that Binder is asked for.
    image = _with(student_image, f'USER 0\nRUN python -c "{_OLDER_LAB}"\nUSER 1000\n')
    assert not _build("--build-arg", f"IMAGE={image}", "--build-arg", "NB_USER=jovyan", "--build-arg", "NB_UID=1000")
    container = start(IMAGE, "--user", "1000", "--publish", "127.0.0.1::8888", command=COMMAND)
    container.wait(path=f"{BASE}api")
    with pytest.raises(urllib.error.HTTPError, match="403"):
        container.get(f"{BASE}api/contents", token="wrong")
    assert "labs" in {entry["name"] for entry in container.get(f"{BASE}api/contents")["content"]}
    lab = "labs/01_numpy_mlp/01_numpy_mlp.ipynb"
    assert container.run("cat", lab) == (ROOT / lab).read_text(encoding="utf-8")
    assert container.run("cat", "README.md").split("\n## ")[1].startswith("For students\n")
    assert container.run("sh", "-c", "id -u; touch ~/mine").strip() == "1000"


def test_another_user_than_the_images_is_refused(student_image: str) -> None:
    assert "NB_UID" in _build("--build-arg", "NB_USER=someone", "--build-arg", "NB_UID=1234")
