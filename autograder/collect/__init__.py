"""Takes the submissions of a lab from the zip file that a learning management system hands out."""

from __future__ import annotations

from autograder.collect.absent import who_handed_in_nothing
from autograder.collect.collect import collect_lab
from autograder.collect.lms_names import SYSTEMS
from autograder.collect.rows import IN_NO_FOLDER, LEFT_OUT, Row

__all__ = ["IN_NO_FOLDER", "LEFT_OUT", "SYSTEMS", "Row", "collect_lab", "who_handed_in_nothing"]
