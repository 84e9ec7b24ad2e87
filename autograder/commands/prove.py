"""The prove command: which mistakes a lab's checks would not find."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from autograder.commands.common import COURSE, LAB, command
from autograder.commands.opened_lab import OpenedLab
from autograder.course import Course, open_course
from autograder.errors import AutograderError, counted
from autograder.proof import (
    Mutant,
    Record,
    Task,
    Trial,
    as_toml,
    check_living,
    code_of,
    mutants_of,
    one_of_each,
    read_equivalent,
    record_of,
    show,
    source_hash,
)
from autograder.proof.equivalent import NAME, Key
from autograder.proof.mutants import RULES

__all__ = ["prove"]

_SEED = 0


@click.command(short_help="Say which mistakes the checks of a lab would not find.")
@LAB
@click.option("--task", "names", multiple=True, metavar="T", help="Only this task, by its grade_id; may be repeated.")
@click.option(
    "--rule", "rules", multiple=True, metavar="R", help="Only this kind of change, as docs/proof.md names it."
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes side by side.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Try N mutants, chosen by chance, always the same.")
@click.option("--messages", is_flag=True, help="Print what is read of those that are found, one of each kind and case.")
@click.option("--json", "as_json", is_flag=True, help="Print one object a mutant and line.")
@click.option("--toml", is_flag=True, help=f"Print survivors as entries for {NAME}, each without its reason.")
@click.option("--write", is_flag=True, help="Keep the numbers in docs/proof, for docs/proof.md.")
@click.option("--check", is_flag=True, help="Exit 1 if a survivor is not answered.")
@COURSE
@command
def prove(
    lab: str,
    names: tuple[str, ...],
    rules: tuple[str, ...],
    jobs: int,
    sample: int | None,
    messages: bool,
    as_json: bool,
    toml: bool,
    write: bool,
    check: bool,
    root: Path,
) -> None:
    """Say which mistakes the checks of a lab would not find.

    Each task's solution is changed in one place (a comparison, a bound, an axis, a dtype, a copy left out, state that
    outlives a call, ...), and the checks that can see the change are run. A mutant that loses no point is a survivor.
    It asks for one of three answers: a case that it fails, a clearer text, or an entry in the lab's equivalent.toml
    with the reason why no promise of the text is broken.

    The lab runs here, without a sandbox: it is your own. What a stopped run has found is used by the next one.

    \b
    Examples:
      autograder prove 01_numpy_mlp --jobs 2
      autograder prove 01_numpy_mlp --task adam-step --toml
      autograder prove 01_numpy_mlp --rule tie --rule "nearly equal"
      autograder prove 01_numpy_mlp --sample 50 --messages
    """
    if write and (names or rules or sample):
        raise click.UsageError("--write keeps the numbers of a whole lab: leave out --task, --rule and --sample")
    course = open_course(root)
    found = _try(course, lab, names, rules, sample, jobs)
    if as_json:
        for line in found.as_json():
            click.echo(line)
    elif toml:
        click.echo(as_toml(trial.mutant for trial in found.alive))
    else:
        for line in show(one_of_each(found.trials) if messages else found.alive, found.tasks):
            click.echo(line)
    click.echo(_summary(found.record), err=as_json or toml)
    if write:
        click.echo(f"{found.record.write(course.root)}: written", err=True)
    if check and found.alive:
        raise AutograderError(
            f"{lab}: {counted(len(found.alive), 'survivor')} not answered",
            hint=f"a case that it fails, a clearer text, or an entry in {NAME}",
        )


@dataclass(frozen=True)
class _Found:
    tasks: dict[str, Task]
    trials: list[Trial]
    excused: dict[Key, str]
    record: Record

    @property
    def alive(self) -> list[Trial]:
        """The survivors that nothing answers."""
        return [trial for trial in self.trials if trial.fate == "lived" and trial.mutant.key not in self.excused]

    def as_json(self) -> Iterator[str]:
        """Yield one object a mutant."""
        for trial in self.trials:
            mutant = trial.mutant
            fate = "equivalent" if trial.fate == "lived" and mutant.key in self.excused else trial.fate
            about = {name: getattr(mutant, name) for name in ("task", "function", "rule", "before", "after")}
            yield json.dumps(about | {"fate": fate, "by": trial.by})


def _try(course: Course, lab: str, names: Sequence[str], rules: Sequence[str], sample: int | None, jobs: int) -> _Found:
    """Try the mutants of these tasks and kinds, or of all."""
    opened = OpenedLab.of(course, lab)
    path = opened.folder / NAME
    mutants = [mutant for task in opened.chosen(names) for mutant in mutants_of(task)]
    listed_ = {key: why for key, why in read_equivalent(path).items() if key[0] in names or not names}
    if rules:
        mutants = _of_kinds(mutants, rules)
        listed_ = {mutant.key: listed_[mutant.key] for mutant in mutants if mutant.key in listed_}
    trials = opened.tried(_sample(mutants, sample), "mutants", course.state / "proof" / f"{lab}.jsonl", jobs)
    fates = {trial.mutant.key: trial.fate for trial in trials}
    check_living(path, listed_, mutants, fates)
    return _Found(
        opened.tasks, trials, listed_, record_of(lab, source_hash(code_of(opened.notebook), path), trials, listed_)
    )


def _of_kinds(mutants: list[Mutant], rules: Sequence[str]) -> list[Mutant]:
    if unknown := sorted(set(rules) - RULES):
        raise click.BadParameter(f"{', '.join(unknown)}: no such kind of change; there are: {', '.join(sorted(RULES))}")
    return [mutant for mutant in mutants if mutant.rule in rules]


def _sample(mutants: list[Mutant], number: int | None) -> list[Mutant]:
    if number is None or number >= len(mutants):
        return mutants
    chosen = sorted(random.Random(_SEED).sample(range(len(mutants)), number))
    return [mutants[index] for index in chosen]


def _summary(record: Record) -> str:
    whole = record.whole
    return (
        f"\n{record.lab}: {counted(whole.mutants, 'mutant')}, {whole.killed} killed, {whole.equivalent} equivalent, "
        f"{counted(whole.survivors, 'survivor')}; {whole.rate:.1f} % of those that are wrong are found"
    )
