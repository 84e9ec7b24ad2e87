"""nbgrader's release_feedback in a course that has handed over: it sends pages of the autograder's only."""

from __future__ import annotations

import glob
from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback

from autograder.course.configuration import excluded_ids

__all__ = ["OURS", "ReleaseFeedback"]

OURS = '<meta name="generator" content="autograder">'
"""Stands in the head of each page."""
_HEAD = 4000


class ReleaseFeedback(ExchangeReleaseFeedback):  # type: ignore[misc]
    """nbgrader's own, but that a page which is not the autograder's, and may show hidden tests, stops it."""

    def copy_files(self) -> None:
        """Send the pages; ExchangeError, and nothing is sent, if one of them is another program's.

        Blanks around the commas of student_id_exclude are no part of an id here either.
        """
        for name in sorted(glob.glob(f"{self.src_path}/*.html")):  # noqa: PTH207 (nbgrader looks for them so)
            with Path(name).open(encoding="utf-8", errors="replace") as page:
                if OURS not in page.read(_HEAD):
                    self.fail(
                        f"{name}: not a page of the autograder's, and it may show hidden tests; nothing was sent. "
                        f"Write the pages anew: autograder feedback {self.coursedir.assignment_id}; or delete this one"
                    )
        self.coursedir.student_id_exclude = ",".join(sorted(excluded_ids(self.coursedir.student_id_exclude)))
        super().copy_files()
