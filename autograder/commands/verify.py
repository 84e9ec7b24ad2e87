"""The verify command: log and gradebook against each other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from autograder.commands.common import COURSE, command, stderr
from autograder.commands.table import plain
from autograder.course import Course, open_course
from autograder.errors import AutograderError, CourseError, counted, listed
from autograder.records.removed import LEFT
from autograder.records.verify import Verification, verify_lab

__all__ = ["verify", "verify_labs"]

_LATE = "autograder grade LAB applies penalties for being late again; nothing is run for that"
_FORCE = "to grade the students named again, autograder grade LAB --student S --force; the log itself stays"

_REMOVED = (
    f"{{}} not in the gradebook any more: {LEFT}, and verify then only notes it;"
    " who has not left, or has another id now: docs/instructors.md, A student leaves"
)


@click.command(short_help="Check that log and gradebook agree, and that neither was edited.")
@click.argument("labs", nargs=-1, metavar="[LAB]...")
@COURSE
@click.option(
    "--head", default="", metavar="HASH", help="What grade printed at its end; finds lines that were cut off."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a lab.")
@command
def verify(labs: tuple[str, ...], root: Path, head: str, as_json: bool) -> None:
    """Check the log of each LAB, or of all, for lines edited, removed, moved or inserted, and the gradebook against it.

    Prints one line per difference; manual grades are listed but are not differences. Exit code 0 if all agrees, 1 if
    not, or if nothing has been graded.

    \b
    Examples:
      autograder verify
      autograder verify 01_numpy_mlp --head 9f2b61c07d5e4a38
    """
    if head and len(labs) != 1:
        raise click.UsageError("--head belongs to one lab: name it")
    labs = tuple(lab.rstrip("/") for lab in labs)
    wrong = verify_labs(root, labs, head=head.strip().lower(), as_json=as_json)
    if count := sum(len(found.problems) + len(found.differences) for found in wrong):
        raise AutograderError(f"{counted(count, 'difference')}", hint=_hint(wrong, count))
    if wrong:
        raise CourseError("nothing to verify", hint=_hint(wrong, 0))


def _hint(wrong: Sequence[Verification], count: int) -> str:
    """Return what to do about what was found, most of which has a step of its own."""
    if not any(found.begun for found in wrong):
        return f"autograder grade {wrong[0].lab}"
    if all(found.only_late for found in wrong):
        return _LATE
    gone = sorted({student for found in wrong for student in found.removed})
    hints = [_REMOVED.format(plain(listed(gone)))] if gone else []
    return "; ".join([*hints, *([_FORCE] if count > sum(len(found.removed) for found in wrong) else [])])


def verify_labs(root: Path, labs: Sequence[str], *, head: str, as_json: bool) -> list[Verification]:
    """Check these labs, or all; print a line a difference, or a JSON object a lab; return what does not agree."""
    course = open_course(root)
    chosen = list(labs) or _recorded(course)
    if not chosen:
        raise CourseError(f"{course.root}: nothing has been graded", hint="autograder grade LAB")
    wrong = []
    for lab in chosen:
        if not (course.state / f"{lab}.jsonl").exists():
            course.notebooks(lab)  # says that there is no such lab, if so
        found = verify_lab(course, lab, head)
        if not found.agrees:
            wrong.append(found)
        if as_json:
            print(json.dumps(_as_dict(found)), flush=True)
        else:
            _show(found)
    return wrong


def _recorded(course: Course) -> list[str]:
    """Return the labs of which there is a log, a grade or what a killed run has left; else those that wait for it."""
    left = {path.stem for kind in ("jsonl", "staging") for path in course.state.glob(f"*.{kind}")}
    return sorted(left | set(course.recorded())) or [lab for lab in course.labs() if course.submitters(lab)]


def _show(found: Verification) -> None:
    for line in [*found.problems, *map(str, found.differences)]:
        print(plain(f"{found.lab}: {line}"))
    for line in found.by_hand:
        print(plain(f"{found.lab}: by hand: {line}"))
    say = stderr()
    for line in found.notes:
        say.print(plain(f"{found.lab}: {line}"), soft_wrap=True, markup=False)
    if not found.begun:
        waiting = counted(len(found.waiting), "submission") + (" waits" if len(found.waiting) == 1 else " wait")
        say.print(f"{found.lab}: nothing has been graded yet; {waiting}", soft_wrap=True, markup=False)
        return
    agrees = "agrees with the gradebook" if found.agrees else "does not agree"
    say.print(
        f"{found.lab}: log of {counted(found.lines, 'line')}, {agrees}; head {found.head or 'none'}", soft_wrap=True
    )


def _as_dict(found: Verification) -> dict[str, object]:
    return {**vars(found), "differences": [vars(difference) for difference in found.differences], "ok": found.agrees}
