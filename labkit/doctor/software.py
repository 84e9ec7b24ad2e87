"""Probes of Python, the packages, and what JupyterLab finds of them."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from collections.abc import Sequence
from importlib import metadata
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labkit._work.jupyterlab import for_students
from labkit.doctor.finding import Finding

if TYPE_CHECKING:
    from packaging.requirements import Requirement

__all__ = ["GRADER_ALONE", "extensions", "frameworks", "kernel", "package", "packages", "python"]

GRADER_ALONE = "frameworks"
"""What is found to be missing where the kit was installed without the labs' frameworks."""

_DISTRIBUTION = "dl-scale-practicum"
_NBGRADER = "@jupyter/nbgrader"


def python() -> list[Finding]:
    """Compare Python with what the kit's own metadata asks for."""
    from packaging.specifiers import SpecifierSet

    version = platform.python_version()
    try:
        wanted = metadata.metadata(_DISTRIBUTION)["Requires-Python"]
    except metadata.PackageNotFoundError:
        fix = "run `make setup` in the checkout, or pip install the kit"
        return [Finding("warn", "Python", f"{version}; the kit is not installed, so no version can be compared", fix)]
    good = SpecifierSet(wanted).contains(version, prereleases=True)
    detail, fix = f"{version} (needs {_range(wanted)})", "make setup PYTHON=python3.12"
    finding = Finding("ok", "Python", detail) if good else Finding("fail", "Python", detail, fix)
    return [finding, Finding("ok", "environment", sys.prefix)]


def packages() -> list[Finding]:
    """Compare each package with the range that the kit is tested with; its installed metadata says which."""
    from packaging.requirements import Requirement

    try:
        lines = metadata.requires(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return []
    wanted = [Requirement(line) for line in lines]
    always = [item for item in wanted if _wanted_for("", item)]
    of_labs = [item for item in wanted if _wanted_for("labs", item) and item not in always]
    return [*(package(item) for item in always), *frameworks(of_labs)]


def _wanted_for(extra: str, item: Requirement) -> bool:
    return not item.marker or item.marker.evaluate({"extra": extra})


def frameworks(wanted: Sequence[Requirement]) -> list[Finding]:
    """Compare what only the labs need; where nothing of it is there, the kit was installed for grading alone."""
    if any(_version(name) for item in wanted for name in _names(item)) or not wanted:
        return [package(item) for item in wanted]
    names = ", ".join(item.name for item in wanted)
    fix = f"to run the labs: pip install '{_DISTRIBUTION}[labs]'"
    return [Finding("warn", GRADER_ALONE, f"{names} are not installed; the grader does without", fix)]


def package(wanted: Requirement) -> Finding:
    """Compare one package with its requirement; nothing is imported."""
    fix = f"pip install '{wanted.name}{_range(str(wanted.specifier))}'"
    found = [name for name in _names(wanted) if _version(name)]
    if not found:
        return Finding("fail", wanted.name, "not installed", fix)
    version = _version(found[0])
    shown = version if found[0] == wanted.name else f"{version} ({found[0]})"
    if wanted.specifier.contains(version, prereleases=True):
        return Finding("ok", wanted.name, shown)
    return Finding("warn", wanted.name, f"{shown}, tested with {_range(str(wanted.specifier))}", fix)


def _names(wanted: Requirement) -> tuple[str, str]:
    """Return the names of the distributions that are this package: one of them may be its build for processors."""
    return wanted.name, f"{wanted.name}-cpu"


def _version(name: str) -> str:
    """Return a package's version, or "" if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _range(specifiers: str) -> str:
    """Return ">=3.11,<3.14" in whichever order the parts came."""
    return ",".join(sorted(specifiers.split(","), reverse=True))


def kernel() -> list[Finding]:
    """Check that a notebook's Python kernel runs this environment."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    fix = f"{sys.executable} -m ipykernel install --sys-prefix"
    try:
        command = KernelSpecManager().get_kernel_spec("python3").argv[0]
    except NoSuchKernel:
        return [Finding("fail", "kernel", "no Python kernel is registered", fix)]
    # Folders, not files: in two environments the interpreter is a link to the same one. A bare "python" is replaced
    # by the interpreter that runs Jupyter.
    here, there = Path(sys.executable).parent.resolve(), Path(command).parent.resolve()
    if re.fullmatch(r"python[\d.]*", command) or here == there:
        return [Finding("ok", "kernel", "python3 runs this environment")]
    return [Finding("warn", "kernel", f"python3 runs {command}, not this environment", fix)]


def extensions() -> list[Finding]:
    """Look for nbgrader's extensions of JupyterLab and its server, without starting either.

    Only the one that validates matters where the kit was installed without its grader, and in a student's JupyterLab,
    from which `labkit lab` leaves out the others.
    """
    from jupyter_core.paths import jupyter_path

    installed = any(Path(folder, _NBGRADER).is_dir() for folder in jupyter_path("labextensions"))
    disabled, servers = _jupyter_settings()
    off = [name for name in disabled if name.startswith(_NBGRADER)]
    wanted = ["formgrader", "validate_assignment"]
    if for_students(os.environ) or not entry_points(group="console_scripts", name="autograder"):
        off = [name for name in off if name == _NBGRADER or "validate" in name]
        wanted.remove("formgrader")
    missing = [part for part in wanted if not _enabled(servers, part)]
    if not installed:
        what, fix = f"{_NBGRADER} is not installed", "pip install --force-reinstall nbgrader"
    elif off:
        what, fix = f"disabled: {', '.join(off)}", f"jupyter labextension enable {off[0]}"
    elif missing:
        what, fix = f"not enabled: {', '.join(missing)}", "jupyter server extension enable --sys-prefix --py nbgrader"
    else:
        return [Finding("ok", "Validate button", "nbgrader's extensions are enabled in JupyterLab and its server")]
    return [Finding("warn", "Validate button", what, fix)]


def _jupyter_settings() -> tuple[list[str], dict[str, bool]]:
    """Return the disabled extensions of JupyterLab, and which extensions of its server are on; nearer folders win."""
    from jupyter_core.paths import jupyter_config_path

    disabled: dict[str, bool] = {}
    servers: dict[str, bool] = {}
    for folder in map(Path, reversed(jupyter_config_path())):
        page = _json(folder / "labconfig/page_config.json").get("disabledExtensions", {})
        disabled |= page if isinstance(page, dict) else dict.fromkeys(page, True)
        for file in [*sorted(folder.glob("jupyter_server_config.d/*.json")), folder / "jupyter_server_config.json"]:
            servers |= _json(file).get("ServerApp", {}).get("jpserver_extensions", {})
    return sorted(name for name, off in disabled.items() if off), servers


def _enabled(servers: dict[str, bool], part: str) -> bool:
    return any(value and key.startswith("nbgrader") and key.endswith(part) for key, value in servers.items())


def _json(file: Path) -> dict[str, Any]:
    content = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return content if isinstance(content, dict) else {}
