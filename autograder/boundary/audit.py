"""Refuses what would make code of a value while a test runs, whatever the test calls it by.

`evaluation` looks for that in a test's text, before it is run apart. What it cannot see there, a function of a library
that evaluates a text inside, Python itself announces (PEP 578): each exec and eval, each class that a pickle names,
each program that is started. A value may come from the student's code, so the trusted process allows only what imports
modules, and what a few functions of libraries make from names.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import sysconfig
import tempfile
import types
from collections.abc import Iterable, Iterator
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from typing import Any

from autograder.boundary.frames import Unanswered
from autograder.boundary.templates import guard

__all__ = ["CodeMade", "Sentry"]

_EVENTS = {
    **{"exec": "runs code", "function.__new__": "makes a function", "code.__new__": "makes code"},
    **{"marshal.loads": "reads code", "marshal.load": "reads code", "pickle.find_class": "loads a pickle"},
    **{"ctypes.dlopen": "loads a library", "sqlite3.enable_load_extension": "loads a library"},
    **{"sqlite3.load_extension": "loads a library", "import": "loads a library"},
    **dict.fromkeys(("os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn"), "starts a program"),
    **dict.fromkeys(("os.fork", "os.forkpty", "subprocess.Popen"), "starts a program"),
}
_STARTS = {"os.fork", "os.forkpty", "subprocess.Popen", "os.posix_spawn"}
_HERE = f"{Path(__file__).parent}{os.sep}"
_IMPORTS = "<frozen importlib._bootstrap"
_MAKERS = tuple(
    str(Path(sysconfig.get_path(place), path))
    for place, path in (
        ("stdlib", "collections/__init__.py"),  # named tuples: of names that are identifiers
        ("stdlib", "dataclasses.py"),
        ("purelib", "scipy/stats/_distn_infrastructure.py"),  # the parameters' names of a distribution
        ("purelib", "networkx/utils/decorators.py"),  # its own functions, at their first call
    )
)
"""What makes code of names, and of nothing else that it is given."""
_TRANSLATES = str(Path(sysconfig.get_path("purelib"), "tensorflow/python/autograph/pyct/loader.py"))
"""Writes a file with what it has made of the source of a function that lies in this process, and imports it."""


class CodeMade(Unanswered):
    """Something in a test would make code of a value, which may be the student's."""

    __module__ = "builtins"


class Sentry:
    """Watches this process from now on; refuses while `watching`."""

    def __init__(self) -> None:
        self._on = False
        found = importlib.util.find_spec("labkit")
        assert found is not None and found.submodule_search_locations
        self._labkit = f"{found.submodule_search_locations[0]}{os.sep}"
        places = {Path.cwd(), Path.home(), Path(tempfile.gettempdir()), Path("/tmp"), Path("/dev/shm")}
        self._writable = _folders(places)
        self._installed = _folders({Path(path) for path in (sys.prefix, sys.base_prefix, *sys.path) if path} - places)
        sys.addaudithook(self._heard)
        guard(lambda: self._on)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Raise CodeMade, in what this thread or another does, at what is not allowed."""
        self._on = True
        try:
            yield
        finally:
            self._on = False

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._on and event in _EVENTS and not self._allowed(event, arguments, sys._getframe(1)):
            raise CodeMade(f"{_where(sys._getframe(1))} {_EVENTS[event]}: not where it may be the student's")

    def _allowed(self, event: str, arguments: tuple[Any, ...], frame: types.FrameType | None) -> bool:
        if event == "import":  # of every module; its file is named where it is a library
            return not (arguments[1] and self._written(os.fsdecode(arguments[1])))
        caller = frame.f_code.co_filename if frame else ""
        if caller.startswith((_HERE, *_MAKERS)) and event == "exec":
            return True
        if caller == "<given>" and frame and frame.f_code.co_name == "<module>" and event == "exec":
            return True  # a statement of a locked cell, which has met nothing of a student's; its functions will
        files = set(_files(frame))
        if event == "exec" and caller.startswith(_IMPORTS) and self._written(_file_of(arguments)):
            return _TRANSLATES in files or self._of_a_library(frame)
        if event == "ctypes.dlopen" and not (arguments[0] and self._written(os.fsdecode(arguments[0]))):
            return True  # of the system, or of a package
        if event in _STARTS and any(file.startswith(self._labkit) for file in files):
            return True
        return any(file.startswith(_IMPORTS) for file in files)  # a module, and what it does when it is imported

    def _of_a_library(self, frame: types.FrameType | None) -> bool:
        """Whether the import under way is of a library that lies where nobody can write: it may run Python inside."""
        while frame is not None and frame.f_code.co_filename.startswith(_IMPORTS):
            loader = frame.f_locals.get("self")
            if isinstance(loader, ExtensionFileLoader):
                return not self._written(loader.path)
            frame = frame.f_back
        return False

    def _written(self, path: str) -> bool:
        """Whether a file lies where this process can write; a module that is part of Python lies nowhere."""
        if path.startswith("<frozen "):
            return False
        real = os.path.realpath(path)
        return real.startswith(self._writable) and not real.startswith(self._installed)


def _folders(places: Iterable[Path]) -> tuple[str, ...]:
    return tuple(f"{place.resolve()}{os.sep}" for place in places if place.resolve() != Path("/"))


def _file_of(arguments: tuple[Any, ...]) -> str:
    code = arguments[0] if arguments else None
    return code.co_filename if isinstance(code, types.CodeType) else ""


def _files(frame: types.FrameType | None) -> Iterator[str]:
    """Yield the file of each frame, up to the test cell."""
    while frame is not None and not frame.f_code.co_filename.startswith(_HERE):
        yield frame.f_code.co_filename
        frame = frame.f_back


def _where(frame: types.FrameType) -> str:
    name = frame.f_code.co_filename
    return "the test" if name == "<test>" else f"{Path(name).name}, which the test uses,"
