"""The data that travels between the stages: a lab, its cells, what happened to a submission, and its grade."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from autograder.errors import SourceError

__all__ = ["CellScore", "Lab", "Limits", "Result", "SourceCellRow", "Status", "Stored"]


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Times are wall-clock seconds, memory is address space in MiB."""

    cell_time_s: float = 30.0
    total_time_s: float = 300.0
    memory_mib: int = 4096
    output_kib: int = 1024


@dataclass(frozen=True)
class Lab:
    """One lab's lab.toml."""

    name: str
    title: str
    question: str
    hours: float
    points: float
    limits: Limits
    datasets: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()

    @classmethod
    def read(cls, folder: Path) -> Lab:
        """Return the lab described by folder/lab.toml; raise SourceError naming the key that is wrong."""
        path = folder / "lab.toml"
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise SourceError(f"{path}: missing", hint="every lab has a lab.toml beside its source") from None
        except tomllib.TOMLDecodeError as error:
            raise SourceError(f"{path}: {error}") from error
        known: dict[str, Any] = {"title": str, "question": str, "hours": (int, float), "points": (int, float)}
        for key, kind in known.items():
            if not isinstance(table.get(key), kind):
                raise SourceError(f"{path}: {key} is missing or of the wrong kind")
        limits = table.get("limits", {})
        unknown = set(table) - {*known, "limits", "datasets", "frameworks"} | set(limits) - set(Limits.__annotations__)
        if unknown:
            raise SourceError(f"{path}: unknown key {sorted(unknown)[0]!r}", hint=f"known: {', '.join(known)}, limits")
        return cls(
            name=folder.name,
            limits=Limits(**limits),
            datasets=tuple(table.get("datasets", ())),
            frameworks=tuple(table.get("frameworks", ())),
            **{key: table[key] for key in known},
        )


class Status(StrEnum):
    """How the grading of one submission ended."""

    GRADED = "graded"
    PARTLY_GRADED = "partly graded"
    """Time ran out or the process died; the cells before that count."""
    TAMPERED = "tampered"
    """Locked cells were changed, deleted or duplicated; they were restored and the submission graded."""
    UNREADABLE = "unreadable"
    MISSING = "missing"
    FAILED = "failed"
    """The grader itself could not do it; the student is not at fault and nothing was recorded as a zero."""


@dataclass(frozen=True)
class CellScore:
    """What one graded cell earned; points is None while a person has still to grade it."""

    notebook: str
    grade_id: str
    points: float | None
    max_points: float
    cases: tuple[dict[str, Any], ...] = ()
    message: str = ""


@dataclass(frozen=True)
class Result:
    """Everything that is recorded of one graded submission."""

    student: str
    lab: str
    status: Status
    score: float = 0.0
    max_score: float = 0.0
    seconds: float = 0.0
    messages: tuple[str, ...] = ()
    cells: tuple[CellScore, ...] = ()
    sandbox: str = ""
    isolated: bool = False
    fingerprint: str = ""
    """Hash of the submission, the tests and the environment: equal work is not done twice."""
    graded_at: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "status": str(self.status), "messages": list(self.messages)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Result:
        cells = tuple(CellScore(**{**cell, "cases": tuple(cell["cases"])}) for cell in data.pop("cells"))
        status = Status(data.pop("status"))
        return cls(cells=cells, status=status, messages=tuple(data.pop("messages")), **data)


@dataclass(frozen=True)
class Stored:
    """One submission as the gradebook holds it, manual scores and penalties included."""

    student: str
    last_name: str
    first_name: str
    email: str
    lab: str
    due: str
    handed_in: str
    raw_score: float
    penalty: float
    """Taken off for being late."""
    score: float
    """What the submission earns, the penalty taken off."""
    max_score: float
    to_grade: int
    """Cells that a person has still to grade."""
    comments: dict[str, str]
    """By notebook/grade_id."""
    grades: dict[str, float]


@dataclass(frozen=True)
class SourceCellRow:
    """One cell that the gradebook knows: what its text must be, and what it is worth."""

    grade_id: str
    cell_type: str
    source: str
    checksum: str
    locked: bool
    grade: bool
    solution: bool
    task: bool
    points: float

    @property
    def automatic(self) -> bool:
        return self.grade and not self.solution and not self.task and self.cell_type == "code"

    def metadata(self) -> dict[str, Any]:
        """Return nbgrader's metadata for this cell."""
        nbgrader = {
            "grade_id": self.grade_id,
            "cell_type": self.cell_type,
            "checksum": self.checksum,
            "grade": self.grade,
            "solution": self.solution,
            "locked": self.locked,
            "task": self.task,
            "schema_version": 3,
        }
        return {"nbgrader": nbgrader | ({"points": self.points} if self.grade or self.task else {})}
