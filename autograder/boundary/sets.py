"""Sets of integers that are gone through in the order in which they came, as where they were made.

Python goes through a set's table from its beginning to its end, and one that has held more items has a larger table:
what is left of `set(range(2, 51))` after a sieve comes in order, and made anew of the same items it need not.
"""

from __future__ import annotations

import itertools
import sys
from typing import Any

__all__ = ["set_in_order"]

_MOST, _GROWTHS = 100_000, 3


def set_in_order(items: list[Any]) -> set[Any]:
    """Return the set of these items; of rising integers one whose table gives them so, if a larger one does."""
    found = set(items)
    if not 0 < len(items) <= _MOST or any(type(item) is not int for item in items) or items != sorted(items):
        return found
    for growths in range(1, _GROWTHS + 1):
        if [*found] == items:
            break
        found = _in_a_larger_table(items, growths)
    return found


def _in_a_larger_table(items: list[int], growths: int) -> set[int]:
    """Return their set, after its table has grown so many times for others, which have left it one by one."""
    found, more, others = set(items), itertools.count(max(items) + 1), list[int]()
    for _ in range(growths):
        size = sys.getsizeof(found)
        while sys.getsizeof(found) == size:
            others.append(next(more))
            found.add(others[-1])
    for other in others:
        found.discard(other)
    return found
