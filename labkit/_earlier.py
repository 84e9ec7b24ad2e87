"""Knows an answer again that was right before: something was kept from then, or what differs now has no effect."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from labkit._assertions import Mismatch
from labkit._values import Array, NotNumbers, local, numbers, plain, remotes

__all__ = ["Answers"]

_MOST = 20_000
_MOST_BYTES = 1 << 22
_SMALL, _ENOUGH = 100, 2
"""One whole number below this, or one text, comes by chance; two different ones are enough to be known again."""


class Answers:
    """The answers of this notebook's checks that were right, by a digest of each, with the case that they were in."""

    def __init__(self) -> None:
        self._cases: dict[bytes, str] = {}

    @contextlib.contextmanager
    def compared(self, answer: Any, case: str) -> Iterator[Any]:
        """Hand out an answer, read once, to be compared: remember it if it is right, and say so if it was before.

        That is said in place of the hint: where to look is another place then.
        """
        got = local(answer)
        try:
            yield got
        except Mismatch as mismatch:
            before = self._cases.get(_digest(got) or b"")
            if before is not None:
                where = "a moment ago" if before == case else f"in '{before}'" if before and _told() else "before"
                mismatch.hint = (
                    f"to the last digit this is what was right {where}:"
                    " was it kept from there, or has what differs here no effect?"
                )
            raise
        if len(self._cases) < _MOST and (digest := _digest(got)):
            self._cases.setdefault(digest, case)


def _told() -> bool:
    """Whether the title of another case may be said: not where a grader knows which of them hold hidden values."""
    return not remotes and "NBGRADER_EXECUTION" not in os.environ


def _digest(answer: Any) -> bytes:
    """Return what stands for an answer; nothing for one that two calls may give by chance, or that is too large."""
    left, size = [plain(answer)], 0
    parts: list[bytes] = []
    telling: dict[bytes, int] = {}
    while left and size < _MOST_BYTES:
        value = left.pop()
        if isinstance(value, list | tuple | dict):
            inside = value.items() if isinstance(value, dict) else value
            left += [value if isinstance(value, tuple) else plain(value) for value in inside]
            part = f"{'keys' if isinstance(value, dict) else 'items'}: {len(value)}".encode()  # a tuple is as good
        else:
            part, tells = _leaf(value)
            telling[part] = tells
        parts.append(part)
        size += len(part)
    if left or sum(telling.values()) < _ENOUGH:
        return b""
    return hashlib.blake2b(b"\n".join(parts), digest_size=16).digest()


def _leaf(value: Any) -> tuple[bytes, int]:
    """Return the bytes of what is no list or dict, and how much it tells: half of enough if it may come by chance."""
    if isinstance(value, str):
        return value.encode(errors="replace"), int(len(value) > 1)
    try:
        array = numbers(value)
    except NotNumbers:
        return type(value).__name__.encode(), 0
    if array.nbytes > _MOST_BYTES:
        return b"many numbers", 0
    return f"{array.shape} {array.dtype} ".encode() + array.tobytes(), _tells(array)


def _tells(array: Array) -> int:
    finite = array[np.isfinite(array)]
    if array.dtype.kind == "b" or ((finite == 0) | (finite == 1)).all():
        return 0
    if array.size > 1:
        return _ENOUGH if (finite != finite[0]).any() else _ENOUGH // 2
    return _ENOUGH if (finite != np.rint(finite.real)).any() or (np.abs(finite) >= _SMALL).any() else 1
