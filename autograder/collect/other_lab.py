"""Notices an archive that was handed in for another lab, before each of its notebooks is put in this one's place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from autograder.collect.unusable import Usable
from autograder.errors import CourseError

__all__ = ["refuse_another_labs"]

_LOOKED_AT = 10
"""How many students' notebooks are looked at: of an archive of this lab's nearly all are this lab's."""


def refuse_another_labs(
    source: Path, lab: str, students: Collection[str], notebooks: Callable[[str], Mapping[str, bytes]], usable: Usable
) -> None:
    """Raise CourseError if most students of an archive have handed in another lab's notebook.

    One student alone may have mistaken the lab, which the table says. notebooks: gives those of a student by file name.
    """
    if len(students) < 2:
        return
    some = [each for student in list(students)[:_LOOKED_AT] if (each := notebooks(student))]
    others = [why for each in some if (why := usable.of_another_lab(each))]
    if len(others) > 1 and 2 * len(others) > len(some):
        raise CourseError(
            f"{source}: of {len(some)} students' notebooks that were looked at {len(others)} are not {lab}'s:"
            f" {max(others, key=others.count)}",
            hint="is it the right archive, and the right lab? --force collects it for this one all the same",
        )
