"""Takes the submissions of a lab from the zip file that a learning management system hands out."""

from __future__ import annotations

from autograder.collect.collect import Row, collect_lab
from autograder.collect.lms_names import SYSTEMS

__all__ = ["SYSTEMS", "Row", "collect_lab"]
