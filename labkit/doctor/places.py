"""Probes of what a lab writes to and reads from, and of what grading needs."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Literal

from labkit import _system
from labkit.doctor.finding import Finding

__all__ = ["data_sets", "sandbox", "writable"]

_SANDBOX = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "true"]
_SANDBOX_S = 5.0


def writable() -> list[Finding]:
    """Try to write into the working directory and the data cache."""
    from labkit._data import cache_dir

    here, cache = Path.cwd(), cache_dir()
    return [
        _writable("working directory", here, "fail", "start in a folder of your own: nothing can be saved here"),
        _writable("data cache", cache, "warn", "export LABKIT_DATA=a folder that you may write to"),
    ]


def _writable(what: str, folder: Path, otherwise: Literal["warn", "fail"], fix: str) -> Finding:
    # A cache that is not there yet will be made in the nearest folder that is.
    nearest = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            return Finding("ok", what, f"{folder} can be written")
    except OSError as error:
        return Finding(otherwise, what, f"{folder} cannot be written: {error.strerror}", fix)


def data_sets() -> list[Finding]:
    """Say which data sets need no network."""
    from labkit._data import describe

    entries = describe()
    ready = [entry.name for entry in entries if entry.ready]
    missing = [entry.name for entry in entries if not entry.ready]
    later = f"; `labkit data get NAME` downloads {', '.join(missing)}" if missing else ""
    return [Finding("ok", "data sets", f"{', '.join(ready)} ready{later}")]


def sandbox() -> list[Finding]:
    """Try the sandbox that grading uses; students do not need it."""
    if not _system.LINUX:
        where = "only graders need it, and they work on Linux; docs/instructors.md says how else"
        return [Finding("ok", "sandbox", f"none on this system: {where}")]
    if not shutil.which("bwrap"):
        return [
            Finding("warn", "sandbox", "bubblewrap is not installed", "only graders need it: apt install bubblewrap")
        ]
    done = subprocess.run(_SANDBOX, check=False, capture_output=True, text=True, timeout=_SANDBOX_S)
    if done.returncode == 0:
        return [Finding("ok", "sandbox", "bubblewrap and user namespaces work")]
    allow = "allow unprivileged user namespaces (docker: --security-opt seccomp=docker/seccomp.json)"
    fix = f"only graders need it, and they have a second one: {allow}"
    words = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return [Finding("warn", "sandbox", words, fix)]
