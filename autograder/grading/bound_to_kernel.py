"""The tests of a foreign lab that are not even tried apart from the student's code: their texts say why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.boundary.evaluation import evaluates, imported_names, parsed
from autograder.boundary.given import brought_along
from autograder.boundary.locked import global_names
from autograder.boundary.observation import observes
from autograder.execution import Checks
from autograder.grading.along import bound_in
from autograder.model import CellSpec

__all__ = ["bound_to_kernel"]


def bound_to_kernel(rows: Sequence[CellSpec], checks: Checks, given: Mapping[str, Path]) -> dict[str, str]:
    """Return the tests that must not run apart, and why; given: the instructor's files beside the notebook.

    There those that make code of texts would run what a student's function returns, and those that look at how
    something is computed would look at another process than where it is.
    """
    found, before = {}, set[str]()
    for row in rows:
        if row.automatic:
            along = brought_along(checks.given[row.grade_id], checks.theirs, row.source)
            if name := evaluates(row.source) or evaluates(along):
                found[row.grade_id] = f"{name} makes code of texts or bytes"
            elif name := observes(row.source, _with_modules(along, row.source, given), checks.theirs):
                found[row.grade_id] = f"{name} is about how something is computed, or what it is"
            elif names := global_names(row.source) & before & checks.theirs:
                found[row.grade_id] = f"{min(names)} is an earlier test's, and the student's"
            before |= bound_in(row.source)
    return found


def _with_modules(along: str, test: str, given: Mapping[str, Path]) -> str:
    """Return what a test brings along, with the text of the modules beside the notebook that either imports."""
    imported = {**imported_names(parsed(along)), **imported_names(parsed(test))}
    names = {name.partition(".")[0] for name in imported.values()}
    texts = [path.read_text("utf-8", "replace") for file, path in given.items()
             if file.endswith(".py") and Path(file).parts[0].removesuffix(".py") in names]  # fmt: skip
    return "\n".join([along, *texts])
