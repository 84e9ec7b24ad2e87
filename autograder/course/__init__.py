"""A course directory as nbgrader sees it; the only package that imports nbgrader.

`directory` knows where things are, `gradebook` what the database holds, `converters` how nbgrader writes both, and
`preprocess` what nbgrader does to a notebook.
"""

from __future__ import annotations

from autograder.course.directory import Course, open_course
from autograder.course.gradebook import StoredCell, Student
from autograder.course.preprocess import (
    AFTER_SAVING,
    BEFORE_SAVING,
    StubSolutions,
    checksum,
    nbgrader_points,
    release_version,
)

__all__ = [
    "AFTER_SAVING",
    "BEFORE_SAVING",
    "Course",
    "StoredCell",
    "StubSolutions",
    "Student",
    "checksum",
    "nbgrader_points",
    "open_course",
    "release_version",
]
