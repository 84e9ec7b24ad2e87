"""The cells of a lab's source as the gradebook has them."""

from __future__ import annotations

from autograder.model import CellSpec
from autograder.release.source import LabSource

__all__ = ["rows_of"]


def rows_of(source: LabSource) -> list[CellSpec]:
    """Return a row for each cell that has an id."""
    return [
        CellSpec(c.grade_id, c.cell_type, c.source, "", c.test or c.locked, c.grade, c.solution, False, c.points)
        for c in source.cells
        if c.grade_id
    ]
