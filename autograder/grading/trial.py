"""The trial of a foreign lab: which tests can run apart, without the instructor's own notebook losing a point."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nbformat

from autograder.boundary.given import CLASSES
from autograder.errors import SubmissionError, in_one_line
from autograder.execution import Checks, Executor
from autograder.execution.canary import FORGED, watchable
from autograder.execution.results import Report
from autograder.grading.along import bound_in, hiding, looks, words
from autograder.grading.bound_to_kernel import bound_to_kernel
from autograder.grading.checks import checks_of, in_open_cells
from autograder.grading.heard import Heard, asked_in
from autograder.grading.solution import as_released, by_reason, failing, scores_of, why_not
from autograder.grading.standings import Standing, Standings
from autograder.grading.unanswered import unanswered_of
from autograder.model import CellScore, CellSpec, Limits
from autograder.notebook import grade_id_of, metadata_of
from autograder.records.fingerprint import fingerprint
from autograder.submission.repair import repair

__all__ = ["Found", "Trial"]

_IN_KERNEL = "in the kernel imports and helpers are what the student makes of them (docs/grading.md, compat)"
_NO_SOURCE = "there is no instructor's notebook to try its tests on: they run in the student's kernel, watched"
_NEEDED = "another test there uses its names"
_MAGIC = "a cell magic decides what becomes of an error"
_VACUOUS = "where nothing is answered it gives points there"
_LOWERED = "the instructor's own notebook loses points in a second look, of which nothing counts for these"
_DENIED = "{} cannot be made again from the text of a locked cell, and no cell that students may change binds it"
_DRAWS = 3
"""So many false checks of a test may pass in the instructor's own kernel: then the test is not watched."""
_SIDE_BY_SIDE = 2
_VERSION = b"27"
"""Of what a trial looks at: what an older one has found is looked for again."""


@dataclass(frozen=True)
class Found:
    """What a trial has shown.

    Attributes:
        isolated: the tests that can run apart.
        unwatched: of the others, those in which a false check passes in the instructor's own kernel.
        standings: whose names of the locked cells are when one of these runs.
        kept: of others, the names for which they cannot run apart.
        lowered: of those that can, the ones that lose points of the instructor's own in a second look.
        nothing: those in which the solution returns an array of no items.
        believed: what each test asks objects of the solution's classes: see second_look.
    """

    isolated: frozenset[str] = frozenset()
    unwatched: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    standings: Mapping[str, Standing] = field(default_factory=dict)
    kept: Mapping[str, frozenset[str]] = field(default_factory=dict)
    lowered: frozenset[str] = frozenset()
    nothing: frozenset[str] = frozenset()
    believed: Mapping[str, frozenset[str]] = field(default_factory=dict)


class Trial:
    """The instructor's notebook, run to see which of its tests can run apart from it."""

    def __init__(
        self,
        executor: Executor,
        limits: Limits,
        given: Mapping[str, Path],
        name: str,
        rows: Sequence[CellSpec],
        path: Path,
        say: Callable[[str], None] = lambda _line: None,
    ) -> None:
        """say: is told of each run."""
        self.name = name
        self._say, self._runs = say, itertools.count(1)
        self._executor = executor
        self._limits, self._given, self._rows = limits, given, rows
        self._tests = frozenset(row.grade_id for row in rows if row.automatic)
        self._content = path.read_bytes() if path.is_file() else b""
        self.others, self.solved = self._open_cells()
        sources = {row.grade_id: row.source for row in rows if row.automatic}
        self._standings = Standings(checks_of(rows, others=self.others, solved=self.solved), sources, self.others)
        self._kept: dict[str, frozenset[str]] = {}
        self._heard = Heard()

    def key(self) -> str:
        """Return a hash of all that the outcome depends on."""
        files = [("trial", _VERSION), ("source", self._code())]
        files += [(f"given/{name}", path.read_bytes()) for name, path in self._given.items()]
        return fingerprint(files, {self.name: self._rows}, self._limits, self._executor.sandbox.name)

    def _code(self) -> bytes:
        """Return what is run of the instructor's notebook: its tests are the gradebook's, and text is not run."""
        try:
            cells = repair(as_released(self._content, self.name, self._rows), self._rows).notebook.cells
        except SubmissionError:
            return self._content
        code = [(grade_id_of(cell), cell.source) for cell in cells if cell.cell_type == "code"]
        return repr((code, self.others, sorted(self.solved))).encode("utf-8", "replace")

    def run(self) -> Found:
        """Return which tests can run apart, which of the others can be watched, and what there is to say about them."""
        if not self._tests:
            return Found()
        if not self._content:
            return Found(notes=(f"{self.name}: {_NO_SOURCE}",))
        try:
            notebook = repair(as_released(self._content, self.name, self._rows), self._rows).notebook
        except SubmissionError as error:
            return Found(notes=(f"{in_one_line(error)}: {_NO_SOURCE}",))
        why_not = self._in_kernel(notebook)
        standings = {name: standing for name, standing in self._standings.of.items() if name not in why_not}
        notes = [note for name in standings for note in self._standings.notes(name)]
        if not why_not:
            return self._looked(notebook, Found(self._tests, notes=self._named(notes), standings=standings))
        own, within = self._try(notebook, self._tests), frozenset(why_not)
        self._forget_kept(own)
        while needed := self._needed(failing(wrong := self._try(notebook, within)) - failing(own), within):
            why_not |= dict.fromkeys(needed, _NEEDED)
            within |= needed
        blind = dict.fromkeys(self._blind(notebook, within, wrong), f"{FORGED} in the instructor's own")
        wrong = {grade_id: why for grade_id, why in wrong.items() if grade_id in blind or FORGED not in why}
        sources = {row.grade_id: row.source for row in self._rows if row.grade_id in within}
        blind |= {grade_id: _MAGIC for grade_id, source in sources.items() if not watchable(source)}
        unwatched = frozenset(blind)
        kernel = {grade_id: why for grade_id, why in why_not.items() if grade_id not in {*wrong, *blind}}
        lost = {grade_id: why for grade_id, why in wrong.items() if grade_id not in unwatched}
        notes += [
            *(f"{ids} in the student's kernel, watched; apart from it: {why}" for ids, why in by_reason(kernel)),
            *(f"{ids} in the student's kernel, not watched: {why}" for ids, why in by_reason(blind)),
            *(f"{ids} the instructor's own notebook does not get full marks: {why}" for ids, why in by_reason(lost)),
        ]
        notes += [_IN_KERNEL] if kernel or blind else []
        kept = {name: names for name, names in self._kept.items() if name in within}
        return self._looked(notebook, Found(self._tests - within, unwatched, self._named(notes), standings, kept))

    def _looked(self, notebook: nbformat.NotebookNode, found: Found) -> Found:
        """Return what was found with the tests that lose points in a second look at the instructor's notebook."""
        theirs = checks_of(self._rows, others=self.others, solved=self.solved).theirs
        within, hides, lost = self._tests - found.isolated, hiding(self._rows), dict[str, str]()
        for some in looks(self._rows, found.isolated - hides, theirs):
            why = why_not(self._scores(notebook, self._checks(within | some)))
            lost |= {name: why[name] for name in some & why.keys()}
        if mirrors := frozenset().union(*looks(self._rows, found.isolated, theirs)):
            why = why_not(self._scores(notebook, self._checks(within, mirrors=mirrors)))
            lost |= {name: why[name] for name in mirrors & why.keys()}
        notes = self._named([f"{ids} {_LOWERED}: {why}" for ids, why in by_reason(lost)])
        nothing, believed = frozenset(self._heard.nothing), dict(self._heard.believed)
        said = (*found.notes, *notes)
        return replace(found, lowered=frozenset(lost), notes=said, nothing=nothing, believed=believed)

    def _in_kernel(self, notebook: nbformat.NotebookNode) -> dict[str, str]:
        """Return the tests that cannot run apart, and why; what gives points for nothing gets more of locked cells."""
        checks = checks_of(self._rows, others=self.others, solved=self.solved)
        kernels = bound_to_kernel(self._rows, checks, self._given)
        while True:
            why_not = {**self._settle(notebook, frozenset(kernels)), **kernels}
            vacuous = self._vacuous(notebook, frozenset(why_not))
            if not self._standings.widen(name for name, why in vacuous.items() if why == _VACUOUS):
                why_not |= vacuous
                self._kept = {name: names for name, names in self._kept.items() if name in why_not}
                return why_not

    def _blind(self, notebook: nbformat.NotebookNode, within: frozenset[str], wrong: Mapping[str, str]) -> list[str]:
        """Return the tests in which no false check that was drawn fails; wrong: what came of the first draw."""
        blind = [grade_id for grade_id, why in wrong.items() if FORGED in why]
        for _ in range(_DRAWS - 1 if blind else 0):
            again = self._try(notebook, within)
            blind = [grade_id for grade_id in blind if FORGED in again.get(grade_id, "")]
        return blind

    def _forget_kept(self, lost: Collection[str]) -> None:
        """Keep no name from students for a test that the instructor's own notebook fails: nobody knows whose it is."""
        self._kept = {name: names for name, names in self._kept.items() if name not in lost}

    def _named(self, notes: Sequence[str]) -> tuple[str, ...]:
        return tuple(f"{self.name}: {note}" for note in notes)

    def _settle(self, notebook: nbformat.NotebookNode, never: frozenset[str]) -> dict[str, str]:
        """Find for each test a standing with which it gives full marks apart; return why not, where there is none.

        An instance of a class of the grader's is met by the student's code as a stranger: so far from the instructor's.
        """
        reasons: dict[str, str] = {}
        while True:
            lost = self._try(notebook, never)
            denied = {name: why for name, why in self._denied(self._heard.asked).items() if name not in lost}
            strange = {name for name in self._heard.met if self._standings.of[name].level == CLASSES} - lost.keys()
            left = (lost.keys() | denied.keys() | strange) - never
            reasons = {**lost, **reasons, **denied}
            mended = {name for name, found in self._heard.drift.items() if self._standings.mend(name, *found)}
            if not self._standings.next(frozenset(left - mended)) and not mended:
                return {name: reasons[name] for name in left}

    def _denied(self, asked: Mapping[str, frozenset[str]]) -> dict[str, str]:
        """Return the tests that asked for names that are not the student's to give, and that as the reason."""
        found = {name: self._standings.denied(name, names) for name, names in asked.items()}
        self._kept |= {name: names for name, names in found.items() if names}
        return {name: _DENIED.format(", ".join(sorted(names))) for name, names in found.items() if names}

    def warnings(self) -> list[str]:
        """Return what the instructor should know of this notebook's tests, wherever they run."""
        return [f"{self.name}: {note}" for note in in_open_cells(self._rows, self._cells())]

    def _vacuous(self, notebook: nbformat.NotebookNode, within: frozenset[str]) -> dict[str, str]:
        """Return the tests that give more apart than in the kernel where nothing is answered, and that as the reason.

        Apart from the student's code a test that goes over `globals()` finds nothing in it, and passes. Where something
        is not there, a test may ask for what is not the student's to give: these are returned, too.
        """
        found: set[str] = set()
        denied: dict[str, str] = {}
        if within != self._tests:
            with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
                for_nothing = functools.partial(self._for_nothing, within)
                for more, asked in pool.map(for_nothing, unanswered_of(notebook, self._rows)):
                    found |= more
                    denied |= self._denied(asked)
        return dict.fromkeys(found - within, _VACUOUS) | denied

    def _for_nothing(
        self, within: frozenset[str], unanswered: nbformat.NotebookNode
    ) -> tuple[set[str], dict[str, frozenset[str]]]:
        """Return the tests that give more apart than in the kernel, and what each has asked for apart."""
        asked: dict[str, frozenset[str]] = {}
        apart = self._points(unanswered, within, lambda reports: asked.update(asked_in(reports)))
        together = self._points(unanswered, self._tests, lambda _: None) if any(apart.values()) else apart
        return {grade_id for grade_id, points in apart.items() if points > together[grade_id]}, asked

    def _points(
        self, notebook: nbformat.NotebookNode, within: frozenset[str], heard: Callable[[Mapping[str, Report]], None]
    ) -> dict[str, float]:
        """Return what the tests give, which nobody needs to watch: whose notebook it is gains nothing."""
        scores = self._scores(notebook, self._checks(within, guarded=frozenset()), heard)
        return {score.grade_id: score.points or 0.0 for score in scores}

    def _open_cells(self) -> tuple[list[str], frozenset[str]]:
        """Return the code cells of the instructor's notebook that students may change, and which hold solutions."""
        locked = {row.grade_id for row in self._rows if row.locked or row.automatic}
        chosen = [c for c in self._cells() if c.cell_type == "code" and metadata_of(c).get("grade_id") not in locked]
        return [c.source for c in chosen], frozenset(c.source for c in chosen if metadata_of(c).get("solution"))

    def _cells(self) -> list[nbformat.NotebookNode]:
        try:
            return list(as_released(self._content, self.name, self._rows).cells)
        except SubmissionError:
            return []

    def _needed(self, lost: Set[str], within: frozenset[str]) -> frozenset[str]:
        """Return the tests that must move to the kernel because one of these, which are there, needs their names."""
        found: set[str] = set()
        above: dict[str, str] = {}
        for row in self._rows:
            if row.grade_id in lost:
                using = {name for name, source in above.items() if bound_in(source) & words(row.source)}
                found |= using or above.keys()
            if row.automatic and row.grade_id not in within:
                above[row.grade_id] = row.source
        return frozenset(found)

    def _try(self, notebook: nbformat.NotebookNode, within: frozenset[str]) -> dict[str, str]:
        """Return the tests that do not give full marks if these run in the kernel and the others apart, and why."""
        return why_not(self._scores(notebook, self._checks(within, look=True)))

    def _checks(self, within: frozenset[str], **changes: Any) -> Checks:
        """Return where tests run if these run in the kernel and the others apart."""
        of, kept = self._standings.of, self._kept
        apart = self._tests - within
        return replace(checks_of(self._rows, apart, self._given, self.others, of, kept, self.solved), **changes)

    def _scores(
        self,
        notebook: nbformat.NotebookNode,
        checks: Checks,
        heard: Callable[[Mapping[str, Report]], None] | None = None,
    ) -> list[CellScore]:
        what = "trying which tests run apart from the instructor's own notebook, once a lab"
        self._say(f"{self.name}: {what}: run {next(self._runs)}")
        heard = heard or self._heard.hear
        return scores_of(self._executor, self.name, notebook, self._rows, checks, self._limits, self._given, heard)
