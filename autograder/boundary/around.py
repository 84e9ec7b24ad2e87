"""What the student's kernel runs before and after a locked cell or a test that runs there.

Texts only: the grader makes them, and loads neither NumPy nor what these call.
"""

from __future__ import annotations

from collections.abc import Collection

from autograder.boundary.entry import calling
from autograder.boundary.locked import all_statements

__all__ = ["keeping", "noting"]


def keeping(names: Collection[str], unseen: Collection[str]) -> tuple[str, str]:
    """Let these names mean what locked cells have bound: see kept.

    unseen: of these names, those that no cell binds in a way that its text shows.
    """
    return calling("kept", "lend", sorted(names), sorted(unseen)), calling("kept", "give_back", sorted(names))


def noting(source: str) -> tuple[str, str]:
    """Remember how a locked cell leaves the data that it makes: see as_left."""
    found = [(sorted(s.binds), sorted(s.uses)) for s in all_statements((source,)) if s.binds]
    names = sorted({name for binds, _ in found for name in binds})
    return calling("as_left", "begin", names), calling("as_left", "note", found)
