"""Says in one line why a submission could not be graded."""

from __future__ import annotations

import errno
import os
import tempfile
import traceback
from pathlib import Path

from autograder.course.gradebook import DISK_FULL, FREE_SPACE
from autograder.errors import AutograderError, in_one_line

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
_LEAST_FREE = 16 * 1024 * 1024
_LEAST_FILES = 100


def explain(error: Exception) -> str:
    """Return an error in one line; one that nobody expected with the line it came from, for the kit's authors."""
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"{DISK_FULL}; {FREE_SPACE}" if error.errno == errno.EDQUOT or _no_room() else _NOT_THE_DISK
    if isinstance(error, AutograderError):
        return in_one_line(error)
    if isinstance(error, OSError) and error.filename and error.errno in _TO_DO:
        return f"{error.filename}: {error.strerror}; {_TO_DO[error.errno]}, then grade again"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {in_one_line(error)} ({Path(frame.filename).name}:{frame.lineno})"


def _no_room() -> bool:
    """Whether a disk that is written to is full, or has no place for another file."""
    places = [os.statvfs(place) for place in (Path.cwd(), tempfile.gettempdir())]
    return any(
        place.f_bavail * place.f_frsize < _LEAST_FREE or (place.f_files > 0 and place.f_favail < _LEAST_FILES)
        for place in places
    )
