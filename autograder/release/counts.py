"""Says of a value in a test cell whether the test knows how many elements it has, or the student's code decides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

__all__ = ["NOTHING", "OWN", "READ", "THEIRS", "Kind", "Many", "element", "hold", "join", "join_all", "known", "size"]


@dataclass(frozen=True)
class _Plain:
    name: str


@dataclass(frozen=True)
class Many:
    """A list or dictionary of the test's process: whether the test knows its length, and what its elements are."""

    known: bool
    element: Kind


Kind = _Plain | Many | tuple["Kind", ...]

NOTHING = _Plain("nothing")
"""What an empty list holds."""
OWN = _Plain("own")
"""Of the test's making, elements too; or something of the student's that was read and whose size was compared."""
READ = _Plain("read")
"""Numbers that were read once and stay as they are; how many of them is up to the student."""
THEIRS = _Plain("theirs")
"""The student's. It may be an object that says another length each time."""


def known(kind: Kind) -> bool:
    """Whether the test decides how often a loop over this runs."""
    return kind.known if isinstance(kind, Many) else isinstance(kind, tuple) or kind in (NOTHING, OWN)


def element(kind: Kind) -> Kind:
    """Return what a loop over this yields."""
    if isinstance(kind, Many):
        return kind.element
    return join_all(kind) if isinstance(kind, tuple) else kind


def join(one: Kind, other: Kind) -> Kind:
    """Return what is either of two."""
    if one == other or other is NOTHING:
        return one
    if one is NOTHING:
        return other
    if THEIRS in (one, other):
        return THEIRS
    if isinstance(one, _Plain) and isinstance(other, _Plain):
        return READ
    if one is OWN and isinstance(other, tuple):
        return tuple(join(OWN, part) for part in other)
    if other is OWN and isinstance(one, tuple):
        return join(other, one)
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return tuple(join(a, b) for a, b in zip(one, other, strict=True))
    return hold(join(element(one), element(other)), known(one) and known(other))


def join_all(kinds: Iterable[Kind]) -> Kind:
    """Return what is any of these."""
    start: Kind = NOTHING
    return reduce(join, kinds, start)


def hold(inner: Kind, count_known: bool) -> Kind:
    """Return what holds these; deep nests are taken for the student's."""
    if inner in (OWN, READ) and (inner is OWN) == count_known:
        return inner
    return Many(count_known, THEIRS if _depth(inner) > 3 else inner)


def size(kind: Kind) -> Kind:
    """Return what this is once its size was compared: what may answer differently next time is not known by that."""
    if kind is READ:
        return OWN
    return Many(True, kind.element) if isinstance(kind, Many) else kind


def _depth(kind: Kind) -> int:
    inner: Sequence[Kind] = kind if isinstance(kind, tuple) else (kind.element,) if isinstance(kind, Many) else ()
    return 1 + max(map(_depth, inner), default=0) if inner else 0
