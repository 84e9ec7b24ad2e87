"""What nbgrader's exchange wants beside a feedback page, so that release_feedback and fetch_feedback find it."""

from __future__ import annotations

import secrets
from pathlib import Path

from autograder.course import Course
from autograder.files import write_whole

__all__ = ["put_beside"]

_SECRET, _TIMESTAMP = "submission_secret.txt", "timestamp.txt"
_LONGEST = 1000


def put_beside(course: Course, student: str, lab: str) -> bool:
    """Write when a submission was handed in, and the secret of which the exchange makes the page's name.

    nbgrader's submit leaves the secret with the student and in the submission. One that came another way has none: it
    gets one that nobody knows, for release_feedback stops at the first submission without. Returns whether the student
    can fetch the page.
    """
    folder = course.feedback(student, lab)
    places = course.autograded(student, lab), course.submitted(student, lab)
    known = next(filter(None, (_read(place / _SECRET) for place in places)), "")
    secret = known or _read(folder / _SECRET) or secrets.token_hex(64)
    write_whole(folder / _SECRET, secret.encode())
    timestamp = next(filter(None, map(course.timestamp, places)), "")  # nbgrader takes an empty one for unknown
    write_whole(folder / _TIMESTAMP, timestamp.encode())
    return bool(known)


def _read(path: Path) -> str:
    """Return what is in a small file; nothing if it is a link, or no text."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _LONGEST:
        return ""
    try:
        return path.read_text(encoding="utf-8")
    except ValueError:
        return ""
