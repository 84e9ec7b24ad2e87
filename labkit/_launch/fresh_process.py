"""A function in a process of its own, for what is chosen once a process: Keras' backend, a compiler's state."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from labkit._launch.errors import RankError, RankNotImplementedError
from labkit._launch.launcher import Run
from labkit._launch.pack import pack
from labkit._launch.server import warm_server

__all__ = ["ProcessError", "as_process_error", "in_fresh_process"]

_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
_ONE_THREAD = {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}
# What tensorflow writes before it reads the level above: that it found no GPU, how it was compiled.
_START_UP = re.compile(
    r"WARNING: All log messages before absl::InitializeLog"
    r"|[IWE]\d{4} \d\d:\d\d:\d+\.\d+ +\d+ \w+\.cc:\d+\]"
    r"|To enable the following instructions: "
)


class ProcessError(RankError):
    """What `in_fresh_process` or `torchrun` started raised, ended early, or ran out of time."""


class _NotImplemented(ProcessError, RankNotImplementedError):
    """It met a task that is not written yet: still a NotImplementedError for who called it."""


_NotImplemented.__name__ = _NotImplemented.__qualname__ = "NotImplementedError"  # what a notebook shows


def in_fresh_process(
    fn: Callable[..., Any],
    *args: Any,
    environment: Mapping[str, str] | None = None,
    timeout_s: float = 60.0,
    only_compute: bool = False,
    only_write_in: str | os.PathLike[str] | None = None,
) -> Any:
    """Run fn(*args) in a process of its own, with further environment variables, and return its value.

    fn may be defined in a notebook cell. In the new process no framework has run yet, and Keras reads KERAS_BACKEND
    from `environment` when fn imports it. It has one thread. What it prints appears here, but for what tensorflow
    says about itself when it starts. Arguments and the value are copied: return numbers, arrays or CPU tensors.

    only_compute: fn can tell others nothing but by its value: no file opens, no process or connection starts. What it
    needs has to be imported above it. only_write_in: fn can write files in this folder only, and tell others nothing
    else. Linux sees to both; elsewhere only_compute opens no files, and only_write_in starts no processes.

    Raises ProcessError if fn raises, ends the process or takes longer than timeout_s seconds; the process is gone then.
    Raises TypeError if fn does not take these arguments, or they cannot be copied, ValueError for a wrong option, and
    OSError where processes cannot be forked (Windows).
    """
    title = "in_fresh_process"
    if not callable(fn):
        raise TypeError(f"{title}: expected a function first, got {fn!r}\nhint: {title}(fn, *args)")
    if not 0 < timeout_s < math.inf:
        raise ValueError(f"{title}: expected a positive time in seconds, got timeout_s={timeout_s}")
    if only_compute and only_write_in is not None:
        raise ValueError(f"{title}: only_compute and only_write_in exclude each other")
    folder_of_its_own = Path(only_write_in).absolute() if only_write_in is not None else None
    if folder_of_its_own is not None and not folder_of_its_own.is_dir():
        raise ValueError(f"{title}: there is no folder {folder_of_its_own} to write in")
    confinement = {"only_compute": only_compute, "only_write_in": str(folder_of_its_own or "")}
    call = pack(title, fn, args, (), f"{title}(fn, *args) calls fn(*args)")
    variables = {**_QUIET, **_ONE_THREAD, **(environment or {})}
    try:
        scratch = tempfile.TemporaryDirectory(prefix="labkit-", ignore_cleanup_errors=True)
        with scratch as folder, warm_server() as server:
            run = Run(server, 1, timeout_s, folder, environment=variables, show=_show, confinement=confinement)
            return run.values("none", call)[0]
    except RankError as error:
        raise as_process_error(error, getattr(fn, "__name__", "fn")) from error.__cause__


def as_process_error(error: RankError, name: str) -> ProcessError:
    """Return what `in_fresh_process` raises where the only rank failed with this, in a function of that name."""
    if isinstance(error, RankNotImplementedError):
        return _NotImplemented(error.what, rank=0, traceback=error.traceback)
    trace = re.sub(r"^rank 0", "the process", error.traceback)
    message = f"in_fresh_process: {name} {error.what}"
    return ProcessError(message, rank=0, what=error.what, hint=error.hint, traceback=trace)


def _show(_rank: int, line: str) -> None:
    if not _START_UP.match(line):
        print(line)
