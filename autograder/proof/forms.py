"""Right results in other forms: which a lab's checks refuse, and what of the text says so (`refused.toml`)."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError, SourceError
from autograder.proof.fairly import FORMS
from autograder.proof.mutants import Mutant, Task, heads
from autograder.proof.record import keep
from autograder.proof.sites import Solution
from autograder.proof.trials import Trial

__all__ = ["FILE", "REFUSED", "Fairness", "fairness_of", "forms_of", "read_fairness", "read_refused", "show_refused"]

REFUSED = "refused.toml"
FILE = "docs/proof/fairness/{}.json"
"""Where the numbers of a lab stand in a course."""
_KEYS = {"task", "function", "forms", "text"}
_HINT = 'task, function, forms = ["integer"], and text = "the words of the task that promise another form"'
_Key = tuple[str, str, str]
"""Task, function and form."""


@dataclass(frozen=True)
class Fairness:
    """What became of other forms of a lab's results.

    Attributes:
        source: hash of what was tried.
        tried: forms of the results of functions, without those that found nothing to put into another form.
        refused: those that lost a point although no text says so; said: those for which one does.
    """

    lab: str
    source: str
    tried: int
    said: int
    refused: int

    def write(self, folder: Path) -> Path:
        """Write it below docs/proof of a course; return the file."""
        return keep(folder / FILE.format(self.lab), self)


def read_fairness(folder: Path) -> list[Fairness]:
    """Return what is kept of a course's labs, in their order; raise CourseError for a file that is no record."""
    found = []
    for path in sorted(folder.glob(FILE.format("*"))):
        try:
            found.append(Fairness(**json.loads(path.read_text(encoding="utf-8"))))
        except (OSError, ValueError, TypeError) as error:
            raise CourseError(f"{path}: not a record: {error}", hint="autograder fair LAB --write") from error
    return found


def forms_of(task: Task) -> list[Mutant]:
    """Return the task's solution with the result of one of its functions in another form, for each of both.

    Only functions that students are given the head of: what they make beside these has no form that anybody promised.
    """
    solution = Solution(task.source)
    return [
        Mutant(task.name, form, function.name, f"def {function.name}", f"@{call}", solution.decorated(function, call))
        for function in heads(task)
        if function.node.name != "__init__"
        for form in FORMS
        for call in [f"fairly.{form}"]
    ]


def read_refused(path: Path, tasks: Mapping[str, Task]) -> dict[_Key, str]:
    """Return, for forms that a lab may refuse, the words of the task that say so; raise SourceError.

    The words have to stand in the task's text, or in what students see of its cell.
    """
    if not path.is_file():
        return {}
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("refused", [])
    except (OSError, ValueError) as error:
        raise SourceError(f"{path}: {error}") from error
    found: dict[_Key, str] = {}
    for number, entry in enumerate(entries, 1):
        where = f"{path}: entry {number}"
        if not isinstance(entry, dict) or entry.keys() != _KEYS or not isinstance(entry["forms"], list):
            raise SourceError(f"{where}: not of the four keys", hint=_HINT)
        if unknown := [form for form in entry["forms"] if form not in FORMS]:
            raise SourceError(f"{where}: no form {unknown[0]!r}", hint=f"known: {', '.join(FORMS)}")
        task = tasks.get(entry["task"])
        if task is None or not entry["text"].strip() or _flat(entry["text"]) not in _said(task):
            raise SourceError(f"{where} ({entry['task']}): the task does not say so: {entry['text']!r}", hint=_HINT)
        found |= {(entry["task"], entry["function"], form): entry["text"] for form in entry["forms"]}
    return found


def _said(task: Task) -> str:
    return _flat(f"{task.text} {task.given}")


def _flat(text: str) -> str:
    return " ".join(text.replace("`", "").replace("#", " ").split())


def fairness_of(lab: str, source: str, trials: Sequence[Trial], said: Collection[_Key], path: Path) -> Fairness:
    """Return the numbers of these trials; raise SourceError for an entry that says of a form that is not refused."""
    refused = {_key(trial) for trial in trials if trial.fate == "killed"}
    if stale := sorted(set(said) - refused):
        raise SourceError(
            f"{path}: {', '.join(stale[0])}: no check refuses it", hint="delete the entry: the form is accepted"
        )
    tried = [trial for trial in trials if trial.fate != "idle"]
    return Fairness(lab, source, len(tried), len(said), len(refused) - len(said))


def show_refused(trials: Iterable[Trial], said: Collection[_Key], tasks: Mapping[str, Task]) -> Iterator[str]:
    """Yield the lines about forms that lost a point and of which no text says anything."""
    shown = ""
    for trial in trials:
        if trial.fate != "killed" or _key(trial) in said:
            continue
        mutant = trial.mutant
        if mutant.task != shown:
            shown = mutant.task
            yield from ("", f"=== {mutant.task}: what the text says", "")
            yield from (f"    {line}".rstrip() for line in tasks[mutant.task].text.splitlines())
            yield ""
        yield f"{mutant.function} returns {FORMS[mutant.rule]} ({mutant.rule}): {trial.by}"


def _key(trial: Trial) -> _Key:
    return trial.mutant.task, trial.mutant.function, trial.mutant.rule
