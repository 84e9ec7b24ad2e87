"""A point in time as nbgrader reads it from a timestamp.txt."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast

from nbgrader.utils import parse_utc

__all__ = ["moment"]


def moment(text: str) -> datetime | None:
    """Return the time that is written here; None if it is not one, or if nbgrader could not read it."""
    try:
        return cast(datetime, parse_utc(text)).replace(tzinfo=UTC)
    except Exception:  # dateutil's parser fails in many ways, decimal's among them, and students write what it reads
        return None
