"""Changes of arguments as a grader sees them: a test hands out copies, and only `check.unchanged` asks about these.

In one process a test's next case would meet the changed array, and fail for a reason that a grader does not know.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from autograder.boundary.exchanges import within

__all__ = ["begin", "changed", "hands_over", "tests"]

tests: set[str] = set()
"""The names of the files that tests are compiled as which ask labkit; others look themselves, and run in the kernel."""
_CHECKS = {"_assertions.py", "check.py"}
"""Modules of labkit that call a function for a test."""


class _Copies:
    """See labkit._values.Remote; nothing is remote here but what becomes of arguments."""

    def __init__(self) -> None:
        self._changed: dict[int, Any] = {}
        self.is_shared: dict[int, Any] = {}

    def note(self, value: Any) -> None:
        """Note that the copy of a value was changed."""
        self._changed[id(value)] = value

    def share(self, value: Any) -> None:
        self.is_shared[id(value)] = value

    def forget_changes(self, value: Any) -> None:
        for part in within(value):
            self._changed.pop(id(part), None)

    def was_changed(self, value: Any) -> bool:
        return any(id(part) in self._changed for part in within(value))

    def is_remote(self, value: Any) -> bool:
        return False

    def value(self, value: Any) -> Any:
        return value

    def type_name(self, value: Any) -> str:
        return type(value).__name__

    def operators(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def now(self, value: Any) -> Any:
        return value

    def common(self, one: Any, other: Any) -> bool:
        return False


_copies = _Copies()


def begin() -> None:
    """Have labkit's checks ask here what has become of arguments."""
    from labkit import check

    check.adopt(_copies)


def hands_over(caller: FrameType) -> bool:
    """Whether this is a test that calls a student's function, itself or by labkit: what it gives goes as a copy."""
    path = Path(caller.f_code.co_filename)
    return caller.f_code.co_filename in tests or (path.parent.name == "labkit" and path.name in _CHECKS)


def changed(value: Any, change: Callable[[Any], None]) -> None:
    """Do to the copy of an argument what `change` does; to the argument itself if the test shares it."""
    if id(value) in _copies.is_shared:
        change(value)
    elif (copy := _copied(value)) is not None:
        change(copy)
        _copies.note(value)


def _copied(value: Any) -> Any:
    """Return a copy of an array, a tensor, a list or a dictionary; None of anything else."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return value.detach().clone()
    return value.copy() if type(value) in {list, dict} or hasattr(value, "dtype") else None
