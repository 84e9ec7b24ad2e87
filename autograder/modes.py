"""Where each test cell of a lab runs: apart from the student's code, or, if it cannot, in the student's kernel."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.course import Course
from autograder.errors import SubmissionError, in_one_line
from autograder.execute import Checks, Executor, preloads
from autograder.files import write_whole
from autograder.model import Lab, Limits, SourceCellRow
from autograder.score import score_notebook
from autograder.store import fingerprint
from autograder.submission import parse, repair

__all__ = ["Modes", "find_modes", "modules"]

_NO_SOURCE = "there is no instructor's notebook to try its tests on: they run in the student's kernel, watched"


@dataclass(frozen=True)
class Modes:
    """The checks of each notebook, and what the instructor should know about them."""

    checks: Mapping[str, Checks]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return how a result names them: isolated, compat, or both."""
        kinds = {"isolated": any(c.isolated for c in self.checks.values())}
        kinds["compat"] = any(c.guarded for c in self.checks.values())
        return " and ".join(kind for kind, there in kinds.items() if there)

    @classmethod
    def of(
        cls,
        isolated: Mapping[str, frozenset[str]],
        guarded: Mapping[str, frozenset[str]],
        given: Mapping[str, Path],
    ) -> Modes:
        """Return the modes of notebooks by name."""
        return cls({name: Checks(isolated=isolated[name], guarded=guarded[name], files=given) for name in isolated})


def modules(course: Course, lab: str) -> tuple[str, ...]:
    """Return what a pre-warmed process imports for this lab: lab.toml names it, or its cells import it."""
    folder = course.source(lab)
    frameworks = Lab.read(folder).frameworks if (folder / "lab.toml").exists() else ()
    sources = [row.source for rows in course.notebooks(lab).values() for row in rows if row.cell_type == "code"]
    for path in sorted(folder.glob("*.ipynb")):
        try:
            notebook, _ = parse(path.read_bytes(), path.name)
        except (OSError, SubmissionError):
            continue
        sources += [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return preloads(sources, frameworks)


def find_modes(course: Course, lab: str, executor: Executor, limits: Limits, given: Mapping[str, Path]) -> Modes:
    """Return where the test cells run. A lab of ours says so in its lab.toml; of any other its own solution is tried.

    A test that gives the instructor's solution full marks only in the kernel of the solution cannot do without: it
    relies on a name that another test has defined, on a change in place, or on IPython. What was found is kept until
    the lab, or what is installed, changes.
    """
    rows = course.notebooks(lab)
    folder = course.source(lab)
    tests = {name: frozenset(row.grade_id for row in cells if row.automatic) for name, cells in rows.items()}
    if (folder / "lab.toml").exists():
        isolated = Lab.read(folder).tests == "isolated"
        return Modes({name: _checks(found, found if isolated else frozenset(), given) for name, found in tests.items()})
    kept = _Kept(course.state / f"{lab}.modes.json")
    checks, notes = {}, []
    for name, cells in rows.items():
        trial = _Trial(executor, limits, given, name, cells, folder / f"{name}.ipynb")
        isolated_ids, found_notes = kept.of(trial)
        checks[name] = _checks(tests[name], isolated_ids, given)
        notes += found_notes
    return Modes(checks, tuple(notes))


def _checks(tests: frozenset[str], isolated: frozenset[str], given: Mapping[str, Path]) -> Checks:
    return Checks(isolated=isolated, guarded=tests - isolated, files=given)


class _Trial:
    """The instructor's notebook, run to see which of its tests can run apart from it."""

    def __init__(
        self,
        executor: Executor,
        limits: Limits,
        given: Mapping[str, Path],
        name: str,
        rows: Sequence[SourceCellRow],
        path: Path,
    ) -> None:
        self.name = name
        self._executor = executor
        self._limits = limits
        self._given = given
        self._rows = rows
        self._tests = frozenset(row.grade_id for row in rows if row.automatic)
        self._content = path.read_bytes() if path.is_file() else b""

    def key(self) -> str:
        """Return a hash of all that the outcome depends on."""
        files = [("source", self._content), *((f"given/{name}", p.read_bytes()) for name, p in self._given.items())]
        return fingerprint(files, {self.name: self._rows}, self._limits, self._executor.sandbox.name)

    def run(self) -> tuple[frozenset[str], list[str]]:
        """Return the tests that can run apart, and a note about each of the others."""
        if not self._tests or not self._content:
            return frozenset(), [f"{self.name}: {_NO_SOURCE}"] if self._tests else []
        try:
            notebook = repair(parse(self._content, f"{self.name}.ipynb")[0], self._rows).notebook
        except SubmissionError as error:
            return frozenset(), [f"{self.name}: {in_one_line(error)}: {_NO_SOURCE}"]
        apart = self._full(notebook, Checks(isolated=self._tests, files=self._given))
        if apart == self._tests:
            return apart, []
        inside = self._full(notebook, Checks())
        lost = sorted(self._tests - apart - inside)
        notes = [
            f"{self.name}: {grade_id} needs the student's kernel: run there, watched" for grade_id in inside - apart
        ]
        notes += [
            f"{self.name}: {grade_id} does not give the instructor's own solution full marks" for grade_id in lost
        ]
        return apart, sorted(notes)

    def _full(self, notebook: nbformat.NotebookNode, checks: Checks) -> frozenset[str]:
        execution = self._executor.run(notebook, limits=self._limits, files=self._given, checks=checks)
        scores = score_notebook(self.name, execution.notebook, self._rows)
        return frozenset(s.grade_id for s in scores if s.grade_id in self._tests and s.points == s.max_points)


class _Kept:
    """Outcomes of earlier trials, in a file that may be deleted at any time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            found = json.loads(path.read_bytes())
            self._known = found if isinstance(found, dict) else {}
        except (OSError, ValueError):
            self._known = {}

    def of(self, trial: _Trial) -> tuple[frozenset[str], list[str]]:
        """Return the outcome of a trial, run now if it was not before."""
        key = hashlib.sha256(trial.key().encode()).hexdigest()
        known = self._known.get(trial.name)
        if not isinstance(known, dict) or known.get("key") != key:
            isolated, notes = trial.run()
            known = {"key": key, "isolated": sorted(isolated), "notes": notes}
            self._known[trial.name] = known
            self._path.parent.mkdir(exist_ok=True)
            write_whole(self._path, json.dumps(self._known, indent=1).encode())
        return frozenset(known["isolated"]), [str(note) for note in known["notes"]]
