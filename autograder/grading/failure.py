"""Says in one line why a submission could not be graded."""

from __future__ import annotations

import errno
import traceback
from pathlib import Path

from autograder.course.gradebook import DISK_FULL, FREE_SPACE
from autograder.errors import AutograderError, in_one_line

__all__ = ["explain"]


def explain(error: Exception) -> str:
    """Return an error in one line; one that nobody expected with the line it came from, for the kit's authors."""
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"{DISK_FULL}; {FREE_SPACE}"
    if isinstance(error, AutograderError):
        return in_one_line(error)
    if isinstance(error, PermissionError) and error.filename:
        return f"{error.filename}: {error.strerror}; change its permissions, then grade again"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {in_one_line(error)} ({Path(frame.filename).name}:{frame.lineno})"
