"""Plans a hand-in so that it can be graded: notebooks by their cells, older ones where newer ones are broken."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from autograder.collect.archive import Archive
from autograder.collect.lms_names import Piece
from autograder.collect.order import newness
from autograder.collect.plan import Handover
from autograder.collect.unusable import Usable
from autograder.errors import SubmissionError, in_one_line
from autograder.submission.repair import MAX_BYTES

__all__ = ["Planner"]

_MOST = 8
"""How many notebooks of a student are passed over at most: whoever hands in more that are broken gets the newest."""
_MOST_LOOKED_AT = 30
"""So many of a student's newest notebooks are looked at for whose cells they have."""


@dataclass(frozen=True)
class Planner:
    """Chooses what is put into a student's folder, and looks into the notebooks where there are several."""

    archive: Archive
    plan: Callable[[Sequence[Piece], str], Handover]
    usable: Usable

    def __call__(self, pieces: Sequence[Piece], student: str) -> Handover:
        """Return the plan in which each notebook can be graded; if there is none, the one of the newest files."""
        pieces = self._with_cells(pieces) if len(self.usable.own) > 1 else pieces
        newest = made = self.plan(pieces, student)
        if sum(piece.path.lower().endswith(".ipynb") for piece in pieces) <= len(newest.notebooks):
            return newest
        passed: list[str] = []
        while broken := self._broken(made):
            passed += [f"{piece.path} is newer, and cannot be graded: {why}" for piece, why in broken.values()]
            pieces = [replace(p, problem=broken[id(p)][1]) if id(p) in broken else p for p in pieces]
            made = self.plan(pieces, student)
            if len(passed) > _MOST or made.notebooks.keys() < newest.notebooks.keys():
                return newest
        made.notes += passed
        return made

    def _with_cells(self, pieces: Sequence[Piece]) -> list[Piece]:
        """Return the files; each of the newest notebooks with which of the lab's has its cells."""
        notebooks = [piece for piece in pieces if piece.path.lower().endswith(".ipynb") and not piece.problem]
        found = {id(piece): self._cells_of(piece) for piece in sorted(notebooks, key=newness)[:_MOST_LOOKED_AT]}
        return [replace(piece, cells_of=found.get(id(piece), "")) for piece in pieces]

    def _cells_of(self, piece: Piece) -> str:
        with suppress(SubmissionError):
            return self.usable.cells_of(self.archive.read(piece.member, MAX_BYTES))
        return ""

    def _broken(self, made: Handover) -> Mapping[int, tuple[Piece, str]]:
        """Return the chosen notebooks that are not graded as they are, and why, by the identity of each."""
        found = {}
        for name, piece in made.notebooks.items():
            try:
                why = self.usable.problem(f"{name}.ipynb", self.archive.read(piece.member, MAX_BYTES))
            except SubmissionError as error:
                why = in_one_line(error)
            if why:
                found[id(piece)] = piece, why
        return found
