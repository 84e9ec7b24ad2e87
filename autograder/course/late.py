"""What nbgrader takes off for being late, computed again without an execution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import import_item

from autograder.course.stored import submissions
from autograder.errors import CourseError

__all__ = ["penalties", "set_penalties"]


def penalties(app: Any, book: Gradebook, lab: str) -> dict[str, dict[str, float]]:
    """Return what today's due date, extensions and policy take off each submission, by student and notebook.

    Empty if the course's configuration has nbgrader assign no penalties. Raises CourseError if the policy fails.
    """
    if (policy := _policy(app)) is None:
        return {}
    return {
        str(submitted.student_id): {str(n.notebook_id): _penalty(policy, submitted, n) for n in submitted.notebooks}
        for submitted in submissions(book, lab)
    }


def set_penalties(book: Gradebook, lab: str, student: str, found: Mapping[str, float]) -> None:
    """Store what `penalties` has computed for one student."""
    for submitted in submissions(book, lab, student):
        for notebook in submitted.notebooks:
            notebook.late_submission_penalty = found.get(str(notebook.notebook_id), 0.0) or None
    book.db.commit()


def _policy(app: Any) -> Any:
    """Return nbgrader's step that assigns penalties, with the course's own plugin; None if there is no such step."""
    for step in Autograde(coursedir=app.coursedir, parent=app).autograde_preprocessors:
        kind = import_item(step) if isinstance(step, str) else step
        if issubclass(kind if isinstance(kind, type) else type(kind), AssignLatePenalties):
            made = kind(parent=app) if isinstance(kind, type) else kind
            made.init_plugin()
            return made
    return None


def _penalty(policy: Any, submitted: Any, notebook: Any) -> float:
    """Return what AssignLatePenalties would write; it lets a penalty be no less than nothing and no more than all."""
    late_s = submitted.total_seconds_late if submitted.assignment.duedate is not None else 0
    if late_s <= 0:
        return 0.0
    try:
        taken = policy.plugin_inst.late_submission_penalty(submitted.student_id, notebook.score, late_s)
        return 0.0 if taken is None else min(max(0.0, float(taken)), float(notebook.score))
    except Exception as error:  # the plugin is the course's own code
        raise CourseError(
            f"the penalty of {submitted.student_id} for being late: {type(error).__name__}: {error}",
            hint="fix c.AssignLatePenalties.plugin_class; nbgrader itself would stop here too",
        ) from error
