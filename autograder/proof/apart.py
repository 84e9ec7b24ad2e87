"""Changes in place as a grader sees them: a test hands out copies and gets copies, and only checks ask about these.

In one process a test's next case would meet the changed array, and fail for a reason that a grader does not know.
"""

from __future__ import annotations

import contextlib
import copy
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from autograder.boundary.exchanges import alike, within

__all__ = ["begin", "changed", "hand_back", "hands_over", "tests"]

tests: set[str] = set()
"""The names of the files that tests are compiled as which ask labkit; others look themselves, and run in the kernel."""
_CHECKS = {"_assertions.py", "check.py"}
"""Modules of labkit that call a function for a test."""


class _Copies:
    """See labkit._values.Remote; nothing is remote here but what becomes of arguments and results."""

    def __init__(self) -> None:
        self._changed: dict[int, Any] = {}
        self.is_shared: dict[int, Any] = {}
        self._came: dict[int, tuple[Any, Any]] = {}
        """By the id of a copy that a test got: the copy, and what it is a copy of."""
        self._before: list[tuple[Any, Any]] = []
        """Of results that are watched: they, and how they were."""

    def hand_back(self, value: Any) -> Any:
        """Return a copy of a result, for a test."""
        found = None
        if type(value) in {list, tuple}:
            found = type(value)(map(self.hand_back, value))
        elif type(value) is dict:
            found = {key: self.hand_back(item) for key, item in value.items()}
        elif hasattr(value, "dtype") and not getattr(value, "requires_grad", False):
            found = _copied(value)
        if found is None:  # nothing that a buffer could hold
            return value
        self._came[id(found)] = found, value
        return found

    def _own(self, value: Any) -> Any:
        """Return what a value is a copy of, if it is one, or its parts are."""
        if id(value) in self._came:
            return self._came[id(value)][1]
        if type(value) in {list, tuple}:
            return type(value)(map(self._own, value))
        return {key: self._own(item) for key, item in value.items()} if type(value) is dict else value

    def note(self, value: Any) -> None:
        """Note that the copy of a value was changed."""
        self._changed[id(value)] = value

    def share(self, value: Any) -> None:
        self.is_shared[id(value)] = value

    def forget_changes(self, value: Any) -> None:
        for part in within(value):
            self._changed.pop(id(part), None)
        came = [self._came[id(part)][1] for part in within(value) if id(part) in self._came]
        self._before = [(part, copy.deepcopy(part)) for part in came]

    def was_changed(self, value: Any) -> bool:
        return any(id(part) in self._changed for part in within(value)) or not all(
            alike(part, before) for part, before in self._before
        )

    def is_remote(self, value: Any) -> bool:
        return False

    def value(self, value: Any) -> Any:
        return value

    def type_name(self, value: Any) -> str:
        return type(value).__name__

    def operators(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def now(self, value: Any) -> Any:
        return self._own(value)

    def common(self, one: Any, other: Any) -> bool:
        from labkit._memory import common

        return common(self._own(one), self._own(other))


_copies = _Copies()


def begin() -> None:
    """Have labkit's checks ask here what has become of arguments and results."""
    from labkit import check

    check.adopt(_copies)


def hand_back(result: Any, caller: FrameType) -> Any:
    """Return what a student's function gives to its caller: to a test, a copy."""
    return _copies.hand_back(result) if hands_over(caller) else result


def hands_over(caller: FrameType) -> bool:
    """Whether this is a test that calls a student's function, itself or by labkit: what it gives goes as a copy."""
    path = Path(caller.f_code.co_filename)
    return caller.f_code.co_filename in tests or (path.parent.name == "labkit" and path.name in _CHECKS)


def changed(value: Any, change: Callable[[Any], None]) -> None:
    """Do to the copy of an argument what `change` does; to the argument itself if the test shares it."""
    if id(value) in _copies.is_shared:
        change(value)
    elif (found := _copied(value)) is not None:
        change(found)
        _copies.note(value)


def _copied(value: Any) -> Any:
    """Return a copy of an array, a tensor, a list or a dictionary; None of anything else."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return value.detach().clone()
    return value.copy() if type(value) in {list, dict} or hasattr(value, "dtype") else None
