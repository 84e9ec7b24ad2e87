"""What came of grading one submission: the result, and what the gradebook says of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from autograder.model import GradebookEntry, Result

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


def outcome_of(
    result: Result, stored: GradebookEntry, *, unchanged: bool = False, before: GradebookEntry | None = None
) -> Outcome:
    """Return the outcome of a result as the gradebook holds it; before: what that held until now."""
    result = replace(result, score=stored.score, max_score=stored.max_score, penalty=stored.penalty)
    was = before.score if before and not math.isclose(before.score, stored.score, abs_tol=1e-9) else None
    return Outcome(result, unchanged=unchanged, to_grade=stored.to_grade, was=was)
