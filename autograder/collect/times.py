"""When a submission was handed in: what a timestamp.txt says, and what the files beside it say to that."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from autograder.course import moment

__all__ = ["said_of"]

_DAY = 86_400
"""Zip files say no time zone, and clocks differ."""


def said_of(content: bytes, changed: Sequence[float]) -> str:
    """Return a note on a timestamp.txt that is taken, and a warning where it cannot be right."""
    taken = "its timestamp.txt is taken for nbgrader's"
    found = moment(content.decode("utf-8", "replace")[:100].strip())
    if found is None:
        return "its timestamp.txt says no time: nobody knows when it was handed in"
    said = found.timestamp()
    if said > time.time() + _DAY:
        return f"{taken}, but has not come yet: have a look"
    if said < max(changed) - _DAY:
        day = datetime.fromtimestamp(max(changed), UTC)
        return f"{taken}, but the notebook was changed after it, on {day:%Y-%m-%d}: have a look"
    return taken
