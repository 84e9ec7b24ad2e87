"""What came of grading one submission: the result, and what the gradebook says of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from autograder.model import CellScore, GradebookEntry, Result

__all__ = ["Outcome", "outcome_of"]


@dataclass(frozen=True)
class Outcome:
    """A result with the gradebook's score, whether it was found in the log, and what a person has still to grade."""

    result: Result
    unchanged: bool = False
    to_grade: int = 0
    was: float | None = None
    """The score that the gradebook held before, where it was another one."""
    stored: bool = True
    """Whether the gradebook has a score; one that failed, and had none before, is no zero."""
    by_hand: Mapping[str, float] = field(default_factory=dict)
    """What a person gave, by notebook/grade_id: it counts, and not what the cell earned by itself."""

    def counts(self, cell: CellScore) -> float:
        """Return the points of this cell that are in the score."""
        return self.by_hand.get(cell.key, cell.points or 0.0)


def outcome_of(
    result: Result, stored: GradebookEntry, *, unchanged: bool = False, before: GradebookEntry | None = None
) -> Outcome:
    """Return the outcome of a result as the gradebook holds it; before: what that held until now."""
    result = replace(result, score=stored.score, max_score=stored.max_score, penalty=stored.penalty)
    was = before.score if before and not math.isclose(before.score, stored.score, abs_tol=1e-9) else None
    return Outcome(
        result, unchanged=unchanged, to_grade=stored.to_grade, was=was, by_hand=dict(_by_hand(result, stored))
    )


def _by_hand(result: Result, stored: GradebookEntry) -> Iterator[tuple[str, float]]:
    for cell in result.cells:
        given = stored.grades.get(cell.key)
        if given is None or cell.key in stored.pending:
            continue
        if cell.points is None or not math.isclose(given, cell.points, abs_tol=1e-9):
            yield cell.key, given
