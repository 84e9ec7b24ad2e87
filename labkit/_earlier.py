"""Knows an answer again that was right before: something was kept from then, or what differs now has no effect."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from labkit._assertions import Mismatch
from labkit._values import Array, NotNumbers, local, numbers, plain

__all__ = ["Answers"]

_MOST = 20_000
_MOST_BYTES = 1 << 22
_SMALL, _FEW = 10, 4
"""Whole numbers below this, and so few different ones, or texts, come by chance: they are not known again."""


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
                where = f"in '{before}'" if before not in {"", case} else "a moment ago"
                mismatch.hint = (
                    f"to the last digit this is what was right {where}:"
                    " was it kept from there, or has what differs here no effect?"
                )
            raise
        if len(self._cases) < _MOST and (digest := _digest(got)):
            self._cases.setdefault(digest, case)


def _digest(answer: Any) -> bytes:
    """Return what stands for an answer; nothing for one that two calls may give by chance, or that is too large."""
    left, parts, size, telling = [plain(answer)], [], 0, False
    while left and size < _MOST_BYTES:
        value = left.pop()
        if isinstance(value, list | tuple | dict):
            inside = value.items() if isinstance(value, dict) else value
            left += [value if isinstance(value, tuple) else plain(value) for value in inside]
            part, tells = f"{type(value).__name__} of {len(value)}".encode(), False
        else:
            part, tells = _leaf(value)
        parts.append(part)
        size += len(part)
        telling |= tells
    if left or not (telling or len(set(parts)) > _FEW):
        return b""
    return hashlib.blake2b(b"\n".join(parts), digest_size=16).digest()


def _leaf(value: Any) -> tuple[bytes, bool]:
    """Return the bytes of what is no list or dict, and whether it is more than what comes by chance."""
    if isinstance(value, str):
        return value.encode(errors="replace"), False
    try:
        array = numbers(value)
    except NotNumbers:
        return type(value).__name__.encode(), False
    return f"{array.shape} {array.dtype} ".encode() + array.tobytes(), _tells(array)


def _tells(array: Array) -> bool:
    """Whether some number is no small whole one, and not all are the same; or there are more than a few different."""
    different = np.unique(array[np.isfinite(array)])
    if different.size < min(array.size, 2):
        return False
    small = (different == np.rint(different.real)) & (np.abs(different) < _SMALL) if array.dtype.kind != "b" else True
    return different.size > _FEW or not np.all(small)
