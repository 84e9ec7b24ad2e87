"""Write exact versions: docker/requirements.txt and docker/hub/requirements.txt for all that is in the images but
torch, constraints.txt for what `make setup` installs besides.

Usage: python docker/lock.py [image | hub | kit], with Python 3.11 as in the images; without a name, all three. Asks pip
for a solution without installing it: of pyproject.toml's ranges, and of the others' packages in the images' versions.
The images' and the kit's are for the oldest 3.11 that somebody has, whichever runs this.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
IMAGE, HUB, KIT = HERE / "requirements.txt", HERE / "hub" / "requirements.txt", HERE.parent / "constraints.txt"
_HUB = (
    "jupyterhub",
    "dockerspawner>=14,<15",
    "jupyterhub-nativeauthenticator>=1.3,<2",
    "jupyterhub-idle-culler>=2,<3",
)
# The oldest Python that the image is built on, and a checkout used with: Debian 12's.
_ON = ("--python-version", "3.11.2", "--only-binary", ":all:", "--target", "nowhere")
# What a CUDA build of torch brings along besides what any build needs.
_CUDA = re.compile(r"nvidia-|cuda-|triton")
# jsonschema checks addresses beyond ASCII with these if they are there, and no notebook has one: without them a Jupyter
# server starts 1.4 s sooner.
_NEEDLESS = {"lark", "rfc3987-syntax"}
_HEADER = "# Written by `python docker/lock.py`."


def resolve(*wanted: str) -> dict[str, str]:
    """Return the version of each package that pip would install into an empty environment."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    done = subprocess.run([*command, *wanted], stdout=subprocess.PIPE, check=True, text=True)
    found = (item["metadata"] for item in json.loads(done.stdout)["install"])
    return {re.sub(r"[-_.]+", "-", item["name"]).lower(): item["version"] for item in found}


def _project() -> tuple[dict[str, Any], dict[str, list[str]]]:
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project, project["optional-dependencies"]


def image() -> str:
    """Return the lines for the students' and instructors' image."""
    project, extras = _project()
    versions = resolve(*_ON, *project["dependencies"], *extras["labs"], *extras["cluster"], *extras["hub"])
    torch = versions.pop("torch").partition("+")[0]
    tensorflow = versions.pop("tensorflow")
    lines = [f"{_HEADER} Each image has its own torch, installed by itself.", f"# torch=={torch}"]
    lines += [f"{name}=={versions[name]}" for name in sorted(versions.keys() - _NEEDLESS) if not _CUDA.match(name)]
    # The same program without its CUDA kernels; for other processors the ordinary package has none.
    lines.append(f"tensorflow-cpu=={tensorflow}; platform_machine == 'x86_64'")
    lines.append(f"tensorflow=={tensorflow}; platform_machine != 'x86_64'")
    return "\n".join([*lines, ""])


def hub() -> str:
    """Return the lines for the hub's image."""
    versions = resolve("--constraint", str(IMAGE), *_HUB)
    return "\n".join([_HEADER, *(f"{name}=={versions[name]}" for name in sorted(versions)), ""])


def kit() -> str:
    """Return the lines for a checkout, the development tools among them. torch comes in many builds: pip's choice."""
    project, extras = _project()
    wanted = [*project["dependencies"], *(line for extra in extras.values() for line in extra)]
    versions = resolve(*_ON, *wanted)
    del versions["torch"]
    return "\n".join(
        [_HEADER, *(f"{name}=={versions[name]}" for name in sorted(versions) if not _CUDA.match(name)), ""]
    )


def main() -> None:
    """Write the files that are named, or all."""
    files = {"image": (IMAGE, image), "hub": (HUB, hub), "kit": (KIT, kit)}
    chosen = sys.argv[1:] or list(files)
    if unknown := set(chosen) - files.keys():
        raise SystemExit(f"docker/lock.py: no {min(unknown)!r}, only {', '.join(files)}")
    for name in chosen:
        path, lines = files[name]
        path.write_text(lines(), encoding="utf-8")


if __name__ == "__main__":
    main()
