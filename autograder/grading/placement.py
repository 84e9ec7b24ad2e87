"""Where each test cell of a lab runs: apart from the student's code, or, if it cannot, in the student's kernel."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course import Course
from autograder.errors import SubmissionError
from autograder.execution import Checks, Executor, preloads
from autograder.files import write_whole
from autograder.grading.checks import checks_of
from autograder.grading.standings import Standing
from autograder.model import Lab, Limits
from autograder.notebook import to_explore
from autograder.submission.repair import parse

if TYPE_CHECKING:
    from autograder.grading.trial import Found, Trial

__all__ = ["Modes", "find_modes", "modules"]


@dataclass(frozen=True)
class Modes:
    """The checks of each notebook, and what the instructor should know about them."""

    checks: Mapping[str, Checks]
    notes: tuple[str, ...] = ()
    lowered: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """For each notebook, tests of which no loss in a second look counts: the instructor's own has one there."""
    believed: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    """For each notebook that was tried, what its tests ask objects of the solution's classes."""

    def __str__(self) -> str:
        """Return how a result names them: isolated, compat, or both."""
        kinds = {"isolated": any(c.isolated for c in self.checks.values())}
        kinds["compat"] = any(c.guarded for c in self.checks.values())
        return " and ".join(kind for kind, there in kinds.items() if there)


def modules(course: Course, lab: str) -> tuple[str, ...]:
    """Return what a pre-warmed process imports for this lab: lab.toml names it, or cells that are run import it."""
    folder = course.source(lab)
    frameworks = Lab.read(folder).frameworks if (folder / "lab.toml").exists() else ()
    sources = [row.source for rows in course.notebooks(lab).values() for row in rows if row.cell_type == "code"]
    for path in sorted(folder.glob("*.ipynb")):
        try:
            notebook, _ = parse(path.read_bytes(), path.name)
        except (OSError, SubmissionError):
            continue
        sources += [cell.source for cell in notebook.cells if cell.cell_type == "code" and not to_explore(cell)]
    return preloads(sources, frameworks)


def find_modes(
    course: Course, lab: str, executor: Executor, limits: Limits, given: Mapping[str, Path],
    say: Callable[[str], None] = lambda _line: None,
) -> Modes:  # fmt: skip
    """Return where the test cells run. A lab of ours says so in its lab.toml; of any other its own solution is tried.

    A test that gives the instructor's solution full marks only in the kernel of the solution cannot do without: it
    relies on a name that another test has defined, on a change in place, or on IPython. What was found is kept until
    the lab, or what is installed, changes. How much of the locked cells can be the grader's is found likewise: as much
    as the instructor's solution bears. say: is told of each run.
    """
    rows = course.notebooks(lab)
    folder = course.source(lab)
    tests = {name: frozenset(row.grade_id for row in cells if row.automatic) for name, cells in rows.items()}
    if (folder / "lab.toml").exists():
        isolated = Lab.read(folder).tests == "isolated"
        return Modes(
            {name: checks_of(rows[name], found if isolated else frozenset(), given) for name, found in tests.items()}
        )
    from autograder.grading.trial import Trial  # which imports NumPy

    kept = _Kept(course.state / f"{lab}.modes.json")
    checks: dict[str, Checks] = {}
    notes: list[str] = []
    tried: dict[str, Found] = {}
    for name, cells in rows.items():
        trial = Trial(executor, limits, given, name, cells, folder / f"{name}.ipynb", say)
        found = kept.of(trial)
        own = checks_of(cells, found.isolated, given, trial.others, found.standings, found.kept, trial.solved)
        checks[name] = replace(own, guarded=own.guarded - found.unwatched, nothing=found.nothing)
        notes += [*found.notes, *trial.warnings()]
        tried[name] = found
    lowered = {name: found.lowered for name, found in tried.items()}
    return Modes(checks, tuple(notes), lowered, {name: found.believed for name, found in tried.items()})


class _Kept:
    """Outcomes of earlier trials, in a file that may be deleted at any time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            found = json.loads(path.read_bytes())
            self._known = found if isinstance(found, dict) else {}
        except (OSError, ValueError):
            self._known = {}

    def of(self, trial: Trial) -> Found:
        """Return the outcome of a trial, run now if it was not before."""
        from autograder.grading.trial import Found

        key = hashlib.sha256(trial.key().encode()).hexdigest()
        known = self._known.get(trial.name)
        if isinstance(known, dict) and known.get("key") == key:
            sets = (frozenset(known["isolated"]), frozenset(known["unwatched"]), tuple(known["notes"]))
            kept_names = {name: frozenset(names) for name, names in known["kept"].items()}
            standing_of = {name: _standing(*parts) for name, parts in known["standings"].items()}
            lowered, nothing = frozenset(known["lowered"]), frozenset(known["nothing"])
            believed = {name: frozenset(asked) for name, asked in known["believed"].items()}
            return Found(*sets, standing_of, kept_names, lowered, nothing, believed)
        found = trial.run()
        parts: dict[str, Any] = {"isolated": sorted(found.isolated), "unwatched": sorted(found.unwatched)}
        standings = {name: [s.level, sorted(s.again), sorted(s.live), s.wide] for name, s in found.standings.items()}
        kept = {name: sorted(names) for name, names in found.kept.items()}
        parts |= {"notes": list(found.notes), "standings": standings, "kept": kept, "lowered": sorted(found.lowered)}
        parts["nothing"] = sorted(found.nothing)
        parts["believed"] = {name: sorted(asked) for name, asked in found.believed.items()}
        self._known[trial.name] = {"key": key, **parts}
        self._path.parent.mkdir(exist_ok=True)
        write_whole(self._path, json.dumps(self._known, indent=1).encode())
        return found


def _standing(level: int, again: list[str], live: list[str], wide: bool) -> Standing:
    return Standing(level, frozenset(again), frozenset(live), wide)
