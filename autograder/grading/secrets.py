"""Where what a test says may hold what its hidden lines, or those of an earlier test, expect."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.boundary.given import names_given
from autograder.boundary.locked import global_names, statements
from autograder.markers import BEGIN_HIDDEN, strip_hidden
from autograder.model import CellSpec

__all__ = ["beside_hidden", "sure_lines"]


def beside_hidden(rows: Sequence[CellSpec]) -> frozenset[str]:
    """Return the tests that use what hidden lines of an earlier test may have made, or filled, by their grade_ids."""
    bound, filled = set[str](), set[str]()
    found = set[str]()
    for row in rows:
        if not row.automatic:
            continue
        used = global_names(row.source)
        if used & filled:
            found.add(row.grade_id)
        own = names_given([strip_hidden(row.source)], imported=False)
        if BEGIN_HIDDEN in row.source or row.grade_id in found:
            filled |= own | (used & bound)
        bound |= own
    return frozenset(found)


def sure_lines(source: str) -> range:
    """Return the lines, from 1 on, of the statements that end above the first hidden line: no hidden line takes part.

    A loop or a call that ends below it does not count, wherever in it the error came from.
    """
    above, hidden, _ = source.partition(BEGIN_HIDDEN)
    if not hidden:
        return range(1, len(source.split("\n")) + 1)
    first = above.count("\n") + 1
    ends = [(part.lineno, part.end_lineno or part.lineno) for part in statements(source)]
    over = [start for start, end in ends if end >= first]
    return range(1, min([first, *over]))
