"""Where each test cell of a lab runs: apart from the student's code, or, if it cannot, in the student's kernel."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.course import Course
from autograder.errors import SubmissionError, in_one_line
from autograder.execute import Checks, Executor, preloads
from autograder.execute.canary import FORGED, watchable
from autograder.files import write_whole
from autograder.model import CellScore, Lab, Limits, SourceCellRow
from autograder.score import score_notebook
from autograder.store import fingerprint
from autograder.submission import parse, repair

__all__ = ["Modes", "find_modes", "modules"]

_NO_SOURCE = "there is no instructor's notebook to try its tests on: they run in the student's kernel, watched"
_NEEDED = "another test there uses its names"
_MAGIC = "a cell magic decides what becomes of an error"
_MAX_REASON = 200


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
    checks: dict[str, Checks] = {}
    notes: list[str] = []
    for name, cells in rows.items():
        found = kept.of(_Trial(executor, limits, given, name, cells, folder / f"{name}.ipynb"))
        checks[name] = _checks(tests[name] - found.unwatched, found.isolated, given)
        notes += found.notes
    return Modes(checks, tuple(notes))


def _checks(tests: frozenset[str], isolated: frozenset[str], given: Mapping[str, Path]) -> Checks:
    return Checks(isolated=isolated, guarded=tests - isolated, files=given)


@dataclass(frozen=True)
class _Found:
    """What a trial has shown.

    Attributes:
        isolated: the tests that can run apart.
        unwatched: of the others, those in which a false check passes in the instructor's own kernel.
    """

    isolated: frozenset[str] = frozenset()
    unwatched: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


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

    def run(self) -> _Found:
        """Return which tests can run apart, which of the others can be watched, and what there is to say about them."""
        if not self._tests:
            return _Found()
        if not self._content:
            return _Found(notes=(f"{self.name}: {_NO_SOURCE}",))
        try:
            notebook = repair(parse(self._content, f"{self.name}.ipynb")[0], self._rows).notebook
        except SubmissionError as error:
            return _Found(notes=(f"{in_one_line(error)}: {_NO_SOURCE}",))
        why_not = self._try(notebook, frozenset())
        if not why_not:
            return _Found(self._tests)
        own = self._try(notebook, self._tests)
        within = frozenset(why_not)
        while (wrong := self._try(notebook, within)) and (needed := self._needed(wrong.keys() - own.keys(), within)):
            why_not |= dict.fromkeys(needed, _NEEDED)
            within |= needed
        blind = {grade_id: f"{FORGED} in the instructor's own" for grade_id, why in wrong.items() if FORGED in why}
        sources = {row.grade_id: row.source for row in self._rows if row.grade_id in within}
        blind |= {grade_id: _MAGIC for grade_id, source in sources.items() if not watchable(source)}
        unwatched = frozenset(blind)
        kernel = {grade_id: why for grade_id, why in why_not.items() if grade_id not in {*wrong, *blind}}
        lost = {grade_id: why for grade_id, why in wrong.items() if grade_id not in unwatched}
        notes = [
            *(f"{ids} in the student's kernel, watched; apart from it: {why}" for ids, why in _by_reason(kernel)),
            *(f"{ids} in the student's kernel, not watched: {why}" for ids, why in _by_reason(blind)),
            *(f"{ids} the instructor's own notebook does not get full marks: {why}" for ids, why in _by_reason(lost)),
        ]
        return _Found(self._tests - within, unwatched, tuple(f"{self.name}: {note}" for note in notes))

    def _needed(self, lost: Set[str], within: frozenset[str]) -> frozenset[str]:
        """Return the tests that must move to the kernel because one of these, which are there, needs their names."""
        found: set[str] = set()
        above: dict[str, str] = {}
        for row in self._rows:
            if row.grade_id in lost:
                using = {name for name, source in above.items() if _bound(source) & _words(row.source)}
                found |= using or above.keys()
            if row.automatic and row.grade_id not in within:
                above[row.grade_id] = row.source
        return frozenset(found)

    def _try(self, notebook: nbformat.NotebookNode, within: frozenset[str]) -> dict[str, str]:
        """Return the tests that do not give full marks if these run in the kernel and the others apart, and why."""
        checks = Checks(isolated=self._tests - within, guarded=within, files=self._given)
        execution = self._executor.run(notebook, limits=self._limits, files=self._given, checks=checks)
        scores = score_notebook(self.name, execution.notebook, self._rows)
        return {s.grade_id: _why(s) for s in scores if s.grade_id in self._tests and s.points != s.max_points}


def _words(source: str) -> set[str]:
    return set(re.findall(r"[^\W\d]\w*", source))


def _bound(source: str) -> set[str]:
    """Return the names that a cell gives a meaning; of one with magics, all its words."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return _words(source)
    found = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    found |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    return found | {(a.asname or a.name).split(".")[0] for a in nodes if isinstance(a, ast.alias)}


def _why(score: CellScore) -> str:
    lines = score.message.splitlines() or [f"{score.points:g} of {score.max_points:g} points"]
    return lines[0][:_MAX_REASON]


def _listed(grade_ids: Iterable[str]) -> str:
    return ", ".join(f"{grade_id!r}" for grade_id in sorted(grade_ids)) + ":"


def _by_reason(reasons: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the tests that share a reason, and the reason."""
    for reason in dict.fromkeys(reasons.values()):
        yield _listed(name for name, why in reasons.items() if why == reason), reason


class _Kept:
    """Outcomes of earlier trials, in a file that may be deleted at any time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            found = json.loads(path.read_bytes())
            self._known = found if isinstance(found, dict) else {}
        except (OSError, ValueError):
            self._known = {}

    def of(self, trial: _Trial) -> _Found:
        """Return the outcome of a trial, run now if it was not before."""
        key = hashlib.sha256(trial.key().encode()).hexdigest()
        known = self._known.get(trial.name)
        if isinstance(known, dict) and known.get("key") == key:
            return _Found(frozenset(known["isolated"]), frozenset(known["unwatched"]), tuple(known["notes"]))
        found = trial.run()
        parts = {"isolated": sorted(found.isolated), "unwatched": sorted(found.unwatched), "notes": list(found.notes)}
        self._known[trial.name] = {"key": key, **parts}
        self._path.parent.mkdir(exist_ok=True)
        write_whole(self._path, json.dumps(self._known, indent=1).encode())
        return found
