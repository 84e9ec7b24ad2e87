"""What students see of tests that have run apart from their code, for the cells below that use a name bound there."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from autograder.boundary.given import names_given, names_needed
from autograder.markers import strip_hidden

__all__ = ["LeftByTests"]

_IDENTIFIER = re.compile(r"[^\W\d]\w*")


class LeftByTests:
    """The visible parts of tests, with those names that only they have bound since.

    In a notebook they have run in the kernel. Here they have run apart, and left only their imports.
    """

    def __init__(self) -> None:
        self._shown: dict[str, frozenset[str]] = {}
        self._needs: dict[str, frozenset[str]] = {}

    def note(self, source: str) -> None:
        """A test with this source has run apart."""
        shown = strip_hidden(source)
        self._shown.pop(shown, None)
        self._shown[shown] = names_given([shown], imported=False)
        self._needs[shown] = names_needed(shown)

    def question(self, source: str) -> str:
        """Return what the student's kernel runs to say what of all this a cell may use; nothing if it uses none.

        The text is the student's, and there are many that take Python minutes, or gigabytes, to read. So nothing here
        parses it: the process that is to run it does, within its limits. Its answer may be a lie, and decides about
        nothing but its own names.
        """
        names = sorted(frozenset().union(*self._shown.values()) & frozenset(_IDENTIFIER.findall(source)))
        if not names:
            return ""
        return f"__import__('autograder.boundary.locked').boundary.locked.say_names({source!r}, {names!r})"

    def wanted(self, outputs: Sequence[Any]) -> list[str]:
        """Return what has to run before the cell, by what the kernel has said; that is not returned again."""
        used, bound = _said(outputs)
        found = self.take(used)
        self._shown = {shown: names - bound for shown, names in self._shown.items()}
        return found

    def take(self, wanted: frozenset[str]) -> list[str]:
        """Return what binds one of these names, after what that needs of tests above; that is not returned again."""
        found: list[str] = []
        for shown, names in reversed(self._shown.items()):
            if names & wanted:
                found.append(shown)
                wanted |= self._needs[shown]
        for shown in found:
            del self._shown[shown]
        return found[::-1]


def _said(outputs: Sequence[Any]) -> tuple[frozenset[str], frozenset[str]]:
    text = "".join(str(output.get("text", "")) for output in outputs if output.get("output_type") == "stream")
    try:
        used, bound = (frozenset(map(str, names)) for names in json.loads(text))
    except (TypeError, ValueError, RecursionError):
        return frozenset(), frozenset()
    return used, bound
