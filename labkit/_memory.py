"""Says whether two values have an object or memory in common: then who writes to the one changes the other."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

import numpy as np

from labkit._values import Array, is_tensor

__all__ = ["common"]

_MOST_WORK = 1_000_000
"""So many steps NumPy may take to find out whether two arrays have an element in common; beyond, the range decides."""
_SEQUENCES = (list, tuple, set, frozenset, collections.deque)


def common(one: Any, other: Any) -> bool:
    """Whether a list, dictionary, set, array or tensor of the one is, or lies in the memory of, one of the other.

    Containers are gone through, however deep. Two slices of one array that do not overlap have nothing in common.
    """
    mine, theirs = [*_parts(one)], [*_parts(other)]
    known = {id(part) for part in mine}
    if any(id(part) in known for part in theirs):
        return True
    here, there = ([array for part in parts if (array := _elements(part)) is not None] for parts in (mine, theirs))
    return any(_overlap(a, b) for a in here for b in there)


def _parts(value: Any) -> Iterator[Any]:
    """Yield each thing in a value that can be changed, once."""
    left, seen = [value], set[int]()
    while left:
        part = left.pop()
        kind = type(part)
        if id(part) in seen:
            continue
        seen.add(id(part))
        if issubclass(kind, dict):
            left += dict.values(part)
        elif issubclass(kind, _SEQUENCES):
            base = next(base for base in _SEQUENCES if issubclass(kind, base))
            left += base.__iter__(part)
        if issubclass(kind, dict | list | set | collections.deque | bytearray | np.ndarray) or is_tensor(part):
            yield part


def _elements(part: Any) -> Array | None:
    """Return an array over the memory of an array, or of a tensor of PyTorch's in the machine's memory."""
    if isinstance(part, np.ndarray):
        return np.asarray(part)
    if isinstance(part, bytearray):
        return np.frombuffer(part, np.uint8)
    if not hasattr(type(part), "untyped_storage") or part.device.type != "cpu" or not part.numel():
        return None
    import torch

    whole = torch.empty(0, dtype=torch.uint8).set_(part.detach().untyped_storage()).numpy()
    size = part.element_size()
    strides = tuple(stride * size for stride in part.stride())
    return np.ndarray(tuple(part.shape), f"V{size}", whole, part.storage_offset() * size, strides)


def _overlap(one: Array, other: Array) -> bool:
    if not np.may_share_memory(one, other):
        return False
    try:
        return np.shares_memory(one, other, max_work=_MOST_WORK)  # type: ignore[arg-type]  # any number, says NumPy
    except np.exceptions.TooHardError:
        return True
