"""What collect says of each file and of each submission, and how much of it where there is much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

__all__ = ["IN_NO_FOLDER", "LEFT_OUT", "Row", "some", "summed_up"]

LEFT_OUT = "left out"
"""How it begins what is said of a file that was not taken."""
IN_NO_FOLDER = "cannot tell which student this is: it lies in no student's folder"
"""What is said of a file where folders say whose each file is."""

_MAX_ROWS = 100
_MAX_NAMED = 5


@dataclass(frozen=True)
class Row:
    """What happened to one file, or to one submission."""

    student: str
    file: str
    what: str
    lost: bool = False
    """Whether a submission could not be put anywhere, or will not be graded."""
    placed: str = ""
    """What became of the submission that this row is about, in a word or two; empty if it is about anything else."""
    missing: tuple[str, ...] = ()
    """Which of the lab's notebooks are not in the submission that is placed."""
    error: OSError | None = field(default=None, compare=False)
    """What the file system said, where a submission could not be written."""


def summed_up(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield rows; of what is left out for one student, or from one folder, the first ones, and how many more."""
    seen: Counter[tuple[str, str]] = Counter()
    more: dict[tuple[str, str], Row] = {}
    for row in rows:
        whose = (row.student, "" if row.student else row.file.partition("/")[0])
        seen[whose] += row.what.startswith(LEFT_OUT)
        if seen[whose] <= _MAX_ROWS or not row.what.startswith(LEFT_OUT):
            yield row
        else:
            lost = row.lost or (whose in more and more[whose].lost)
            more[whose] = replace(row, lost=lost)
    for whose, row in more.items():
        where = f"{whose[1]}/: " if whose[1] else ""
        yield replace(row, file=f"{where}{seen[whose] - _MAX_ROWS} more", what="left out: as those above")


def some(files: Sequence[tuple[str, str]]) -> str:
    more = len(files) - _MAX_NAMED
    return ", ".join([name for name, _ in files[:_MAX_NAMED]] + ([f"{more} more"] if more > 0 else []))
