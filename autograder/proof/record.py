"""What a proof found, kept beside the documentation: counts a task, and a hash that says of which source."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.proof.equivalent import Key
from autograder.proof.mutants import RULES
from autograder.proof.trials import Trial

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["FOLDER", "Count", "Record", "keep", "read_records", "record_of", "source_hash", "table"]

FOLDER = "docs/proof"
"""Where records stand in a course, a file a lab."""


@dataclass(frozen=True)
class Count:
    """Mutants of a task, or of one kind of change; survivors are those that nobody has answered."""

    mutants: int = 0
    killed: int = 0
    equivalent: int = 0

    def __add__(self, other: Count) -> Count:
        mine, theirs = astuple(self), astuple(other)
        return Count(*(a + b for a, b in zip(mine, theirs, strict=True)))

    @property
    def survivors(self) -> int:
        return self.mutants - self.killed - self.equivalent

    @property
    def rate(self) -> float:
        """Share of those that are wrong that a check finds, in percent."""
        wrong = self.mutants - self.equivalent
        return 100.0 * self.killed / wrong if wrong else 100.0


@dataclass(frozen=True)
class Record:
    """The proof of one lab.

    Attributes:
        source: `source_hash` of what was tried.
        idle: faults that met nothing they could spoil; not counted among the mutants.
        python: the version that compiled the mutants; another may find two of them to be the same.
        asked: the kinds of change that there were when the lab was tried.
    """

    lab: str
    source: str
    tasks: dict[str, Count]
    rules: dict[str, Count]
    idle: int
    python: str
    asked: tuple[str, ...]

    @property
    def not_asked(self) -> list[str]:
        """The kinds of change that there are now, and were not."""
        return sorted(RULES.difference(self.asked))

    @property
    def whole(self) -> Count:
        """All mutants."""
        return sum(self.tasks.values(), Count())

    def write(self, folder: Path) -> Path:
        """Write it below docs/proof of a course; return the file."""
        return keep(folder / FOLDER / f"{self.lab}.json", self)

    @classmethod
    def read(cls, path: Path) -> Record:
        """Return the record in a file; raise CourseError if it is none."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            counts = {name: {key: Count(**one) for key, one in data[name].items()} for name in ("tasks", "rules")}
            return cls(**{**data, **counts, "asked": tuple(data["asked"])})
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise CourseError(f"{path}: not a record: {error}", hint="autograder prove LAB --write") from error


def keep(path: Path, record: DataclassInstance) -> Path:
    """Write a record to this file, and make its folder if need be; return the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, f"{json.dumps(asdict(record), indent=1)}\n".encode())
    return path


def record_of(lab: str, source: str, trials: Sequence[Trial], excused: Iterable[Key]) -> Record:
    """Return the record of these trials."""
    allowed = set(excused)
    tasks, rules = dict[str, Count](), dict[str, Count]()
    for trial in trials:
        if trial.fate != "idle":
            excused_ = trial.fate == "lived" and trial.mutant.key in allowed
            one = Count(1, int(trial.fate == "killed"), int(excused_))
            tasks[trial.mutant.task] = tasks.get(trial.mutant.task, Count()) + one
            rules[trial.mutant.rule] = rules.get(trial.mutant.rule, Count()) + one
    idle = sum(trial.fate == "idle" for trial in trials)
    version = ".".join(platform.python_version_tuple()[:2])
    return Record(lab, source, tasks, dict(sorted(rules.items())), idle, version, tuple(sorted(RULES)))


def source_hash(code: str, equivalent: Path) -> str:
    """Return a hash of a lab's cells and of its list of equivalent mutants."""
    listed = equivalent.read_bytes() if equivalent.is_file() else b""
    return hashlib.sha256(code.encode() + listed).hexdigest()[:16]


def read_records(folder: Path) -> list[Record]:
    """Return the records of a course, in the order of its labs."""
    return [Record.read(path) for path in sorted((folder / FOLDER).glob("*.json"))]


def table(names: str, rows: Iterable[tuple[str, Count]]) -> str:
    """Return counts as a table in Markdown."""
    lines = [
        f"| {names} | mutants | killed | equivalent | survivors | killed of those that are wrong |",
        "|---|---|---|---|---|---|",
    ]
    for name, count in rows:
        numbers = f"{count.mutants} | {count.killed} | {count.equivalent} | {count.survivors} | {count.rate:.1f} %"
        lines.append(f"| {name} | {numbers} |")
    return "\n".join(lines)
