"""A point in time as nbgrader reads it from a timestamp.txt."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast

from dateutil.parser import parse
from nbgrader.utils import parse_utc

__all__ = ["moment"]


_DAYS = datetime(1, 1, 1), datetime(2, 2, 2)
"""What is not written in a text is taken from one of these."""


def moment(text: str) -> datetime | None:
    """Return the time that is written here; None if it is not one, or if nbgrader could not read it.

    A time of day alone is none: it would be another one tomorrow.
    """
    try:
        parts = text.split(" ")
        without_zone = " ".join(parts[:2]) if len(parts) == 3 else text  # of three, nbgrader takes the last for a zone
        first, second = (parse(without_zone, default=day) for day in _DAYS)
        return None if first != second else cast(datetime, parse_utc(text)).replace(tzinfo=UTC)
    except Exception:  # dateutil's parser fails in many ways, decimal's among them, and students write what it reads
        return None
