"""Who was graded once and is in the gradebook no more: removed, or renamed."""

from __future__ import annotations

from autograder.course import Course
from autograder.records.log import Log

__all__ = ["LEFT", "removed"]

LEFT = "who has left belongs into c.CourseDirectory.student_id_exclude in nbgrader_config.py"


def removed(course: Course) -> set[str]:
    """Return the students whom a log knows and the gradebook does not, but for those whom the configuration names."""
    logs = [Log(path) for path in sorted(course.state.glob("*.jsonl"))]
    graded = set[str]().union(*(log.graded() for log in logs))
    return graded - set(course.everybody()) - course.excluded if graded else set()
