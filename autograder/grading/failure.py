"""Says in one line why a submission could not be graded."""

from __future__ import annotations

import errno
import traceback
from pathlib import Path

from autograder.course.gradebook import DISK_FULL, FREE_SPACE
from autograder.errors import AutograderError, in_one_line, listed
from autograder.files import places_without_room

__all__ = ["explain"]

_NOT_THE_DISK = (
    f"{DISK_FULL}, or what the kernel keeps for one user's programs (fs.epoll.max_user_watches); "
    "free some space, end other programs of this user, and run the command again: what was stored is not lost"
)
_TO_DO = {
    errno.EACCES: "change its permissions, or its folder's",
    errno.EPERM: "change its permissions, or its folder's",
    errno.EROFS: "remount this file system, or work on a copy of the course",
}


def explain(error: Exception) -> str:
    """Return an error in one line; one that nobody expected with the line it came from, for the kit's authors."""
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        full = places_without_room()
        where = f" ({listed([str(place) for place in full])})" if full else ""
        return f"{DISK_FULL}{where}; {FREE_SPACE}" if error.errno == errno.EDQUOT or full else _NOT_THE_DISK
    if isinstance(error, AutograderError):
        return in_one_line(error)
    if isinstance(error, OSError) and error.filename and error.errno in _TO_DO:
        return f"{error.filename}: {error.strerror}; {_TO_DO[error.errno]}, then grade again"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {in_one_line(error)} ({Path(frame.filename).name}:{frame.lineno})"
