"""A function in a process of its own, for what is chosen once a process: Keras' backend, a compiler's state."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from labkit._launch.errors import RankError, RankNotImplementedError
from labkit._launch.pack import pack
from labkit._launch.run import Run
from labkit._launch.server import warm_server

__all__ = ["ProcessError", "in_fresh_process"]

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
    fn: Callable[..., Any], *args: Any, environment: Mapping[str, str] | None = None, timeout_s: float = 60.0
) -> Any:
    """Run fn(*args) in a process of its own, with further environment variables, and return its value.

    fn may be defined in a notebook cell. In the new process no framework has run yet, and Keras reads KERAS_BACKEND
    from `environment` when fn imports it. It has one thread. What it prints appears here, but for what tensorflow
    says about itself when it starts. Arguments and the value are copied: return numbers, arrays or CPU tensors.

    Raises ProcessError if fn raises, ends the process or takes longer than timeout_s seconds; the process is gone then.
    Raises TypeError if fn does not take these arguments, or they cannot be copied, ValueError for a wrong option, and
    OSError where processes cannot be forked (Windows).
    """
    title = "in_fresh_process"
    if not callable(fn):
        raise TypeError(f"{title}: expected a function first, got {fn!r}\nhint: {title}(fn, *args)")
    if not 0 < timeout_s < math.inf:
        raise ValueError(f"{title}: expected a positive time in seconds, got timeout_s={timeout_s}")
    call = pack(title, fn, args, (), f"{title}(fn, *args) calls fn(*args)")
    variables = {**_QUIET, **_ONE_THREAD, **(environment or {})}
    try:
        scratch = tempfile.TemporaryDirectory(prefix="labkit-", ignore_cleanup_errors=True)
        with scratch as folder, warm_server() as server:
            return Run(server, 1, timeout_s, folder, environment=variables, show=_show).values("none", call)[0]
    except RankNotImplementedError as error:
        raise _NotImplemented(error.what, rank=0, traceback=error.traceback) from None
    except RankError as error:
        trace = re.sub(r"^rank 0", "the process", error.traceback)
        message = f"{title}: {getattr(fn, '__name__', 'fn')} {error.what}"
        raise ProcessError(message, rank=0, what=error.what, hint=error.hint, traceback=trace) from error.__cause__


def _show(_rank: int, line: str) -> None:
    if not _START_UP.match(line):
        print(line)
