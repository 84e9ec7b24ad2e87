"""Whether a test is told that the student's code writes to a result of which it still has a copy."""

from __future__ import annotations

import pytest

from autograder.boundary import remembered as memory
from tests.unit.autograder.boundary.talk import Talk

_CODE = """
import array, collections
import numpy as np, torch

def remaking(make, fill):
    kept = make()
    def f(*values):
        fill(kept, values)
        return kept
    return f

def filled(kept, values): kept[:] = values
def machine(kept, values): kept[:] = array.array("i", values)
def through_data(kept, values): kept.data.copy_(torch.tensor(values))
def nested(kept, values): kept[1][0][:] = values
def items(kept, values):
    kept.clear()
    kept.extend(values)
def pairs(kept, values):
    kept.clear()
    kept.update((v, v + 1) for v in values)
def members(kept, values):
    kept.clear()
    kept.update(values)

f = dict(
    array=remaking(lambda: np.zeros(3), filled),
    turned=remaking(lambda: np.zeros((3, 1), order="F").T[0], filled),
    tensor=remaking(lambda: torch.zeros(3), through_data),
    half=remaking(lambda: torch.zeros(3, dtype=torch.bfloat16), through_data),
    list=remaking(list, items),
    deque=remaking(collections.deque, items),
    user=remaking(collections.UserList, items),
    dict=remaking(dict, pairs),
    ordered=remaking(collections.OrderedDict, pairs),
    userdict=remaking(collections.UserDict, pairs),
    set=remaking(set, members),
    machine=remaking(lambda: array.array("i", [0, 0, 0]), machine),
    bytes=remaking(lambda: bytearray(3), filled),
    nested=remaking(lambda: {1: [np.zeros(3), 5]}, nested),
)
last = np.zeros(1)
def fails(n):
    last[0] = n
    if n > 1: raise ValueError("no", last, [n])
    return last
def calls(g):
    x = np.zeros(2)
    for n in range(2):
        x += 1
        g(x)
large, small = np.zeros(2_000_000), np.zeros(1)
def both():
    large[0] += 1
    small[0] += 1
    return large, small
class Run:
    def __init__(self): self.history, self.w = [], np.zeros(2)
    def step(self):
        self.w += 1
        self.history.append(self.w.sum())
        return self.history
    def anew(self): return 2 * self.w
"""
_KINDS = ("array", "turned", "tensor", "half", "list", "deque", "user", "dict", "ordered", "userdict", "set", "machine")


def told(talk: Talk, source: str) -> bool:
    """Run this as a test; whether it was told that a result was written to."""
    talk.code(_CODE)
    result = talk.test(source, time_s=60)
    assert result["error"] is None, result
    return bool(result["rewritten"])


@pytest.mark.parametrize("kind", [*_KINDS, "bytes", "nested"])
def test_what_the_test_still_has(talk: Talk, kind: str) -> None:
    assert told(talk, f"first = f[{kind!r}](1, 2, 3)\nsecond = f[{kind!r}](4, 5, 6)")
    assert not told(talk, f"first = f[{kind!r}](1, 2, 3)\nsecond = f[{kind!r}](1, 2, 3)")


@pytest.mark.parametrize(
    "source",
    [
        'end = f["array"](1, 2, 3)[1:]\nf["array"](4, 5, 6)',
        'inner, _ = f["nested"](1, 2, 3)[1]\nf["nested"](4, 5, 6)',
        "first = fails(1)\ntry: fails(2)\nexcept ValueError: pass",
        "seen = []\ncalls(seen.append)",
        "first = both()\nboth()",
        "run = Run()\nh = run.step()\nrun.step()",
        "run = Run()\nw = run.w\nrun.step()",
    ],
)
def test_parts_and_other_ways(talk: Talk, source: str) -> None:
    assert told(talk, source)


@pytest.mark.parametrize(
    ("code", "source"),
    [
        ("def f(read): read().sort()", "xs = [3, 1]\nf(lambda: xs)"),
        ("def f(read):\n    x = read()\n    x[x > 1] = 1", "import numpy as np\nx = np.arange(3.0)\nf(lambda: x)"),
        ("def f(rows): [r.pop(0) for r in rows]", "rows = [[1], [2]]\nf(iter(rows))"),
        ("def f(rows): [r.pop(0) for r in rows]", "rows = [[1], [2]]\nf(r for r in rows)"),
        (
            "def f(node):\n    kids = node.kids\n    while kids: f(kids.pop())",
            "class Node:\n    def __init__(self, *kids): self.kids = [*kids]\nf(Node(Node(), Node()))",
        ),
        ("kept = []\ndef f(read):\n    kept.append(read())\n    kept[0].clear()", "xs = [1]\nf(lambda: xs)\nf(list)"),
    ],
)
@pytest.mark.parametrize("changes", [True, False])
def test_what_a_function_or_an_object_of_the_tests_gives(talk: Talk, code: str, source: str, changes: bool) -> None:
    talk.code(code)
    result = talk.test(source if changes else source.replace("f(", "(lambda x: None)("), time_s=20)
    assert (result["error"], result["altered"]) == (None, changes)


@pytest.mark.parametrize(
    "source",
    [
        *(f"sum(1 for _ in f[{kind!r}](1, 2, 3))\nf[{kind!r}](4, 5, 6)" for kind in _KINDS),
        "large = both()[0]\nboth()",  # as a large one it is not followed
        "calls(lambda x: x.sum())",
        "run = Run()\nfor _ in range(5):\n    len(run.step()), run.w.sum()",
        "run = Run()\nfirst = run.anew()\nrun.step()\nsecond = run.anew()",
        'first = f["list"](1, 2)[0]\nf["list"](3, 4)',
    ],
)
def test_what_the_test_has_no_more_and_what_is_new(talk: Talk, source: str) -> None:
    assert not told(talk, source)


_MANY = """
def fresh(n): return list(range(n))
def tables(n): return {k: [k] for k in range(n)}
def both(n): return [fresh(n)], (fresh(n), {1: fresh(2)})
"""


@pytest.mark.parametrize("call", ["fresh(2_300)", "tables(500)", "both(500)"])
def test_what_the_test_has_dropped_is_followed_no_more_and_costs_nothing(talk: Talk, call: str) -> None:
    talk.code(_MANY)
    result = talk.test(
        f"""
        from labkit._values import remotes
        changes = remotes[0].changes_heard
        for _ in range(100): last = len({call})
        ({call}, {call})  # the latest is looked at with the next question
        fresh(1)
        (len(changes._heard._came), len(changes.crossed._then))
        """,
        time_s=60,
    )
    assert result["error"] is None, result
    assert max(eval(result["bundle"]["text/plain"])) < 20
    kept = talk.owner.changes_made.remembered.kept
    assert sum(1 for _ in kept) < 5


def test_what_is_compared_with_each_question_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    remembered, compared = memory.Remembered(), list[int]()
    monkeypatch.setattr(memory, "changed", lambda value, _seen: compared.append(len(value)))
    for length, most in ((2_300, 20_000), (1, 300), (20_000, 0)):
        for number in range(500):
            remembered.note(number, [], [list(range(length))], 0, 100)
        compared.clear()
        assert [*remembered.rewritten()] == []
        assert min(most, 1) <= sum(compared) <= most
        remembered.forget(range(500))


def test_a_list_that_was_written_to_and_dropped_counts_as_written(talk: Talk) -> None:
    talk.code(_MANY)
    result = talk.test("x = fresh(3)\nx.append(5)\nx = fresh(4)\nx = fresh(5)\nx = fresh(6)\nlen(x)")
    assert (result["error"], result["written"]) == (None, True)
    result = talk.test("x = fresh(3)\nx = fresh(4)\nx = fresh(5)\nlen(x)")
    assert (result["error"], result["written"]) == (None, False)


def test_no_word_of_the_students_end_about_results_is_an_error(talk: Talk) -> None:
    """It can say what it likes; at worst its test is looked at again."""
    talk.code("""
        import autograder.boundary.remembered as memory
        strange = iter([[1], ["a", {}], [1, 2, 3], [10**30, -1], None, [[], []], 5])
        memory.Remembered.rewritten = lambda self: strange
        def f(): return [1]
        """)
    result = talk.test("kept = [f() for _ in range(5)]\nkept", time_s=60)
    assert (result["error"], result["rewritten"]) == (None, False)
