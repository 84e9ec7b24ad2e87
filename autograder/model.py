"""The data that travels between the stages: a lab, its cells, what happened to a submission, and its grade."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from autograder.errors import SourceError, cut
from autograder.protocol import GUARD

__all__ = ["CellScore", "CellSpec", "GradebookEntry", "Lab", "Limits", "Result", "Status"]

_MOST_TEXTS = 50
_LONGEST_TEXT = 1000
_LONGEST_REASON = 2000
_STUB = "NotImplementedError"  # what a notebook holds in place of an answer


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Times are seconds of processor time; by the clock it may take several times as long. Memory is address space in MiB.
    """

    cell_time_s: float = 30.0
    total_time_s: float = 300.0
    memory_mib: int = 4096
    output_kib: int = 1024
    patience: float = 3.0
    """How many times as long as it may compute a cell, or a notebook, may take by the clock."""


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
    tests: str = "isolated"
    """Where its test cells run: isolated (a process of their own) or compat (the student's kernel, watched)."""

    @classmethod
    def read(cls, folder: Path) -> Lab:
        """Return the lab described by folder/lab.toml; raise SourceError naming the key that is wrong."""
        path = folder / "lab.toml"
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise SourceError(f"{path}: missing", hint="every lab has a lab.toml beside its source") from None
        except (OSError, ValueError) as error:  # not TOML, not UTF-8
            raise SourceError(f"{path}: {error}") from error
        limits = table.pop("limits", {})
        _check_keys(path, table, cls, optional={"datasets", "frameworks", "tests"})
        if table.get("tests", "isolated") not in _MODES:
            raise SourceError(f"{path}: tests = {table['tests']!r}", hint=f"one of: {', '.join(_MODES)}")
        _check_keys(path, limits, Limits, optional=set(Limits.__annotations__))
        lists: dict[str, Any] = {key: tuple(table.pop(key, ())) for key in ("datasets", "frameworks")}
        return cls(name=folder.name, limits=Limits(**limits), **table, **lists)


_MODES = ("isolated", "compat")


def _check_keys(path: Path, table: Any, kind: type, *, optional: set[str]) -> None:
    """Raise SourceError for the keys that a TOML table lacks, or the first that does not fit what it becomes."""
    known = {key: str(hint) for key, hint in kind.__annotations__.items() if key not in {"name", "limits"}}
    if not isinstance(table, dict):
        raise SourceError(f"{path}: limits is no table", hint="write [limits] above its keys")
    if missing := [key for key in known if key not in table and key not in optional]:
        verb, them = ("is", "it") if len(missing) == 1 else ("are", "them")
        written = ", ".join(f"{key} = ..." for key in missing)
        raise SourceError(f"{path}: {', '.join(missing)} {verb} missing", hint=f"write {them}: {written}")
    for key in [*known, *table]:
        if key not in known:
            names = ", ".join(name for name in kind.__annotations__ if name != "name")
            raise SourceError(f"{path}: unknown key {key!r}", hint=f"known: {names}")
        fits, words = _FITS[known[key]]
        if key in table and not fits(table[key]):
            raise SourceError(f"{path}: {key} = {table[key]!r}", hint=f"{key} is {words}")


_FITS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "str": (lambda value: isinstance(value, str) and bool(value.strip()), "a text"),
    "int": (lambda value: type(value) is int and value > 0, "a positive integer"),
    "float": (lambda value: type(value) in {int, float} and 0 < value < math.inf, "a positive number"),
    "tuple[str, ...]": (
        lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
        "a list of texts",
    ),
}


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
    whole: str = ""
    """What is said to who grades in place of the message, where students are told less; on no page of theirs."""

    def __post_init__(self) -> None:
        """Cut what is too long, as in a Result."""
        object.__setattr__(self, "message", cut(self.message, _LONGEST_REASON))
        object.__setattr__(self, "whole", cut(self.whole, _LONGEST_REASON))

    @property
    def key(self) -> str:
        return f"{self.notebook}/{self.grade_id}"

    @property
    def lost(self) -> bool:
        """Whether it earned less than it could."""
        return self.points is not None and self.points < self.max_points

    @property
    def failed(self) -> tuple[dict[str, Any], ...]:
        """The cases that failed; guards, which failed only because nothing else passed, after the others."""
        failed = [case for case in self.cases if not case["passed"]]
        return tuple(sorted(failed, key=lambda case: case["error"] == GUARD))

    @property
    def not_begun(self) -> bool:
        """Whether the stub is still there: what stands in place of an answer is all that failed."""
        errors = {case["error"] for case in self.failed} - {GUARD}
        return errors == {_STUB} or self.message.startswith(_STUB)


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
    notes: tuple[str, ...] = ()
    """For who grades, and for no student."""
    cells: tuple[CellScore, ...] = ()
    sandbox: str = ""
    isolated: bool = False
    tests: str = ""
    """Where its test cells ran: isolated, compat, or both."""
    fingerprint: str = ""
    """Hash of the submission, the tests and the environment: equal work is not done twice."""
    graded_at: str = ""
    penalty: float | None = None
    """Taken off for being late; None in the record of an older version."""
    notebooks: dict[str, str] = field(default_factory=dict)
    """SHA-256 of each notebook in autograded/, as it was stored."""

    def __post_init__(self) -> None:
        """Keep so many messages and notes, and so much of each: a student's files and code have a say in them."""
        object.__setattr__(self, "messages", _bounded(self.messages))
        object.__setattr__(self, "notes", _bounded(self.notes))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON knows it."""
        return {**asdict(self), "status": str(self.status), "messages": list(self.messages), "notes": list(self.notes)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Result:
        """Return the result that `to_dict` made; raise TypeError, KeyError or ValueError if it is not one."""
        cells = tuple(CellScore(**{**cell, "cases": tuple(cell["cases"])}) for cell in data["cells"])
        texts = {name: tuple(data.get(name, ())) for name in ("messages", "notes")}
        return cls(**{**data, **texts, "status": Status(data["status"]), "cells": cells})


def _bounded(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the first of these texts, long ones cut, and how many more there are in place of one."""
    if len(texts) > _MOST_TEXTS:
        kept = texts[: _MOST_TEXTS - 1]
        texts = (*kept, f"and {len(texts) - len(kept)} more")
    return tuple(cut(text, _LONGEST_TEXT) for text in texts)


@dataclass(frozen=True)
class GradebookEntry:
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
    pending: frozenset[str] = frozenset()
    """The cells, by notebook/grade_id, to which a person has still to give points."""
    again: frozenset[str] = frozenset()
    """Those whose points by hand are from before the answer was changed; nbgrader counts them in `to_grade` too."""
    extension_s: float = 0.0
    """By how many seconds this student's due date is put off."""
    missing: bool = False
    """Whether nothing was handed in: then the gradebook holds no submission, and all points are 0."""

    @property
    def kept(self) -> str:
        """Says that this score stays, where nothing was graded now."""
        return f"the gradebook keeps {self.score:g} of {self.max_score:g} from before"


@dataclass(frozen=True)
class CellSpec:
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
