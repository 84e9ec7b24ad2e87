"""Which of a student's files may be each of a lab's notebooks: by their names, and where there are several by cells."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from autograder.collect.lms_names import Piece
from autograder.collect.names import fold
from autograder.collect.order import COPY, stem

__all__ = ["candidates", "other_notebook", "taken_for"]

_DUPLICATE = re.compile(r"(?: - | |-)copy ?\d*$", re.IGNORECASE)
"""What JupyterLab and file managers add to a copy of a file that stays beside it."""


def candidates(own: Sequence[Piece], names: Collection[str]) -> dict[str, list[Piece]]:
    """Return the notebooks that may be each of the lab's; the only notebook is the lab's whatever it is called.

    Of a lab with several a file is the one whose cells it has, if that is sure, and else the one that it is called as;
    one that is called so goes before others with the same cells.
    """
    notebooks = [piece for piece in own if piece.path.lower().endswith(".ipynb") and not piece.problem]
    notebooks = [piece for piece in notebooks if not _kept_aside(piece)] or notebooks
    found = {name: [p for p in notebooks if (p.cells_of or _named(stem(p), names)) == name] for name in names}
    found = {name: [p for p in pieces if _named(stem(p), names) == name] or pieces for name, pieces in found.items()}
    found = {name: [p for p in pieces if not _DUPLICATE.search(stem(p))] or pieces for name, pieces in found.items()}
    if len(names) == 1 and notebooks and not any(found.values()):
        found = dict.fromkeys(names, notebooks)
    return {name: pieces for name, pieces in found.items() if pieces}


def taken_for(chosen: Piece, name: str, names: Collection[str]) -> Iterator[str]:
    """Yield a note on a file that is taken for one of the lab's notebooks and is not called, or does not lie, so."""
    if stem(chosen) != name or "/" in chosen.path or chosen.within:
        by_cells = chosen.cells_of and _named(stem(chosen), names) != name
        was = f"was {chosen.within and f'{chosen.within}: '}{chosen.path}"
        yield f"{name}.ipynb {was}, by its cells" if by_cells else was


def other_notebook(notebooks: Mapping[str, Piece], piece: Piece) -> str:
    """Say why this notebook is left out; a newer one may be what the student meant to hand in."""
    rivals = {name: taken for name, taken in notebooks.items() if piece.cells_of in {"", name}}
    older = [name for name, taken in rivals.items() if taken.order < piece.order]
    named = f"another notebook, newer than {older[0]}.ipynb, which is taken for its name" if older else ""
    return named if len(older) == len(rivals) == 1 else "another notebook"


def _kept_aside(piece: Piece) -> bool:
    """Whether a file lies in a hidden folder, as copies do that programs keep (`.released`, `.ipynb_checkpoints`)."""
    return any(part.startswith(".") for part in piece.path.split("/")[:-1])


def _named(called: str, names: Collection[str]) -> str:
    """Return which of the lab's notebooks a file is by its name; empty: none.

    What browsers, Canvas and Jupyter add to a copy's name is passed over, but not what is the lab's own: of part-1 and
    part-2 neither is a copy of the other.
    """
    known = {fold(name): name for name in names}
    plain = fold(called).strip()
    while plain not in known and (match := COPY.search(plain)):
        plain = plain[: match.start()].strip()
    return called if called in names else known.get(plain, "")
