"""Which names of one student's files can stand side by side, on any file system, and beside those that we write."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

__all__ = ["TIMESTAMP", "Names", "fold", "is_timestamp", "misplaced"]

TIMESTAMP = "timestamp.txt"
"""Of all files of a submission the one that nbgrader and the grader believe: it says when the work was handed in."""


class Names:
    """Names of files that can stand side by side: none is another's, and none the folder of another."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()
        for path in paths:
            self.add(path)

    def add(self, path: str) -> None:
        path = _anywhere(path)
        self._files.add(path)
        self._folders.update(_folders(path))

    def clash(self, path: str) -> bool:
        path = _anywhere(path)
        return path in self._files or path in self._folders or any(f in self._files for f in _folders(path))


def misplaced(path: str) -> str:
    """Say why no file may stand in the outermost folder of this path; empty if one may, or if there is none."""
    outermost, slash, _ = path.partition("/")
    if not slash:
        return ""
    if is_timestamp(outermost):
        return f"a folder called {TIMESTAMP} would stand where the time of handing in is kept"
    return "in a folder that is called as a notebook is" if _anywhere(outermost).endswith(".ipynb") else ""


def is_timestamp(name: str) -> bool:
    """Whether some file system takes this name for timestamp.txt; what follows a colon is a stream to one of them."""
    return _anywhere(name.partition(":")[0]) == TIMESTAMP


def fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _anywhere(path: str) -> str:
    """Return one word for all paths that some file system takes for this one.

    Some do not tell upper from lower case, or ways of writing an accent or a ligature apart, and some drop dots and
    spaces at the end of a name.
    """
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", path).casefold())
    return "/".join(part.rstrip(" .") or part for part in plain.split("/"))


def _folders(path: str) -> Iterator[str]:
    """Yield each folder that a file stands in, the innermost first."""
    while path := path.rpartition("/")[0]:
        yield path
