"""Who was graded once and is in the gradebook no more: removed, or renamed."""

from __future__ import annotations

from autograder.course import Course
from autograder.records.log import Log

__all__ = ["GONE", "LEFT", "gone", "removed"]

GONE = "graded before, and not in the gradebook any more"
LEFT = "who has left belongs into c.CourseDirectory.student_id_exclude in nbgrader_config.py"


def removed(course: Course) -> set[str]:
    """Return the students whom a log knows and the gradebook does not, but for those whom the configuration names."""
    return gone(course, *(Log(path) for path in sorted(course.state.glob("*.jsonl")))) - course.excluded


def gone(course: Course, *logs: Log) -> set[str]:
    """Return the students whom one of these logs knows and the gradebook does not."""
    graded = set[str]().union(*(log.graded() for log in logs))
    return graded - set(course.everybody()) if graded else set()
