"""Write docker/requirements.txt: exact versions of all that is in the image but torch, which each tag has its own of.

Usage: python docker/lock.py. Asks pip for a solution of pyproject.toml's ranges without installing it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "docker" / "requirements.txt"
# The oldest Python that the image is built on: Debian 12's.
_PYTHON = "3.11.2"
# What a CUDA build of torch brings along besides what any build needs.
_CUDA = re.compile(r"nvidia-|cuda-|triton")
# jsonschema checks addresses beyond ASCII with these if they are there, and no notebook has one: without them a Jupyter
# server starts 1.4 s sooner.
_NEEDLESS = {"lark", "rfc3987-syntax"}
_HEADER = "# Written by `python docker/lock.py`. Each image has its own torch, installed by itself.\n"


def resolve() -> dict[str, str]:
    """Return the version of each package that pip would install into an empty environment."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    command += ["--python-version", _PYTHON, "--only-binary", ":all:", "--target", "nowhere"]
    command += [*project["dependencies"], *extras["cluster"], *extras["hub"]]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found = (item["metadata"] for item in json.loads(done.stdout)["install"])
    return {re.sub(r"[-_.]+", "-", item["name"]).lower(): item["version"] for item in found}


def locked(versions: dict[str, str]) -> str:
    """Return the file's text."""
    torch = versions.pop("torch").partition("+")[0]
    tensorflow = versions.pop("tensorflow")
    lines = [f"{name}=={versions[name]}\n" for name in sorted(versions.keys() - _NEEDLESS) if not _CUDA.match(name)]
    # The same program without its CUDA kernels; for other processors the ordinary package has none.
    lines.append(f"tensorflow-cpu=={tensorflow}; platform_machine == 'x86_64'\n")
    lines.append(f"tensorflow=={tensorflow}; platform_machine != 'x86_64'\n")
    return f"{_HEADER}# torch=={torch}\n" + "".join(lines)


if __name__ == "__main__":
    LOCK.write_text(locked(resolve()), encoding="utf-8")
