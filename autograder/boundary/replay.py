"""One rank of a collective run again by itself, with the messages that came to it: what it did must follow from them.

Ranks that run at once can tell each other something in ways that no wall closes: by how long they compute, by what
others may see of a process. A rank that runs again when the others have gone hears nothing of that kind. With its own
part and the same messages it sends and returns the same, unless something has come to it that was no message.
"""

from __future__ import annotations

import secrets
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.boundary.network import LinkDown, Network
from labkit._collective import Job

__all__ = ["Replay", "Told", "chosen", "is_same"]

_CLOSE = 1e-4
"""So much of the largest number others may differ: another place in memory may change a product's last digits."""


@dataclass(frozen=True)
class _Step:
    """What a rank has sent and to whom, what has come and from whom; None: nothing."""

    sent: np.ndarray | None
    to: int | None
    came: np.ndarray | None
    source: int | None


class Replay(Network):
    """Links on which one rank, alone, meets what was told it before, step by step."""

    def __init__(self, told: Told) -> None:
        super().__init__(1)
        self._steps_before = deque(told.steps)

    def carry(self, rank: int, array: np.ndarray | None, to: int | None, source: int | None) -> np.ndarray | None:
        """Do one step as it was done before. Raises LinkDown where it is another one."""
        if self.down:
            raise LinkDown
        before = self._steps_before.popleft() if self._steps_before else None
        if before is None or (to, source) != (before.to, before.source) or not _are_identical(array, before.sent):
            self.shut()
            raise LinkDown
        return None if before.came is None else before.came.copy()

    @property
    def complete(self) -> bool:
        """Whether all that it did before was done again."""
        return not self._steps_before


class Told:
    """The steps that a rank has taken, in their order."""

    def __init__(self) -> None:
        self.steps: list[_Step] = []

    def note(self, array: np.ndarray | None, to: int | None, came: np.ndarray | None, source: int | None) -> None:
        """Remember one step."""
        sent, got = (None if some is None else some.copy() for some in (array, came))
        self.steps.append(_Step(sent, to, got, source))


def chosen(jobs: Sequence[Job]) -> int | None:
    """Return a rank of one of these jobs, which nobody can foresee; None if each job has one rank only."""
    sizes = [size for size, *_ in jobs if size > 1]
    return secrets.randbelow(secrets.choice(sizes)) if sizes else None


def _are_identical(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    """Whether two messages are the same bit for bit: a NaN has room for a number, and so has a last digit."""
    if one is None or other is None:
        return one is other
    return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())


def is_same(one: Any, other: Any) -> bool:
    """Whether two values that a rank has returned are the same, but for the last digits of numbers."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        if one.dtype != other.dtype:
            return False
        wide = torch.complex128 if one.is_complex() else torch.float64 if one.is_floating_point() else one.dtype
        one, other = (tensor.detach().to(wide).numpy() for tensor in (one, other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and _are_close(one, other)
    if isinstance(one, float | complex | np.number) and isinstance(other, float | complex | np.number):
        return _are_close(np.asarray(one), np.asarray(other))
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(is_same, one, other))
    return bool(one == other)


def _are_close(one: np.ndarray, other: np.ndarray) -> bool:
    if one.dtype.kind not in "fc":
        return bool(np.array_equal(one, other))
    known = np.isfinite(one) & np.isfinite(other)
    if not np.array_equal(one[~known], other[~known], equal_nan=True):
        return False
    most = max((float(np.abs(some[known]).max(initial=0.0)) for some in (one, other)), default=0.0)
    return bool((np.abs(one[known].astype(complex) - other[known]) <= _CLOSE * most).all())
