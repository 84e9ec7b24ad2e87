"""Keeps the code of libraries in memory: where no path may be looked up, what they import late is found here.

Read before anything of the student's is there, so that what is imported afterwards touches no file.
"""

from __future__ import annotations

import contextlib
import importlib.util
import marshal
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

__all__ = ["LIBRARIES", "KeptModules", "modules_of"]

_PASSED_OVER = {"__pycache__", "idlelib", "lib2to3", "site-packages", "test", "tests", "tkinter", "turtledemo"}
_INIT = "__init__"
_HEADER_BYTES = 16
"""What stands before the code in a .pyc file."""
_MOST_BYTES = 512 << 20


class _Kept(NamedTuple):
    file: str
    content: bytes
    compiled: bool

    @property
    def is_package(self) -> bool:
        return Path(self.file).stem == _INIT


class KeptModules(MetaPathFinder, Loader):
    """Finds modules by their names in what it has read."""

    def __init__(self) -> None:
        self._modules: dict[str, _Kept] = {}
        self._packages: set[str] = set()
        self._bytes = 0

    def keep(self, names: Iterable[str]) -> None:
        """Read all modules of the packages that these are in, if they are imported, and of the standard library."""
        for top in {"", *(name.partition(".")[0] for name in names)} - self._packages:
            self._packages.add(top)
            for name, file in modules_of(Path(os.__file__).parent) if not top else _of_package(top):
                self._keep(name, file)

    def keep_source(self, name: str, file: str, source: str) -> None:
        """Keep a module of the student's."""
        self._modules[name] = _Kept(file, source.encode("utf-8", "surrogatepass"), compiled=False)

    def _keep(self, name: str, file: str) -> None:
        cached = importlib.util.cache_from_source(file)
        compiled = os.path.exists(cached)  # noqa: PTH110 (thousands of them)
        with open(cached if compiled else file, "rb") as opened:  # noqa: PTH123
            content = opened.read()
        self._bytes += len(content)
        if self._bytes <= _MOST_BYTES:
            self._modules[name] = _Kept(file, content, compiled)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if (kept := self._modules.get(fullname)) is None:
            return None
        spec = ModuleSpec(fullname, self, origin=kept.file, is_package=kept.is_package)
        if kept.is_package:
            spec.submodule_search_locations = [str(Path(kept.file).parent)]
        spec.has_location = True
        return spec

    def exec_module(self, module: ModuleType) -> None:
        exec(self.get_code(module.__name__), vars(module))

    def get_code(self, name: str) -> CodeType:
        """Return a module's code."""
        kept = self._modules[name]
        code: Any = marshal.loads(kept.content[_HEADER_BYTES:]) if kept.compiled else None
        return code or compile(kept.content, kept.file, "exec", dont_inherit=True)


def _of_package(name: str) -> Iterator[tuple[str, str]]:
    file = getattr(sys.modules.get(name), "__file__", None)
    if isinstance(file, str) and Path(file).stem == _INIT and name not in sys.stdlib_module_names:
        yield from modules_of(Path(file).parent, name)


def modules_of(folder: Path, package: str = "") -> Iterator[tuple[str, str]]:
    """Yield the name and the file of each module in a folder and, where those are packages, in those below it."""
    waiting = [(os.fspath(folder), package)]
    while waiting:
        place, inside = waiting.pop()
        with contextlib.suppress(OSError), os.scandir(place) as entries:  # one that may not be read has none
            for entry in entries:
                name = entry.name.removesuffix(".py")
                whole = f"{inside}.{name}".strip(".")
                if entry.name.endswith(".py"):
                    yield (inside if name == _INIT else whole), entry.path
                elif name.isidentifier() and name not in _PASSED_OVER and entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, whole))


LIBRARIES = KeptModules()
"""What a rank finds: read by the process that starts them, and by the rank for what its function names beside."""
