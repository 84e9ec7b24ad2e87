"""A test whose objects and the student's are kept as one gives what it gives in one process."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from autograder.boundary.mirror import Mirror
from tests.unit.autograder.boundary.talk import Talk

_CODE = """
import array, collections
import numpy as np, torch

kept = np.zeros(3)
def same(x): return x
def copied(x): return x.copy()
def filled(n):
    kept[:] = n
    return kept
def zeroed(x):
    x[:] = [0] * len(x)
    return len(x)
def added(x, n):
    x.append(n)
    return x
def emptied(x):
    x.clear()
    return 5
def put(d):
    d["b"] = [d["a"]]
    return d["b"]
def inner(rows): return rows[0]
def doubled(t):
    t.mul_(2)
    return t
class Keeper:
    def __init__(self, items): self.items, self.history = items, []
    def total(self): return float(sum(self.items))
    def step(self):
        self.history.append(len(self.history))
        return self.history
    def add(self, x): self.items.append(x)
class Copier(Keeper):
    def __init__(self, items): super().__init__(list(items))
class Values(collections.UserList):
    pass
def own(n): return Values(range(n))
def told(f):
    x = [1]
    f(x)
    x.append(2)
    f(x)
    return x
def fails(x):
    x.append(1)
    raise ValueError("no")
def fails_with(x):
    x.append(1)
    raise ValueError("no", x)
"""
_TESTS = {
    "returns its argument": "x = [1, 2]\ny = same(x)\ny.append(3)\n[x, y, y is x]",
    "returns a copy": "x = [1, 2]\ny = copied(x)\ny.append(3)\n[x, y, y is x]",
    "an array": "x = np.zeros(2)\ny = same(x)\ny[0] = 5\n[x.tolist(), y is x]",
    "one array for all": "a = filled(1)\nb = filled(2)\n[a.tolist(), b.tolist(), (9 * a + 4 * b).tolist(), a is b]",
    "a slice of it": "a = filled(1)[1:]\nfilled(4)\na.tolist()",
    "changes its argument": "x = [3, 4]\nn = zeroed(x)\n[x, n]",
    "changes an array": "x = np.ones(3)\nzeroed(x)\nx.tolist()",
    "empties a set": "s = {1, 2}\nemptied(s)\ns",
    "empties a deque": "s = collections.deque([1, 2], 3)\nemptied(s)\n[list(s), s.maxlen]",
    "puts into a dictionary": "d = {'a': 1}\ny = put(d)\ny.append(7)\n[d, y]",
    "a row": "rows = [[1], [2]]\nr = inner(rows)\nr.append(3)\n[rows, r is rows[0]]",
    "a tensor": "t = torch.ones(2)\nu = doubled(t)\n[t.tolist(), u.tolist()]",
    "keeps it": "x = [1]\nk = Keeper(x)\nx.append(4)\na = k.total()\nk.add(5)\n[a, x, k.total()]",
    "copies it": "x = [1]\nk = Copier(x)\nx.append(4)\na = k.total()\nk.add(5)\n[a, x, k.total()]",
    "history": "k = Keeper([])\nh = k.step()\nfor _ in range(3): k.step()\n[len(h), h]",
    "handed back": "h = added([], 1)\nadded(h, 2)\ng = added(h, 3)\n[h, g, g is h]",
    "of the library": "v = collections.UserList([1])\nw = added(v, 2)\n[list(v), list(w)]",
    "a function of the test": "seen = []\ny = told(seen.append)\n[seen, y, seen[0] is seen[1]]",
    "a function that writes": "def f(x): x.append(9)\ntold(f)",
    "in an error": "x = []\ntry: fails(x)\nexcept ValueError: pass\nx",
    "bytes": "b = bytearray(b'abc')\nzeroed(b)\nbytes(b)",
    "machine numbers": "b = array.array('i', [1, 2])\nadded(b, 5)\nb.tolist()",
    "twice in one": "x = [1]\ny = same([x, x])\ny[0].append(2)\n[x, y]",
    "itself again": "x = [1]\nfor _ in range(3): x = added(x, 0)\nx",
}


def as_one(talk: Talk, source: str) -> str:
    """Return the text of what a test's last line gives, with objects kept as one."""
    result = talk.test(
        source, time_s=60, given={"cells": [], "theirs": [], "level": 0, "withheld": [], "mirrors": True}
    )
    assert result["error"] is None, result["error"]
    return str(result["bundle"]["text/plain"])


@pytest.mark.parametrize("name", _TESTS)
def test_it_gives_what_one_process_gives(talk: Talk, name: str) -> None:
    source = f"import array, collections\nimport numpy as np\nimport torch\n{_TESTS[name]}"
    talk.code(_CODE)
    found = as_one(talk, source)
    space: dict[str, Any] = {}
    exec(textwrap.dedent(_CODE), space)
    *before, last = source.split("\n")
    exec("\n".join(before), space)
    assert found == repr(eval(last, space))


def test_an_error_that_holds_the_argument_is_raised_all_the_same(talk: Talk) -> None:
    talk.code(_CODE)
    assert (
        as_one(talk, "x = []\ntry: fails_with(x)\nexcept ValueError as error: found = error.args\nfound[0]") == "'no'"
    )


@pytest.mark.parametrize(
    "strange",
    [
        {"t": "known", "at": [1, True, False, 99], "v": [7]},
        {"t": "known", "at": [[1], {}, None, 1], "v": [7]},
        {"t": "known", "at": 5, "v": [7]},
        {"t": "known", "at": [10**30], "v": {"t": "known", "at": [], "v": 1}},
        {"t": "known", "at": [1, True, False, 0], "v": {"t": "set", "v": [1]}},
        {"t": "known"},
        7,
        [[]],
    ],
)
def test_strange_places_do_no_harm(talk: Talk, strange: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Mirror.told

    def strangely(self: Mirror, codec: Any, number: Any, *, answer: bool) -> dict[str, Any]:
        found = told(self, codec, number, answer=answer)
        return found if self._trusted else found | {"written": [strange]}

    monkeypatch.setattr(Mirror, "told", strangely)
    talk.code(_CODE)
    source = "x = [1]\ny = copied(x)\n[x, y]"
    about = {"cells": [], "theirs": [], "level": 0, "withheld": [], "mirrors": True}
    result = talk.test(source, time_s=20, given=about)
    error = result["error"]
    assert error["name"] in {"WireError", "ProcessDied"} if error else result["bundle"]["text/plain"] == "[[1], [1]]"
