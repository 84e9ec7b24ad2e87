"""Tries mutants in forks of a process that has run the lab: which are killed, by what, and which live."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

import nbformat

from autograder.boundary.parsing import syntax_tree
from autograder.errors import SourceError
from autograder.markers import CHECK, GIVEN
from autograder.notebook import to_explore
from autograder.proof import fairly, results, unseen, wrongly
from autograder.proof.mutants import Mutant
from autograder.proof.prepared import Outcome, Prepared, is_test

__all__ = ["Notes", "Trial", "code_of", "try_all"]

_HEADERS = CHECK.partition("{")[0], GIVEN
_LEAST_S, _TIMES = 3.0, 4.0
"""Processor time of a mutant: so many seconds, and so many times what the solution takes for the same tests."""
_PATIENCE_S, _SLOWER = 20.0, 5.0
"""By the clock: for what sleeps or waits."""


@dataclass(frozen=True)
class Trial:
    """What became of a mutant.

    Attributes:
        fate: killed, lived or idle (a fault that met nothing it could spoil; it counts as no mutant).
        by: the test that killed it, and why.
        told: what its author would read.
    """

    mutant: Mutant
    fate: str
    by: str = ""
    told: str = ""


class Notes:
    """What earlier runs have found, in a file to which a line is added for each mutant: a stopped run loses nothing.

    That a test has killed a mutant stays true while that test, the cells that are no tests and labkit, whose checks
    judge, stay as they are; that a mutant lives, while all do.
    """

    def __init__(self, path: Path | None, notebook: nbformat.NotebookNode) -> None:
        self._path = path
        cells = _graded(notebook)
        self._tests = {cell.id: _hash(cell.source) for cell in cells if is_test(cell)}
        self._others = _hash(_labkit(), *(cell.source for cell in cells if not is_test(cell)))
        self._faults = "".join(map(inspect.getsource, (fairly, results, unseen, wrongly)))
        self._known: dict[str, list[str]] = {}
        if path and path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):  # the line that was being written
                    key, *found = json.loads(line)
                    self._known[key] = found

    def get(self, mutant: Mutant) -> Trial | None:
        """Return what is known of a mutant."""
        fate, by, witness, told = (*self._known.get(self._key(mutant), ()), "", "", "", "")[:4]
        return Trial(mutant, fate, by, told) if fate and witness == self._witness(by) else None

    def add(self, trial: Trial) -> None:
        """Write down what became of one."""
        if self._path:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                about = [self._key(trial.mutant), trial.fate, trial.by, self._witness(trial.by), trial.told]
                file.write(json.dumps(about) + "\n")

    def _key(self, mutant: Mutant) -> str:
        return _hash(self._others, mutant.task, mutant.source, self._faults if mutant.faulty else "")

    def _witness(self, by: str) -> str:
        return self._tests.get(by.partition(": ")[0]) or _hash(*self._tests.values())


def code_of(notebook: nbformat.NotebookNode) -> str:
    """Return a hash of what the cells say that are run when the lab is graded, however that is laid out.

    Comments, docstrings and a check's hints do not count, nor what `release` puts above it: nothing is found by them.
    """
    sources = (cell.source for cell in _graded(notebook))
    return _hash(*(_said(text.partition("\n")[2] if text.startswith(_HEADERS) else text) for text in sources))


def _labkit() -> str:
    """Return a hash of labkit, whose checks say what is wrong; nothing where it is not installed."""
    found = importlib.util.find_spec("labkit")
    folders = (found.submodule_search_locations if found else None) or ()
    sources = sorted(path for folder in folders for path in Path(folder).rglob("*.py"))
    return _hash(*(source.read_text(encoding="utf-8") for source in sources))


_DOCUMENTED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _said(text: str) -> str:
    """Return the syntax tree of a cell as text, the same for every version of Python; a cell that has none as it is."""
    try:
        return repr(_shape(syntax_tree(text)))
    except SyntaxError:  # it has lines of IPython
        return text


def _shape(part: object) -> object:
    if isinstance(part, list):
        return [_shape(one) for one in part]
    if not isinstance(part, ast.AST):
        return part
    fields = dict(ast.iter_fields(part))
    if isinstance(part, _DOCUMENTED) and ast.get_docstring(part, clean=False) is not None:
        fields["body"] = part.body[1:]
    if isinstance(part, ast.Call):
        fields["keywords"] = [one for one in part.keywords if not _hints(one)]
    said = {name: value for name, value in fields.items() if name != "kind" and value not in (None, [])}
    return type(part).__name__, [(name, _shape(value)) for name, value in said.items()]


def _hints(argument: ast.keyword) -> bool:
    """Whether this argument is a text that says where to look."""
    told = isinstance(argument.value, ast.Constant) and isinstance(argument.value.value, str)
    return argument.arg in {"hint", "more"} and told


def _graded(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code" and not to_explore(cell)]


def _hash(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:32]


def try_all(
    prepare: Callable[[], Prepared],
    cells: Mapping[str, str],
    mutants: Sequence[Mutant],
    notes: Notes,
    *,
    jobs: int = 1,
) -> Iterator[Trial]:
    """Yield what becomes of each mutant, in their order.

    prepare: starts a process that has run the lab; cells: the ids of the tasks' cells, by grade_id. Raises SourceError
    if the solution itself does not earn full marks.
    """
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(jobs))
        free: SimpleQueue[Prepared] = SimpleQueue()
        for process in pool.map(lambda _: prepare(), range(jobs)):
            free.put(stack.enter_context(process))
        costs = _costs(process, tuple(cells.values()))

        def attempt(mutant: Mutant) -> Trial:
            if known := notes.get(mutant):
                return known
            process = free.get()
            try:
                trial = _attempt(process, {cells[mutant.task]: mutant.source}, mutant, costs)
            finally:
                free.put(process)
            notes.add(trial)
            return trial

        try:
            yield from pool.map(attempt, mutants)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _attempt(process: Prepared, changed: Mapping[str, str], mutant: Mutant, costs: Mapping[str, float]) -> Trial:
    cpu_s = _LEAST_S + _TIMES * sum(costs.get(key, 0.0) for key in process.seen(changed))
    answer = process.answer(changed, first=True, cpu_s=cpu_s, time_s=_PATIENCE_S + _SLOWER * cpu_s)
    for key, outcome in answer.tests.items():
        if not outcome.full:
            if seen := _only_in_notebook(process, changed, cpu_s):
                return Trial(mutant, "lived", told=seen)
            return Trial(mutant, "killed", f"{key}: {outcome.why}", outcome.told)
    return Trial(mutant, "idle" if answer.idle else "lived")


def _only_in_notebook(process: Prepared, changed: Mapping[str, str], cpu_s: float) -> str:
    """Return the cases that find a result which is used again in a notebook, but not where tests get copies.

    Such a case computes with what an earlier call has returned, and does not ask what became of that.
    """
    itself = {key: source.replace("wrongly.one_", "wrongly.same_") for key, source in changed.items()}
    if itself == changed:
        return ""
    time_s = _PATIENCE_S + _SLOWER * cpu_s
    copies, there = (process.answer(some, cpu_s=cpu_s, time_s=time_s).tests for some in (changed, itself))
    found = [f"{key}: {title}" for key in there for title in sorted(_lost(there[key]) - _lost(copies[key]))]
    return f"a notebook fails it, a grader that hands out copies does not: {'; '.join(found)}" if found else ""


def _lost(outcome: Outcome) -> set[str]:
    return {case["title"] for case in outcome.failed} | ({outcome.error} if outcome.error else set())


def _costs(process: Prepared, tasks: Collection[str]) -> dict[str, float]:
    """Return the processor time of each test of the solution, with the cells before it that are run again."""
    found = process.answer(process.own(tasks)).tests
    lost = [f"{key}: {outcome.why}" for key, outcome in found.items() if not outcome.full]
    if lost:
        raise SourceError(
            f"the solution does not earn full marks: {'; '.join(lost)}",
            hint="a mutant tells nothing there: mend the solution or the test",
        )
    costs, before = {}, 0.0
    for key, outcome in found.items():
        costs[key], before = outcome.cpu_s - before, outcome.cpu_s
    return costs
