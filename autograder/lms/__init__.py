"""What learning management systems hand out and take back: rosters, and grades in each one's own columns."""

from __future__ import annotations

from autograder.lms.canvas import canvas_csv
from autograder.lms.exported import read_roster
from autograder.lms.gradescope import gradescope_csv
from autograder.lms.moodle import moodle_csv
from autograder.lms.nbgrader import nbgrader_csv
from autograder.lms.roster import Person, Roster
from autograder.lms.table import Export

__all__ = [
    "Export",
    "Person",
    "Roster",
    "canvas_csv",
    "gradescope_csv",
    "moodle_csv",
    "nbgrader_csv",
    "read_roster",
]
