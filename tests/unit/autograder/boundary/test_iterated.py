"""What a test sees of things with items is what it would see in one process: sequences of steps, drawn by chance."""

from __future__ import annotations

import random
import textwrap

import pytest

from tests.unit.autograder.boundary.talk import Talk

_KINDS = """
import collections, itertools
class Up:
    def __init__(self, n=4): self.i, self.n = 0, n
    def __iter__(self): return self
    def __next__(self):
        self.i += 1
        if self.i > self.n: raise StopIteration
        return self.i
class Chain:
    def __init__(self, *items): self.own = items
    def __iter__(self): return ChainIterator(self.own)
    def __len__(self): return len(self.own)
class ChainIterator:
    def __init__(self, items): self.left = [*items]
    def __iter__(self): return self
    def __next__(self):
        if not self.left: raise StopIteration
        return self.left.pop(0)
class Rows:
    def __getitem__(self, i):
        if i >= 4: raise IndexError(i)
        return 10 * i
class Pair(collections.namedtuple("Pair", "a b c")):
    def total(self): return sum(self)
class Stack(list):
    def top(self): return self[-1]
class Table(dict):
    def first(self): return next(iter(self))
def generated(n=4):
    for i in range(n): yield i * i
def forever():
    while True: yield 3
def pausing():
    got = yield 1
    yield (got, 2)
    yield 3
"""
_MADE = [
    "generated()", "generated(0)", "forever()", "pausing()", "Up()", "Up(0)", "Chain(1, 2, 3)", "Chain()", "Rows()",
    "Pair(1, 2, 3)", "Stack([4, 5, 6])", "Table({1: 2, 3: 4})", "[7, 8, 9]", "(7, 8, 9)", "{7, 8, 9}", "range(3)",
    "'abc'", "{'a': 1, 'b': 2}", "{'a': 1, 'b': 2}.items()", "{'a': 1}.keys()", "{'a': 1}.values()",
    "map(abs, [-1, -2, -3])", "zip('ab', [1, 2])", "filter(None, [0, 1, 2])", "enumerate('xyz')", "reversed([1, 2, 3])",
    "iter([1, 2, 3])", "collections.deque([1, 2, 3])", "collections.Counter('aab')", "itertools.count(5)",
    "itertools.chain([1], [2, 3])", "itertools.islice(forever(), 3)", "iter('abc')", "iter({1: 2, 3: 4})",
    "collections.OrderedDict(a=1, b=2)",
]  # fmt: skip
_STEPS = [
    "next(x)", "next(x, None)", "[*itertools.islice(x, 3)]", "[a for a, _ in zip(x, range(3))]",
    "[(i, a) for i, a in zip(range(2), x)]", "len(x)", "x[0]", "x[-1]", "x[0:2]", "1 in itertools.islice(x, 5)",
    "iter(x) is x", "next(iter(x))", "first(x)", "taken(x)", "twice(x)", "[*map(repr, itertools.islice(x, 2))]",
    "bool(x)", "sum(itertools.islice(x, 2))", "sorted(itertools.islice(x, 3))", "list(reversed(x))[:3]",
    "any(a == 4 for a in itertools.islice(x, 4))", "pairs(x)",
    "[*itertools.takewhile(lambda a: a != 4, itertools.islice(x, 5))]",
    "dict(enumerate(itertools.islice(x, 2)))", "all(itertools.islice(x, 0))", "unpacked(x)",
]  # fmt: skip
_HELPERS = """
import itertools
def first(x):
    for a in x: return a
def taken(x):
    found = []
    for i, a in enumerate(x):
        found.append(a)
        if i == 1: break
    return found
def twice(x): return first(x), first(x)
def pairs(x):
    a, b = itertools.tee(itertools.islice(x, 4))
    next(b, None)
    return [*zip(a, b)]
def unpacked(x):
    a, *b = itertools.islice(x, 3)
    return a, b
def attempt(step):
    try: return repr(step())
    except Exception as error: return type(error).__name__
"""


def _program(seed: int) -> tuple[str, str]:
    chance = random.Random(seed)
    steps = [chance.choice(_STEPS) for _ in range(chance.randint(2, 6))]
    body = "".join(f"found.append(attempt(lambda: {step}))\n" for step in steps)
    return chance.choice(_MADE), f"{_HELPERS}\nfound = []\nx = make()\n{body}found"


@pytest.mark.parametrize("batch", range(10))
def test_steps_over_things_with_items_give_what_one_process_gives(batch: int, talk: Talk) -> None:
    talk.code(_KINDS)
    different = []
    for seed in range(60 * batch, 60 * batch + 60):
        made, program = _program(seed)
        talk.code(f"def make(): return {made}")
        space: dict[str, object] = {}
        exec(textwrap.dedent(f"{_KINDS}\ndef make(): return {made}\n{program.removesuffix('found')}"), space)
        found = talk.value(program)
        if found != repr(space["found"]):
            different.append((made, program.partition("make()\n")[2], found, space["found"]))
    assert not different, "\n".join(map(str, different))


def test_a_set_of_integers_is_gone_through_in_order_where_it_was_in_its_own_process(talk: Talk) -> None:
    talk.code("""
        def primes(n):
            left = set(range(2, n + 1))
            for p in range(2, n):
                if p in left: left -= set(range(p * p, n + 1, p))
            return left
        def seen(numbers): return [*numbers]
        """)
    for n in (10, 50, 70, 1000, 3000):
        assert talk.value(f"found = [*primes({n})]\nfound == sorted(found), len(found)").startswith("(True")
    chance = random.Random(5)
    for _ in range(20):
        left = f"left = set(range({chance.randint(20, 200)}))\nfor n in range(0, 200, 3): left.discard(n)\n"
        assert talk.value(f"{left}seen(left) == [*left]") == "True"


_LIES = """
class dict_keys:
    __module__ = "builtins"
    def __init__(self, xs): self.xs = xs
    def __len__(self): return len(self.xs)
    def __getitem__(self, i): return [10**9] if type(i) is slice else 0
    def __iter__(self): return iter(self.xs)
class generator(dict_keys):
    __module__ = "builtins"
    passes = 0
    def __iter__(self):
        self.passes += 1
        return self if self.passes > 2 else Given(sorted(self.xs) if self.passes == 1 else self.xs)
class Given:
    __module__, __qualname__ = "builtins", "list_iterator"
    def __init__(self, xs): self.xs = [*xs]
    def __iter__(self): return self
    def __next__(self):
        if not self.xs: raise StopIteration
        return self.xs.pop(0)
class L(list):
    def __len__(self): return 3
    def __getitem__(self, i): return [10**9] if type(i) is slice else 0
    def __iter__(self): return iter([1, 2, 3])
"""
_SORTED = "all(a <= b for a, b in zip(r, r[1:])) and all(r[i] <= r[i + 1] for i in range(len(r) - 1))"


@pytest.mark.parametrize("kind", ["dict_keys", "generator"])
def test_what_is_said_to_be_python_s_own_is_believed_no_more_than_other_objects(kind: str, talk: Talk) -> None:
    talk.code(f"{_LIES}\ndef my_sort(xs): return {kind}(xs)")
    found = talk.test(f"r = my_sort([3, 1, 2])\n{_SORTED}")
    assert found["bundle"]["text/plain"] == "True" and {"__len__", "__getitem__"} <= {*found["believed"]}


def test_a_list_is_read_once_whatever_its_class_would_say(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.boundary.student._overrides", lambda kind: [])
    talk.code(f"{_LIES}\ndef my_sort(xs): return L(xs)")
    assert talk.value(f"r = my_sort([3, 1, 2])\nlen(r), {_SORTED}, [*r], r[1], 3 in r, [*reversed([*r])]") == str(
        (3, False, [3, 1, 2], 1, True, [2, 1, 3])
    )


def test_a_name_means_one_thing_until_something_is_done(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.boundary.cells.FRESH_S", 60)
    talk.code("p = 0\ndef work():\n    global p\n    p += 1")
    named, answers = talk.owner._named, iter(range(1, 100))
    talk.owner._named = lambda name: next(answers) if name == "p" else named(name)  # type: ignore[method-assign]
    assert talk.value("p, p == 1 and p == 1, p * p") == "(1, True, 1)"
    talk.owner._named = named  # type: ignore[method-assign]
    assert talk.value("before = p\nwork()\nbefore, p") == "(0, 1)"
    monkeypatch.undo()
    talk.code("import threading, time\ndone = False\ndef start():\n    threading.Timer(0.2, end).start()\n"
              "def end():\n    global done\n    done = True")  # fmt: skip
    assert talk.value("import time\nstart()\nwhile not done: time.sleep(0.05)\ndone") == "True"


def test_a_list_that_changes_while_a_test_goes_through_it_is_gone_through_as_python_does(talk: Talk) -> None:
    talk.code("""
        class Stack(list):
            def push(self, x): self.append(x); return self
            def take(self): return self.pop()
        def stack(): return Stack([1, 2, 3, 4])
        """)
    assert talk.value("s = stack()\n[(x, s.take()) for x in s], len(s)") == "([(1, 4), (2, 3)], 2)"
    assert talk.value(
        "s = stack()\nfound = []\nfor x in s:\n    found.append(x)\n    if len(s) < 6: s.push(x)\nfound"
    ) == ("[1, 2, 3, 4, 1, 2]")


def test_a_value_that_is_another_at_each_reading_is_its_class_s_word(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.boundary.handles.FRESH_S", 60)
    talk.code("""
        import numpy as np
        class V:
            __module__ = "tensorflow"
            reads = 0
            shape = (2,)
            def numpy(self):
                self.reads += 1
                return np.zeros(2) if self.reads < 2 else np.array([1.0, 0.0])
        class Total(float):
            def add(self, x): return Total(self + x)
            label = "sum"
        def dominant(): return V()
        def total(): return Total(2.5)
        """)
    source = "import numpy as np\nv = dominant()\n"
    assert talk.value(f"{source}float(np.sum(v)), np.linalg.norm(v) == 0, float(np.sum(v))") == "(0.0, np.True_, 0.0)"
    found = talk.test(f"{source}np.allclose(v, 3 * np.asarray(v)) and v.shape == (2,) and bool(np.linalg.norm(v) == 1)")
    assert found["bundle"]["text/plain"] == "True" and "each reading" in found["believed"]
    assert "each reading" not in talk.test("t = total()\nt == 2.5 and t.label == 'sum' and t == 2.5")["believed"]


def test_a_list_that_has_become_shorter_is_its_class_s_word(talk: Talk) -> None:
    talk.code("""
        class Menu(list):
            def total(self): return sum(self)
        MENU = Menu([1, 2, 3])
        def menu(): return MENU
        def price(x):
            MENU.clear()
            return 2
        """)
    found = talk.test("m = menu()\nassert len(m) == 3 and price(1) == 2\nall(price(x) == 2 * x for x in m)")
    assert found["bundle"]["text/plain"] == "True" and "each reading" in found["believed"]


def test_a_long_list_is_not_read_anew_for_each_item(talk: Talk) -> None:
    talk.code(
        "class Numbers(list): label = 1\ndef squares(n): return Numbers(map(f, range(n)))\ndef f(x): return x * x"
    )
    source = "s = squares(3000)\nall(f(i) == s[i] for i in range(3000)) and len(s) == 3000 and [*s][2999] == 2999 ** 2"
    assert talk.value(source) == "True"
    crossed = sum(operation == "value" for operation, _ in talk.heard)
    assert crossed < 10


def test_what_a_test_changes_under_a_name_is_a_copy_however_fast_it_is(talk: Talk) -> None:
    talk.code("history = []")
    assert talk.value("history.append(1)\nhistory, history is history") == "([], False)"
