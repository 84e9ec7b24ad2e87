"""An environment with the grader alone: the kit's wheel and what it requires, and nothing else of this one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from benchmarks.installation import KIT, closure

__all__ = ["Bare", "make"]

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Bare:
    """Where it is. Its commands run as if no other environment were there."""

    top: Path

    def run(self, *words: str | Path, cwd: Path, timeout_s: float = 300) -> subprocess.CompletedProcess[str]:
        """Run one of its commands."""
        hidden = ("PYTHON", "VIRTUAL_ENV", "JUPYTER", "COVERAGE")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        environment["PATH"] = f"{self.top / 'bin'}{os.pathsep}{os.defpath}"
        command = [str(self.top / "bin" / words[0]), *map(str, words[1:])]
        return subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False
        )


def make(top: Path, scratch: Path) -> Bare:
    """Make it without a network: packages are copied from this environment, the wheel is built and pip installs it."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    wheel = [*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(scratch)]
    subprocess.run([*wheel, str(_sources(scratch / "checkout"))], check=True)
    (built,) = scratch.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(top)], check=True)
    for name, found in closure([KIT]).items():
        if name != KIT:
            _copy(found, top)
    install = [*pip, "--python", str(top / "bin/python"), "install", "--quiet", "--no-deps", "--no-index", str(built)]
    subprocess.run(install, check=True)
    return Bare(top)


def _sources(target: Path) -> Path:
    """Copy what the wheel is built from: building leaves nothing in the checkout."""
    for name in ("labkit", "autograder", "datasets"):
        shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "labs/LICENSE"):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target / name)
    return target


def _copy(found: metadata.Distribution, top: Path) -> None:
    here = Path(sys.prefix)
    for file in found.files or []:
        source = Path(os.path.normpath(str(file.locate())))
        if not source.is_file() or not source.is_relative_to(here) or source.suffix == ".pyc":
            continue
        target = top / source.relative_to(here)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.parent.name == "bin":  # a command names its Python in the first line
            target.write_bytes(source.read_bytes().replace(str(here).encode(), str(top).encode()))
            target.chmod(0o755)
        else:
            shutil.copyfile(source, target)
