"""Pick the strongest sandbox that works on this machine, and say in one line why a stronger one does not."""

from __future__ import annotations

import functools
import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

from autograder.errors import SandboxError
from autograder.sandbox.base import Job, Policy, ProcessLimits, Sandbox
from autograder.sandbox.bubblewrap import Bubblewrap, BwrapOptions
from autograder.sandbox.guest import PROBE
from autograder.sandbox.landlock_sandbox import LandlockSandbox, unfit
from autograder.sandbox.limits_only import ResourceLimits
from autograder.sandbox.scratch_dir import ScratchDir
from autograder.sandbox.seccomp import filter_program

__all__ = ["choose", "complaint"]

NOT_INSTALLED = "bubblewrap is not installed (Debian and Ubuntu: apt-get install bubblewrap)"
TOO_OLD = "bubblewrap is too old: it has no --size (0.5 and later have)"
CLONE_OFF = "ordinary users may not use namespaces here (allow: sysctl kernel.unprivileged_userns_clone=1)"
NONE_LEFT = "user namespaces are switched off here (allow: sysctl user.max_user_namespaces=10000)"
APPARMOR = (
    "AppArmor keeps bubblewrap from user namespaces"
    " (allow: an AppArmor profile for bwrap, or sysctl kernel.apparmor_restrict_unprivileged_userns=0)"
)
CONTAINER = "this container forbids namespaces (allow: docker run --security-opt seccomp=docker/seccomp.json)"
OTHER = "bubblewrap does not work here: {message}"

_NAMES = (Bubblewrap.name, LandlockSandbox.name, ResourceLimits.name)
_WEAKER = "or use limits, and have the grades marked"
_PROBE_TIMEOUT_S = 30


def choose(name: str | None = None) -> Sandbox:
    """Return the strongest sandbox that works: `bubblewrap`, `landlock` or `limits`; or the one that is named.

    Named by the caller, or by the environment variable AUTOGRADER_SANDBOX.
    Whether one works is found out by running a process in it, once (30 to 60 ms). What is returned says in `instead` or
    `why_not` why a stronger one does not.

    Raises SandboxError when the one that is named does not work here, or when there is none of that name.
    """
    if sys.platform != "linux":
        raise SandboxError(f"sandbox: there is none for {sys.platform}", hint="grade on Linux, or in the Docker image")
    name = name or os.environ.get("AUTOGRADER_SANDBOX") or None
    if name not in (None, *_NAMES):
        raise SandboxError(f"sandbox {name!r}: there is none of that name", hint=f"use {', '.join(_NAMES)}")
    if name == ResourceLimits.name:
        return ResourceLimits("limits was asked for by name")
    bubblewrap = "landlock was asked for by name" if name == LandlockSandbox.name else _working_bubblewrap()
    if isinstance(bubblewrap, Bubblewrap):
        return bubblewrap
    if name == Bubblewrap.name:
        raise SandboxError(f"sandbox bubblewrap: {bubblewrap}", hint=_WEAKER)
    landlock = _landlock_failure()
    if not landlock:
        return LandlockSandbox(bubblewrap)
    if name == LandlockSandbox.name:
        raise SandboxError(f"sandbox landlock: {landlock}", hint=_WEAKER)
    return ResourceLimits(f"{bubblewrap}; {landlock}")


@functools.cache
def _landlock_failure() -> str:
    """Return why a process cannot be run in the sandbox of Landlock; "" if it can."""
    return unfit() or complaint(LandlockSandbox())


@functools.cache
def _working_bubblewrap() -> Bubblewrap | str:
    """Return bubblewrap put up in the first way that works here, or the line that says why none does."""
    executable = shutil.which("bwrap")
    if executable is None:
        return NOT_INSTALLED
    manual = subprocess.run([executable, "--help"], capture_output=True, text=True, check=False).stdout
    if "--size" not in manual:
        return TOO_OLD
    message = ""
    as_root = os.getuid() == 0
    filters = (True, False) if filter_program() else (False,)
    seals = (True, False) if "--disable-userns" in manual and not as_root else (False,)
    every = itertools.product(filters, (True, False), seals, (True, False))
    for filtered, own_proc, seal_users, bounds_files in every:
        way = BwrapOptions(
            executable,
            as_root=as_root,
            filtered=filtered,
            own_proc=own_proc,
            seal_users=seal_users,
            bounds_files=bounds_files,
        )
        message = complaint(Bubblewrap(way))
        if not message:
            return Bubblewrap(way)
    return explain(message)


def complaint(
    sandbox: Sandbox, policy: Policy | None = None, *, program: Path = PROBE, limits: ProcessLimits | None = None
) -> str:
    """Return "" when a process can be run in the sandbox, else what it complained about."""
    room = ScratchDir()  # so that nothing is left of a grader that is killed in here
    job = Job(program=program, directory=room.path, policy=policy or Policy(), limits=limits or ProcessLimits())
    try:
        process = sandbox.start(job)
        code = process.wait(_PROBE_TIMEOUT_S)
        process.close()
    except SandboxError as error:
        return str(error)
    finally:
        room.leave()
    return "" if code == 0 else process.last_words() or f"a process in it ended with code {code}"


def explain(message: str) -> str:
    """Return why bubblewrap fails with this message: the setting of this machine that forbids it, if one does."""
    if _setting("kernel/unprivileged_userns_clone") == "0" and os.getuid() != 0:
        return CLONE_OFF
    if _setting("user/max_user_namespaces") == "0":
        return NONE_LEFT
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1" and os.getuid() != 0:
        return APPARMOR
    if "namespace" in message and (Path("/.dockerenv").exists() or Path("/run/.containerenv").exists()):
        return CONTAINER
    return OTHER.format(message=message)


def _setting(name: str) -> str:
    try:
        return Path("/proc/sys", name).read_text().strip()
    except OSError:
        return ""
