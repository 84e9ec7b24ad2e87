"""JupyterLab as a student sees it: without what nbgrader adds for instructors, and without what has nothing to show."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["command", "for_students", "settings"]

_SETTINGS = Path(__file__).parent / "jupyter"
_EXCHANGE = Path("/usr/local/share/nbgrader/exchange")
_NAMED = "PRACTICUM_EXCHANGE"
_CONFIG = "nbgrader_config.py"


def command(work: Path, options: Sequence[str], *, root: bool) -> list[str]:
    """Return the command line that starts JupyterLab on the folder `work`, with further options of JupyterLab's own.

    root: whether the user is root, as in most containers, whom JupyterLab turns away unless it is told.
    """
    allowed = ["--allow-root"] if root and "--allow-root" not in options else []
    return [sys.executable, "-m", "jupyterlab", f"--notebook-dir={work}", *allowed, *options]


def settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what JupyterLab's environment has to have beside this one: the folders of the students' settings."""
    folders = (
        [_SETTINGS / "student"] if _has_exchange(environment) else [_SETTINGS / "no_exchange", _SETTINGS / "student"]
    )
    others = [environment["JUPYTER_CONFIG_PATH"]] if environment.get("JUPYTER_CONFIG_PATH") else []
    return {"JUPYTER_CONFIG_PATH": os.pathsep.join([*map(str, folders), *others])}


def for_students(environment: Mapping[str, str]) -> bool:
    """Whether this environment is one that `settings` has made."""
    return str(_SETTINGS / "student") in environment.get("JUPYTER_CONFIG_PATH", "").split(os.pathsep)


def _has_exchange(environment: Mapping[str, str]) -> bool:
    """Whether assignments come and go through nbgrader's exchange: at its usual place, or where a configuration says.

    The list of assignments shows an error box a section where there is none.
    """
    from jupyter_core.paths import jupyter_config_path

    if environment.get(_NAMED) or _EXCHANGE.is_dir():
        return True
    files = [Path(folder, _CONFIG) for folder in [*map(str, jupyter_config_path()), str(Path.cwd())]]
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files if file.is_file()]
    # The image's own configuration has an exchange only where the variable names one.
    return any("c.Exchange" in text and _NAMED not in text for text in texts)
