"""Processes beside a notebook, which end with a `with` block, with the notebook, or when somebody kills one of them."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from labkit._launch.pack import pack
from labkit._ranks.environment import ONE_THREAD
from labkit._system import end_with_parent

__all__ = ["Background", "background"]

_LOOK_S = 0.02
_GRACE_S = 3.0
_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "
    "from labkit._background import serve; serve(sys.argv.pop(1))"
)


class Background:
    """A process that runs beside this one."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, title: str) -> None:
        self._process, self._log, self._title = process, log, title
        self._last: str | None = None

    def __repr__(self) -> str:
        state = "running" if self.code is None else f"ended with {self.code}"
        return f"{self._title}, process {self.pid}, {state}"

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code: None while it runs, -9 if it was killed."""
        return self._process.poll()

    @property
    def text(self) -> str:
        """What it has printed so far, on both streams."""
        return self._log.read_text(errors="replace") if self._last is None else self._last

    def kill(self) -> None:
        """End it as `kill -9` does: it gets no chance to say goodbye."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()

    def find(self, pattern: str, timeout_s: float = 30.0) -> re.Match[str]:
        """Wait until what it prints matches a regular expression, and return the match.

        Raises RuntimeError if it ends before, and TimeoutError if it takes longer than timeout_s seconds.
        """
        ends = time.monotonic() + timeout_s
        while True:
            ended = self.code is not None  # asked first: what it printed last is then in the log
            if match := re.search(pattern, self.text):
                return match
            if ended:
                raise RuntimeError(f"{self!r} and never printed {pattern!r}\n{self.text}".strip())
            if time.monotonic() > ends:
                raise TimeoutError(f"{self!r}, printed no {pattern!r} in {timeout_s:g} s\n{self.text}".strip())
            time.sleep(_LOOK_S)

    def wait(self, timeout_s: float = 60.0) -> int:
        """Wait for its end and return its exit code; TimeoutError if it takes longer than timeout_s seconds."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{self!r} after {timeout_s:g} s\n{self.text}".strip()) from None

    def end(self) -> None:
        """Ask it to end, and kill it if it does not within a few seconds; processes that it started, too."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.terminate()
            self._process.wait(_GRACE_S)
        self.kill()
        self._last = self.text  # the log goes with the block


@contextmanager
def background(what: Callable[..., object] | str, *args: Any) -> Iterator[Background]:
    """Run a function, or a Python program, in a process of its own until the end of the block.

    background(fn, *args) calls a function, which a notebook cell may define; its arguments are copied and its value is
    lost: it prints what others shall know, or writes it to a file. background("dask", "worker", ...) is
    `python -m dask worker ...`. What it prints is kept: `text`, `find`. NumPy and PyTorch have one
    thread there. No interrupt of the notebook's reaches it. It ends when the block is left, by an exception
    too, or this process has gone.

    Raises TypeError if fn does not take these arguments or they cannot be copied, OSError on Windows.
    """
    if os.name == "nt":
        raise OSError("background: needs signals and groups of processes\nhint: on Windows use WSL 2")
    with tempfile.TemporaryDirectory(prefix="labkit-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if callable(what):
            title = getattr(what, "__name__", "fn")
            call = folder / "call"
            call.write_bytes(pack("background", what, args, (), "background(fn, *args) calls fn(*args)"))
            words = [str(call)]
        else:
            title = " ".join([what, *map(str, args[:1])])
            words = ["", what, *map(str, args)]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-u", "-c", _CODE, json.dumps([*map(str, sys.path)]), *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **ONE_THREAD},
                # A group of its own: an interrupt of the kernel is the notebook's, and what it starts ends with it.
                start_new_session=True,
            )
        started = Background(process, folder / "log", title)
        try:
            yield started
        finally:
            started.end()


def serve(call: str) -> None:
    """Run in the new process: the function in the file `call`, or else the module that sys.argv names."""
    end_with_parent(signal.SIGKILL)
    if not call:
        import runpy

        del sys.argv[0]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        return
    import cloudpickle

    signal.signal(signal.SIGTERM, _leave)
    fn, args = cloudpickle.loads(Path(call).read_bytes())
    fn(*args)


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(143)
