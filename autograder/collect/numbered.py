"""Takes back the number that Canvas puts into the name of a file whose student has sent one of this name before.

Source: instructure/canvas-lms, app/models/attachment.rb, `make_unique_filename`: `own.csv` becomes `own-1.csv`, up to
`own-7.csv` and then a UUID, each file by itself and over all that the student has ever handed in in the course. So
neither the other files' numbers nor the notebook's say which number a file has; the notebook opens it by its own name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from autograder.collect.lms_names import Piece
from autograder.collect.names import Names, fold, is_timestamp
from autograder.collect.order import UUID, stem
from autograder.collect.plan import Handover
from autograder.course import Course
from autograder.errors import SubmissionError, listed
from autograder.submission.repair import parse

__all__ = ["Numbered"]

_NUMBERED = re.compile(rf"(?P<base>.+?)-(?:[1-7]|{UUID})(?P<kind>(?:\.[A-Za-z][A-Za-z0-9]*)*(?:\.[A-Za-z0-9]*)?)")
_MOST = 50
"""So many files of one student may get their own names back: each is looked for in the whole notebook."""


@dataclass(frozen=True)
class Numbered:
    """What a lab itself says of the names of files."""

    files: frozenset[str]
    """Those that the instructor has put beside the notebooks."""
    text: str
    """Of the lab's cells."""

    @classmethod
    def of(cls, course: Course, lab: str) -> Numbered:
        """Read it from the gradebook and the source directory."""
        sources = [row.source for rows in course.notebooks(lab).values() for row in rows]
        return cls(frozenset(course.files(course.source(lab))), "\n".join(sources))

    def undone(self, made: Handover, notebooks: Mapping[str, bytes]) -> None:
        """Give the files beside the notebooks their own names again, and note it, where that is sure to be right.

        A name is left as it is if the lab or the notebook has it, and if the one without a number is, or could be,
        another file's. Else it is Canvas's if the lab or the notebook has the one without, or if the notebook itself
        came with a number.
        """
        own = "\n".join([self.text, *(_text(file, content) for file, content in notebooks.items())])
        again = any(_came_numbered(name, piece) for name, piece in made.notebooks.items())
        plain = {name: found for name, piece in made.files.items() if (found := _without_number(name, piece))}
        wanted = Counter(map(fold, plain.values()))
        taken = Names([*notebooks, *made.files, *(path for path, _ in made.left_out)])
        names: dict[str, str] = {}
        for name, found in [*plain.items()][:_MOST]:
            free = wanted[fold(found)] == 1 and not taken.clash(found)
            if free and not self._has(own, name) and (again or self._has(own, found)):
                names[name] = found
                taken.add(found)
        made.files = {names.get(name, name): piece for name, piece in made.files.items()}
        if names:
            made.notes.append(listed([f"{found} was {name}" for name, found in names.items()]))

    def _has(self, own: str, name: str) -> bool:
        """Whether there is a file of this name beside the lab, or in the lab's or the student's own text."""
        return name in self.files or _mentions(own, name)


def _without_number(name: str, piece: Piece) -> str:
    """Return the name without Canvas's number; empty if it has none, or is none of Canvas's: it unpacks no zip file."""
    match = None if piece.within else _NUMBERED.fullmatch(name)
    found = f"{match['base']}{match['kind']}" if match and "/" not in name else ""
    return "" if is_timestamp(found) else found


def _came_numbered(name: str, piece: Piece) -> bool:
    file = f"{stem(piece)}.ipynb"
    return fold(stem(piece)) != fold(name) and fold(_without_number(file, piece)) == fold(f"{name}.ipynb")


def _mentions(text: str, name: str) -> bool:
    if name not in text:
        return False
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text) is not None


def _text(file: str, content: bytes) -> str:
    """Return what the cells of a notebook say, links in it written as file names; of one that is none, nothing."""
    try:
        notebook, _ = parse(content, Path(file).name)
    except SubmissionError:
        return ""
    text = "\n".join(cell.source for cell in notebook.cells)
    return f"{text}\n{unquote(text)}"
