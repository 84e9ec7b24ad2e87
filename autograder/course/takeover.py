"""nbgrader's commands, and formgrader's icons, that release and grade and write feedback, done by the autograder."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbgrader.apps import api, autogradeapp, generateassignmentapp, generatefeedbackapp
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import import_item

from autograder.course.converters import hidden_delimiters
from autograder.course.execution import ExecuteElsewhere
from autograder.course.preprocess import hide_mark_schemes
from autograder.errors import AutograderError
from autograder.markers import strip_hidden

__all__ = ["HideTests", "hand_over", "left_to_nbgrader"]

_MODULE = "autograder.nbgrader_commands"
"""Has what is used here by its name; it is imported when one of these is used, for it needs the whole grader."""
_SOLUTION = ("IncludeHeaderFooter", "LockCells", "ClearOutput", "ClearMarkScheme", "Execute")
_UNSAFE = "Autograde, as a command and as formgrader's icon, runs students' code outside any sandbox"
_TELLS = "Generate Feedback prints hidden tests to students"


def hand_over(config: Any) -> None:
    """Let the autograder do what nbgrader's generate_assignment, autograde and generate_feedback are asked to.

    For nbgrader_config.py. nbgrader has no setting for that: the names are bound to other classes where its commands
    and formgrader look for them. These do as nbgrader does in every course whose configuration has not called this.
    """
    config.Autograder.in_nbgrader = True
    if "release_feedback" not in config.ExchangeFactory:  # a hub may have an exchange of its own
        config.ExchangeFactory.release_feedback = "autograder.course.exchange.ReleaseFeedback"
    # A solution is for students, too, once it is due; its tests are run before they are hidden.
    config.GenerateSolution.preprocessors = [
        *(f"nbgrader.preprocessors.{name}" for name in _SOLUTION),
        f"{__name__}.HideTests",
    ]
    # If a page of nbgrader's own is made all the same, by a program that uses its classes:
    config.GenerateFeedback.preprocessors = [
        f"{__name__}.HideTests",
        "nbgrader.preprocessors.GetGrades",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    ]
    for module, name, ours in (
        (api, "GenerateAssignment", _GenerateAssignment),
        (generateassignmentapp, "GenerateAssignment", _GenerateAssignment),
        (api, "Autograde", _Autograde),
        (autogradeapp, "Autograde", _Autograde),
        (api, "GenerateFeedback", _GenerateFeedback),
        (generatefeedbackapp, "GenerateFeedback", _GenerateFeedback),
    ):
        if not issubclass(getattr(module, name), ours.__base__):
            raise ImportError(f"{module.__name__} has another {name}: this nbgrader is not the one that was tested")
        setattr(module, name, ours)


def left_to_nbgrader(config: Any) -> list[str]:
    """Say what a course with this configuration still has nbgrader do, and should not."""
    if _ours(config):
        return []
    steps = config.Autograde.get("autograde_preprocessors", ())
    kinds = [import_item(step) if isinstance(step, str) else step for step in steps]
    sandboxed = any(isinstance(kind, type) and issubclass(kind, ExecuteElsewhere) for kind in kinds)
    return [_TELLS] if sandboxed else [_UNSAFE, _TELLS]


class HideTests(NbGraderPreprocessor):  # type: ignore[misc]
    """Leaves mark schemes and hidden tests out of a notebook, and what their cells put out, but for the points.

    The same of cells below that use what hidden lines may have made: they would print it.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        hide_mark_schemes(nb, self)
        delimiters = hidden_delimiters(self.parent)
        cells = [cell for cell in nb.cells if cell.cell_type == "code"]
        texts = [(cell.source, strip_hidden(cell.source, delimiters)) for cell in cells]
        reached = _from_grader("reached_by_hidden")(texts) if any(whole != shown for whole, shown in texts) else ()
        for place, (cell, (whole, shown)) in enumerate(zip(cells, texts, strict=True)):
            if whole != shown or place in reached:
                cell.source = shown
                cell.outputs = []
        return nb, resources


def _ours(config: Any) -> bool:
    return bool(config.Autograder.get("in_nbgrader"))


class _GenerateAssignment(GenerateAssignment):  # type: ignore[misc]
    def start(self) -> None:
        if _ours(self.config):  # --force, which formgrader always gives, is no leave to write over somebody's work
            _instead(self, "release")
        else:
            super().start()


class _Autograde(Autograde):  # type: ignore[misc]
    def start(self) -> None:
        if _ours(self.config):
            _instead(self, "grade", force=self.force)
        else:
            super().start()


class _GenerateFeedback(GenerateFeedback):  # type: ignore[misc]
    def start(self) -> None:
        if _ours(self.config):
            _instead(self, "feedback")
        else:
            super().start()


def _from_grader(name: str) -> Any:
    return getattr(importlib.import_module(_MODULE), name)


def _instead(converter: Any, name: str, **options: Any) -> None:
    """Do the work of a converter for the lab and the students that it was asked for."""
    work: Callable[..., None] = _from_grader(name)
    place = converter.coursedir
    if place.notebook_id != "*":
        converter.log.warning("All notebooks of %s are taken, not only %s", place.assignment_id, place.notebook_id)
    try:
        work(Path(place.root), place.assignment_id, place.student_id or "*", converter.log, **options)
    except (AutograderError, OSError) as error:
        converter.log.error("%s", error)
        raise NbGraderException(str(error)) from error
