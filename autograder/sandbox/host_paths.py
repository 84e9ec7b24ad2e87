"""Which paths of the host a student's Python needs to see, and nothing else."""

from __future__ import annotations

import functools
import importlib.util
import os
import site
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from autograder.sandbox.base import Policy

__all__ = [
    "checkout_paths",
    "environment",
    "etc_files",
    "font_list",
    "python_is_public",
    "python_paths",
    "system_paths",
]

# Not the whole of /usr: /usr/src and /usr/local/src are where containers like to keep an application, or a course.
_SYSTEM = (
    "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/libexec", "/usr/include",
    "/usr/share", "/usr/local/bin", "/usr/local/include", "/usr/local/lib", "/usr/local/lib64", "/usr/local/share",
    "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
    "/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache", "/etc/localtime",
    "/sys/devices/system/cpu", "/sys/devices/system/node",
)  # fmt: skip


def system_paths() -> list[Path]:
    """Return the system's own files and directories that exist here; some are symbolic links."""
    return [path for path in map(Path, _SYSTEM) if os.path.lexists(path)]


def python_paths() -> list[Path]:
    """Return the running interpreter, its environment, and from a checkout only labkit and its data sets."""
    roots = [Path(sys.base_prefix), Path(sys.prefix)]
    if site.ENABLE_USER_SITE:
        roots.append(Path(site.getusersitepackages()))
    # A link on the way, such as a version manager's, must resolve inside as it does outside.
    roots += [root.resolve() for root in roots] + [Path(sys.executable).resolve().parent]
    shown = {Path("/usr"), Path("/usr/local")}  # as far as they matter, by system_paths
    return _outermost([*(root for root in roots if root not in shown), *checkout_paths()])


def checkout_paths() -> list[Path]:
    """Return what a student's Python imports of the kit itself, which may run from a checkout."""
    spec = importlib.util.find_spec("labkit")
    if spec is None or spec.origin is None:
        return []
    package = Path(spec.origin).parent
    # What both ends of the grader's conversation need is shown to them; the rest of the grader is not.
    parts = (package, package.parent / "datasets", package.parent / "autograder" / "boundary")
    return [path for path in parts if path.is_dir()]


def python_is_public() -> bool:
    """Whether an unprivileged user of this machine can run this Python and import the kernel from its environment."""
    spec = importlib.util.find_spec("ipykernel")
    origin = [Path(spec.origin)] if spec and spec.origin else []
    return all(_is_public(path.resolve()) for path in (Path(sys.executable), Path(os.__file__), *origin))


def environment(policy: Policy, *, home: str, tmp: str) -> dict[str, str]:
    """Return all variables of a student's process; nothing of the grader's own environment is among them."""
    threads = str(policy.threads)
    variables = {
        "HOME": home,
        "LANG": "C.UTF-8",
        "PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
        "PYTHONHASHSEED": "0",
        "TMPDIR": tmp,
        "MKL_NUM_THREADS": threads,
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "TF_NUM_INTEROP_THREADS": threads,
        "TF_NUM_INTRAOP_THREADS": threads,
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TF_ENABLE_ONEDNN_OPTS": "0",
    }
    if site.ENABLE_USER_SITE:
        variables["PYTHONUSERBASE"] = site.getuserbase()
    return variables | dict(policy.environment)


def etc_files(uid: int, *, home: str) -> dict[str, str]:
    """Return the few files of /etc that libraries look for, by name; the student has this uid."""
    return {
        "passwd": f"root:x:0:0::/:/usr/sbin/nologin\nstudent:x:{uid}:{uid}::{home}:/bin/sh\n",
        "group": f"root:x:0:\nstudent:x:{uid}:\n",
        "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",  # else a name is looked up in the network first
    }


@functools.cache
def font_list() -> Path | None:
    """Return matplotlib's list of this machine's fonts, made now if need be; None where there is no matplotlib.

    Without it the first figure in every sandbox searches all fonts of the system: 0.1 s with a dozen, and with
    thousands seconds and a warning.
    """
    found = _newest_font_list()
    if found is None:
        subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], capture_output=True, check=False)
        found = _newest_font_list()
    return found


def _is_public(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o004) and all(parent.stat().st_mode & 0o001 for parent in path.parents)


def _outermost(paths: Iterable[Path]) -> list[Path]:
    kept: list[Path] = []
    for path in sorted({path for path in paths if path.is_dir()}, key=lambda path: len(path.parts)):
        if not any(path.is_relative_to(other) for other in (*kept, *system_paths())):
            kept.append(path)
    return kept


def _newest_font_list() -> Path | None:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "matplotlib"
    config = os.environ.get("MPLCONFIGDIR")
    lists = sorted(Path(config or cache).glob("fontlist-v*.json"), key=lambda path: path.stat().st_mtime)
    return lists[-1] if lists else None
