"""What is run of locked cells for a name: what binds it, and what may fill it under another name."""

from __future__ import annotations

import pytest

from autograder.boundary.given import FUNCTIONS, trusted_names

FILLED = """
ROWS, CASES, TABLE, LEFT = [], [], {}, []
import types
BOX = types.SimpleNamespace(items=[])
rows = ROWS
rows.append(1)
def fill():
    CASES.append(2)
    return len(CASES)
number: int = fill()
ignored = [TABLE.setdefault(x, x) for x in (3, 4)]
other = BOX.items
other += [5]
size = 3
unrelated = open("/nowhere") if size > 4 else max(LEFT, default=0)
"""


@pytest.mark.parametrize(
    ("name", "value"), [("ROWS", [1]), ("CASES", [2]), ("TABLE", {3: 3, 4: 4}), ("BOX.items", [5]), ("LEFT", [])]
)
def test_what_another_name_or_the_result_of_a_call_fills_is_filled(name: str, value: object) -> None:
    root, _, rest = name.partition(".")
    found = trusted_names([FILLED], (), FUNCTIONS, f"assert {name}", wide=True)[root]
    assert (getattr(found, rest) if rest else found) == value


def test_a_number_is_no_other_name_of_what_is_computed_from_it() -> None:
    cells = ["n = 3\nslow = 1 / 0 if n else 2\nm = n"]
    assert trusted_names(cells, (), FUNCTIONS, "n", wide=True) == {"n": 3}
