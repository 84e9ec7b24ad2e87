"""Says how wrong numbers are related to the expected ones, where they are so in a regular way: that tells the cause."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from labkit._values import Array

__all__ = ["relation"]

_CLOSE = 1e-6
"""Numbers that differ by less than this part of the largest one count as equal."""


def relation(found: Array, target: Array, *, values: bool = True) -> str:
    """Return "each has the other sign", "each is 2 times what is expected", ...; nothing if no rule is seen.

    values: whether it may say by how much: who knows one number finds the other by that. Both arrays are of one shape.
    Of fewer than two numbers, or of equal ones, nothing is said: any two are related somehow.
    """
    numeric = found.dtype.kind in "iuf" and target.dtype.kind in "iuf"
    if not numeric or found.size < 2 or not (np.isfinite(found).all() and np.isfinite(target).all()):
        return ""
    got, want = (array.astype(np.float64) for array in (found, target))
    if np.ptp(want) == 0:
        return ""
    with np.errstate(all="ignore"):
        return next(_rules(got, want, values), "")


def _rules(got: Array, want: Array, values: bool) -> Iterator[str]:
    if not got.any():
        yield "all are 0"
    if _equal(got, -want):
        yield "each has the other sign"
    elif _equal(np.abs(got), np.abs(want)):
        yield "only signs differ"
    yield from _rounded(got, want)
    if _equal(np.sort(got, axis=None), np.sort(want, axis=None)):
        yield _order(got, want)
    where = want != 0
    factors = got[where] / want[where]
    if where.sum() > 1 and _equal(got, want * factors[0]):
        yield f"each is {f'{factors[0]:.4g}' if values else 'so many'} times what is expected"
    away = got - want
    if _equal(away, np.full_like(away, away.flat[0])):
        size = "large" if away.flat[0] > 0 else "small"
        yield f"each is {abs(away.flat[0]):.4g} too {size}" if values else "each is wrong by the same amount"


def _rounded(got: Array, want: Array) -> Iterator[str]:
    """Yield how the expected numbers were rounded, if these are they and that changes more than a little."""
    ways = {
        "each is rounded as float16 rounds": want.astype(np.float16).astype(np.float64),
        "each is rounded as bfloat16 rounds": _bfloat16(want),
        "each is rounded to a whole number": np.rint(want),
        "each is cut to a whole number": np.trunc(want),
    }
    for said, rounded in ways.items():
        if np.array_equal(got, rounded) and not _equal(want, rounded):
            yield said


def _bfloat16(x: Array) -> Array:
    """Round to nearest, ties to even, as bfloat16 does: the upper half of a float32."""
    bits = x.astype(np.float32).view(np.uint32)
    return np.asarray(
        ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32), np.float64
    )


def _order(got: Array, want: Array) -> str:
    if got.ndim == 2 and got.shape[0] == got.shape[1] and _equal(got, want.T):
        return "rows and columns have changed places"
    for axis in range(got.ndim):
        if _equal(got, np.flip(want, axis)):
            return "in reverse order" if got.ndim == 1 else f"in reverse order along axis {axis}"
    return "the same numbers in another order"


def _equal(one: Array, other: Array) -> bool:
    return bool((np.abs(one - other) <= _CLOSE * np.abs(other).max()).all())
