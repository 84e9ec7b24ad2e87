"""Which names a test changes in place, and how the student's own lists and dictionaries are emptied."""

from __future__ import annotations

import array
import collections
from typing import Any

import pytest

from autograder.boundary.emptied import empty, names_changed


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("inventory.clear()", {"inventory"}),
        ("board[0][1] = 'x'", {"board"}),
        ("counts['a'] += 1", {"counts"}),
        ("del history[:]", {"history"}),
        ("game.players.append(3)", {"game"}),
        ("def clean():\n    cache.pop('a')", {"cache"}),
        ("%time\ncache.clear()", {"cache"}),
        ("%%bash\necho $(ls) ] = del", set()),
        ("del x\0", set()),
        ("first, *rest = a[0], b", set()),
        ("assert a[0] == b.index(3)", set()),
        ("rows = []\nrows.append(f(1))\nrows[0] = 2", set()),
        ("for row in table:\n    row.append(1)", set()),
        ("def f(xs):\n    xs.append(1)", set()),
        ("import sys\nsys.path.append('src')", set()),
        ("f(x).append(3)", set()),
        ("assert inventory == {'a': [1]}", set()),
    ],
)
def test_a_name_is_changed_that_the_code_does_not_bind(source: str, names: set[str]) -> None:
    assert names_changed(source) == names


@pytest.mark.parametrize(
    "own",
    [
        [1, [2]], {"a": 1}, {1, 2}, bytearray(b"ab"), array.array("d", [1.0]), collections.deque([1]),
        collections.Counter("aab"), collections.UserList([1]), collections.UserDict(a=1),
        collections.defaultdict(list, a=[1]), collections.OrderedDict(a=1),
    ],
)  # fmt: skip
def test_an_object_is_emptied_in_place(own: Any) -> None:
    empty(own)
    assert len(own) == 0


def test_what_is_no_such_object_stays_as_it_is() -> None:
    own = (1, 2)
    empty(own)
    assert own == (1, 2)
