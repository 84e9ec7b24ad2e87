"""Which names a test changes in place, and how the student's own lists and dictionaries follow."""

from __future__ import annotations

import collections
from typing import Any

import pytest

from autograder.boundary.filled import names_filled, refill


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
def test_a_name_is_filled_that_the_code_does_not_bind(source: str, names: set[str]) -> None:
    assert names_filled(source) == names


@pytest.mark.parametrize(
    ("own", "value"),
    [
        ([1, [2], 3], [1, [2, 4]]),
        ([], [[1]]),
        ({"a": [1], "b": {"c": {2}}}, {"b": {"c": {5}}, "a": [7]}),
        (collections.defaultdict(list, a=[1]), collections.defaultdict(list, a=[1, 2], b=[3])),
        (collections.deque([1, 2]), collections.deque([2])),
        (collections.Counter("aab"), collections.Counter("b")),
        ({1, 2}, {3}),
        (bytearray(b"ab"), bytearray(b"c")),
        (collections.UserList([1]), collections.UserList([2, 3])),
        (collections.UserDict(a=1), collections.UserDict(b=2)),
    ],
)
def test_an_object_is_brought_up_to_date_in_place(own: Any, value: Any) -> None:
    expected = repr(value)
    refill(own, value)
    assert repr(own) == expected


def test_what_lies_within_stays_the_same_object() -> None:
    row, table = [1, 2], {"a": 1}
    own = [row, table, 5]
    refill(own, [[1, 3], {"a": 2, "b": 3}, 6])
    assert (row, table) == ([1, 3], {"a": 2, "b": 3})
    assert own[0] is row
    assert own[1] is table


def test_an_object_of_another_kind_stays_as_it_is() -> None:
    own = [1, 2]
    refill(own, (3,))
    assert own == [1, 2]
