"""A course directory as nbgrader sees it; the only package that imports nbgrader.

`directory` knows where things are, `gradebook` what the database holds of labs, `stored` what of submissions, and
`alterations` what nbgrader has not put there; `converters` how nbgrader writes both, and `preprocess` what it does to a
notebook.
"""

from __future__ import annotations

from autograder.course.configuration import refuse_excluded
from autograder.course.directory import Course, open_course
from autograder.course.gradebook import Student
from autograder.course.moments import moment
from autograder.course.preprocess import (
    AFTER_SAVING,
    BEFORE_SAVING,
    StubSolutions,
    as_mark_scheme,
    checksum,
    hide_mark_schemes,
    nbgrader_points,
    release_version,
)
from autograder.course.stored import Lateness, StoredCell
from autograder.course.takeover import hand_over, left_to_nbgrader
from autograder.course.transaction import one_transaction

__all__ = [
    "AFTER_SAVING",
    "BEFORE_SAVING",
    "Course",
    "Lateness",
    "StoredCell",
    "StubSolutions",
    "Student",
    "as_mark_scheme",
    "checksum",
    "hand_over",
    "hide_mark_schemes",
    "left_to_nbgrader",
    "moment",
    "nbgrader_points",
    "one_transaction",
    "open_course",
    "refuse_excluded",
    "release_version",
]
