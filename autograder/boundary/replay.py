"""One rank of a collective run again by itself, with the messages that came to it: what it did must follow from them.

Ranks that run at once can tell each other something in ways that no wall closes: by how long they compute, by what
others may see of a process. A rank that runs again when the others have gone hears nothing of that kind. With its own
part and the same messages it sends and returns the same, unless something has come to it that was no message.
"""

from __future__ import annotations

import secrets
import sys
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.boundary.network import LinkDown, Network
from labkit._collective import Job

__all__ = ["Replay", "Told", "chosen", "did_the_same", "is_same"]

_CLOSE = 1e-4
"""So much of the largest number others may differ: another place in memory may change a product's last digits."""


class Told:
    """What a rank has sent to each of the others, and what has come from each, in their order."""

    def __init__(self) -> None:
        self.sent: defaultdict[int, list[np.ndarray]] = defaultdict(list)
        self.came: defaultdict[int, list[np.ndarray]] = defaultdict(list)

    def note(self, array: np.ndarray | None, to: int | None, came: np.ndarray | None, source: int | None) -> None:
        """Remember one step."""
        if array is not None and to is not None:
            self.sent[to].append(array.copy())
        if came is not None and source is not None:
            self.came[source].append(came.copy())


class Replay(Network):
    """Links on which one rank meets what was told it before; the others end at once.

    Attributes:
        departed: whether it has sent something else, or asked for more.
    """

    def __init__(self, size: int, told: Told) -> None:
        super().__init__(size)
        self._sent = {to: iter(arrays) for to, arrays in told.sent.items()}
        self._came = {source: iter(arrays) for source, arrays in told.came.items()}
        self.departed = False

    def carry(self, rank: int, array: np.ndarray | None, to: int | None, source: int | None) -> np.ndarray | None:
        """Do one step as it was done before. Raises LinkDown where it is another one."""
        if self.down:
            raise LinkDown
        if to is not None and not is_same(array, next(self._sent.get(to, iter(())), None)):
            self._depart()
        if source is None:
            return None
        came = next(self._came.get(source, iter(())), None)
        if came is None:
            self._depart()
        return came

    def _depart(self) -> None:
        self.departed = True
        self.shut()
        raise LinkDown


def chosen(jobs: Sequence[Job]) -> int | None:
    """Return a rank of one of these jobs, which nobody can foresee; None if each job has one rank only."""
    sizes = [size for size, *_ in jobs if size > 1]
    return secrets.randbelow(secrets.choice(sizes)) if sizes else None


def did_the_same(one: Sequence[dict[str, Any] | None], other: Sequence[dict[str, Any] | None]) -> bool:
    """Whether a rank has found the same for each job; its steps may have another order, as with threads of its own."""
    return is_same(
        *([done and {**done, "log": sorted(map(repr, done["log"]))} for done in found] for found in (one, other))
    )


def is_same(one: Any, other: Any) -> bool:
    """Whether two values that ranks have sent or returned are the same, but for the last digits of numbers."""
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
