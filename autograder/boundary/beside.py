"""Modules of the instructor's that lie beside the notebook, as they were before the first test.

A test may write files, and what is in them and what they are called may come from the student's code: an archive that
it unpacks, say. So nothing is imported from the working directory later on. Its modules are read at the start.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

__all__ = ["Beside", "code_of"]


class Beside(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds and loads the Python modules and packages that a folder held when this was made."""

    def __init__(self, folder: Path, *, below: bool = False) -> None:
        """below: by their names in its own folders, as after `sys.path.append("src")`, where one has such."""
        self.folder = folder.resolve()
        self._below = below
        self._files = {path.resolve(): path.read_text("utf-8", "replace") for path in sorted(folder.rglob("*.py"))}
        folders = {place for path in self._files for place in path.parents if place.is_relative_to(self.folder)}
        names = [self._named(place) for place in (folders - {self.folder} if below else [self.folder])]
        often = Counter(name for some in names for name in some)
        self._names = {name: path for some in names for name, path in some.items() if often[name] == 1}

    def _named(self, folder: Path) -> dict[str, Path]:
        found = {}
        for path in self._files:
            parts = path.relative_to(folder).with_suffix("").parts if path.is_relative_to(folder) else ("",)
            if all(part.isidentifier() for part in parts):
                found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
        found.pop("", None)
        return found

    def install(self) -> None:
        """Be asked after Python's own modules: before what is installed, or of what lies below after that."""
        place = next((n for n, finder in enumerate(sys.meta_path) if finder is importlib.machinery.PathFinder), 0)
        sys.meta_path.insert(len(sys.meta_path) if self._below else place, self)

    def code_of(self, name: str) -> types.CodeType:
        """Return what `%run` runs of a file with this name; KeyError if there was none."""
        path = (self.folder / name).resolve()
        return compile(self._files[path], str(path), "exec", dont_inherit=True)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """See importlib.abc.MetaPathFinder."""
        if fullname.partition(".")[0] in sys.stdlib_module_names:
            return None
        if fullname not in self._names:
            folder = any(name.startswith(f"{fullname}.") for name in self._names)  # one without an __init__.py
            return importlib.machinery.ModuleSpec(fullname, None, is_package=True) if folder else None
        file = self._names[fullname]
        spec = importlib.machinery.ModuleSpec(fullname, self, origin=str(file), is_package=self.is_package(fullname))
        spec.has_location = True
        return spec

    def get_source(self, fullname: str) -> str:
        """See importlib.abc.InspectLoader."""
        return self._files[self._names[fullname]]

    def is_package(self, fullname: str) -> bool:
        """See importlib.abc.InspectLoader."""
        return self._names[fullname].name == "__init__.py"

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the module as it was read."""
        code = compile(self.get_source(module.__name__), str(self._names[module.__name__]), "exec", dont_inherit=True)
        exec(code, vars(module))


def code_of(name: str) -> types.CodeType:
    """Return the code of a file beside the notebook, as it was at the start; NameError where nobody has read it."""
    for finder in sys.meta_path:
        if isinstance(finder, Beside):
            try:
                return finder.code_of(name)
            except (KeyError, SyntaxError):
                break
    raise NameError(f"no file {name} beside the notebook")
