"""Takes the submissions of a lab from the zip file that a learning management system hands out."""

from __future__ import annotations

from autograder.collect.layout import SYSTEMS
from autograder.collect.take import Row, collect_lab

__all__ = ["SYSTEMS", "Row", "collect_lab"]
