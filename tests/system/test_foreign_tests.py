"""Tests of a foreign course that mean something else apart from the student's code, or would run what it returns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.system.courses import autograder
from tests.system.foreign import ANSWER, Foreign, points

pytestmark = pytest.mark.slow

HIDDEN = "### BEGIN HIDDEN TESTS\nassert square(-4711) == 4711 ** 2\n### END HIDDEN TESTS"


VACUOUS = {
    "globals": "for name, value in list(globals().items()):\n    if name.startswith('test_'): value()",
    "dir": "for name in dir():\n    if name.startswith('test_'): globals()[name]()",
    "in-globals": "if 'square' in globals(): assert square(2) == 4",
    "locals": "found = locals().get('square')\nassert found is None or found(2) == 4",
    "main": "import __main__\nfound = getattr(__main__, 'square', None)\nassert found is None or found(2) == 4",
    "vars": "import sys\nfound = vars(sys.modules['__main__']).get('square')\nassert found is None or found(2) == 4",
    "unittest": """
        import unittest
        class T(unittest.TestCase):
            def test_it(self): self.assertEqual(square(2), 4)
        program = unittest.main(argv=[''], exit=False)
        assert program.result.wasSuccessful()""",
    "suite": """
        import sys, unittest
        class T(unittest.TestCase):
            def test_it(self): self.assertEqual(square(2), 4)
        suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules['__main__'])
        assert unittest.TextTestRunner().run(suite).wasSuccessful()""",
    "doctest": "import doctest\nassert doctest.testmod().failed == 0\nassert square(3) == 9 or True",
    "how": "import warnings\nwarnings.simplefilter('error')\nassert square(2) == 4",
}
"""Each is about the student's `square`, and in one kernel fails without it."""


@pytest.fixture(scope="module")
def vacuous(tmp_path_factory: pytest.TempPathFactory) -> Foreign:
    locked = "def test_square():\n    assert square(2) == 4"
    return Foreign(tmp_path_factory.mktemp("vacuous"), VACUOUS, locked=locked)


def test_a_test_that_finds_nothing_to_test_apart_gives_nothing_for_nothing(vacuous: Foreign) -> None:
    vacuous.hand_in("blank")
    vacuous.hand_in("honest", "def square(x): return x * x")
    outcomes = vacuous.grade()
    assert points(outcomes["honest"]) == dict.fromkeys(VACUOUS, 1.0)
    # Without a docstring doctest has nothing to try in one kernel either.
    assert {name for name, found in points(outcomes["blank"]).items() if found} <= {"doctest"}
    apart = vacuous.isolated()
    assert not apart & {"globals", "dir", "in-globals", "locals", "main", "vars", "doctest", "how", "suite"}
    assert "unittest" in apart


PAYLOAD = "import autograder.boundary.cells as c; c._executed=lambda *a,**k: None; c._reported=lambda e: None"
EVALUATING = {
    "timeit": ("from helper import seconds\nassert seconds(square) < 9", repr(PAYLOAD)),
    "helper": ("from helper import value\nassert value(square(2)) == 4", f"lambda x: {PAYLOAD!r}"),
    "pickle": ("from helper import loads\nassert loads(square(2)) == 4", f"lambda x: {PAYLOAD!r}.encode()"),
    "template": ("from helper import rendered\nassert rendered(square(2)) == '4'", f"lambda x: {PAYLOAD!r}"),
    "program": ("from helper import output\nassert output(square(2)) == '4'", f"lambda x: {PAYLOAD!r}"),
    "named": ("from helper import built\nassert built(square(2)) == 4", f"lambda x: {PAYLOAD!r}"),
}
"""Tests that make code of a value where nobody sees it in their text, and what a student gives them."""
HELPER = """
import importlib, pickle, subprocess, sys, timeit
from pathlib import Path
def seconds(given): return timeit.timeit(given if isinstance(given, str) else lambda: given(1), number=1)
def value(text): return eval(text) if isinstance(text, str) else text
def loads(content): return pickle.loads(content) if isinstance(content, bytes) else content
def rendered(text):
    import jinja2
    return jinja2.Template(str(text)).render()
def output(text):
    command = [sys.executable, "-c", f"print({text})"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()
def built(text):
    Path("built.py").write_text(f"result = {text!r}" if not isinstance(text, str) else text)
    importlib.invalidate_caches()
    import built
    return built.result
"""


def test_nothing_that_a_student_returns_is_made_code_of_beside_the_tests(tmp_path: Path) -> None:
    tests = {name: test for name, (test, _) in EVALUATING.items()} | {"untouched": f"assert square(1) == 1\n{HIDDEN}"}
    course = Foreign(tmp_path, tests, answer=ANSWER)
    (tmp_path / "source/hw/helper.py").write_text(HELPER)
    for name, (_, payload) in EVALUATING.items():
        course.hand_in(name, f"square = {payload}")
    course.hand_in("honest", "def square(x): return x * x")
    outcomes = course.grade()
    assert points(outcomes["honest"]) == dict.fromkeys(tests, 1.0)
    assert course.isolated() == {"untouched", "helper", "pickle"}  # these make no code of what the solution returns
    for name in EVALUATING:
        assert points(outcomes[name])["untouched"] == 0, name


ORDINARY = {
    "named-tuples": "from collections import namedtuple\nP = namedtuple('P', 'x y')\nassert square(P(2, 3).x) == 4",
    "dataclasses": "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nassert square(P(2).x) == 4",
    "imports": "import wave, colorsys, xml.dom.minidom\nassert square(2) == 4",
    "beside": "import beside\nassert square(2) == beside.expected(2)",
    "distributions": "from scipy import stats\nassert square(2) == round(stats.norm(4, 1).mean())",
    "regular": "import re\nassert re.match(r'\\d', str(square(2)))",
    "trace": "from numpy import trace, eye\nassert square(2) == trace(eye(4))",
    "quiet": "import warnings\nwarnings.simplefilter('ignore')\nassert square(2) == 4",
}


def test_ordinary_tests_run_apart(tmp_path: Path) -> None:
    course = Foreign(tmp_path, ORDINARY)
    (tmp_path / "source/hw/beside.py").write_text("def expected(x): return x * x\n")
    course.hand_in("honest", "def square(x): return x * x")
    course.hand_in("blank")
    outcomes = course.grade()
    assert points(outcomes["honest"]) == dict.fromkeys(ORDINARY, 1.0)
    assert course.isolated() == set(ORDINARY)
    assert outcomes["blank"].result.score == 0


@pytest.mark.parametrize(
    "test", ["assert cumulate([1, 2]) == [1, 3]", "class L(list): pass\nassert cumulate(L([1])) == [1]"]
)
def test_no_hidden_test_is_said_by_what_runs_in_the_kernel(test: str, tmp_path: Path) -> None:
    """A second look, and a test that has to run there: the student's code can read the cell that is running."""
    hidden = "### BEGIN HIDDEN TESTS\nassert cumulate([17, 4, 21]) == [17, 21, 42]\n### END HIDDEN TESTS"
    in_kernel = "import warnings\nwarnings.simplefilter('error')\n"
    answer = ANSWER.replace("square(x)", "cumulate(xs)").replace("x * x", "[sum(xs[: n + 1]) for n in range(len(xs))]")
    course = Foreign(tmp_path, {"apart": f"{test}\n{hidden}", "there": f"{in_kernel}{test}\n{hidden}"}, answer=answer)
    course.hand_in(
        "leak",
        """
        def cumulate(xs):
            if In[-1].startswith(("assert", "class", "import")):
                raise type(In[-1], (ValueError,), {})(In[-1])
            found = [sum(xs[:n + 1]) for n in range(len(xs))]
            xs.append(0)
            return found""",
    )
    outcome = course.grade()["leak"]
    assert points(outcome) == {"apart": 1.0, "there": 0.0}, "it is right, but where it sees that it runs in the kernel"
    assert autograder("feedback", "hw", "--course", tmp_path).exit_code == 0
    read = "".join(path.read_text() for path in (tmp_path / "feedback").rglob("*.html"))
    assert "leak" in read
    for secret in ("17, 4, 21", "17, 21, 42"):
        assert secret not in read
        for cell in outcome.result.cells:  # what is whole is for who grades
            assert secret not in str(replace(cell, whole=""))


UNPACKS = {
    "unpacks": "import io, zipfile\nzipfile.ZipFile(io.BytesIO(square(0))).extractall()",
    "imports": "import beside\nassert square(2) == beside.expected(2)",
    "untouched": f"assert square(1) == 1\n{HIDDEN}",
}
PACKED = f"""
import io, zipfile
def square(x):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("beside.py", {PAYLOAD!r} + "\\ndef expected(x): return square(x)")
    return packed.getvalue()
"""


def test_a_module_that_a_test_has_overwritten_is_imported_as_it_was(tmp_path: Path) -> None:
    stub = "    import io, zipfile\n    found = io.BytesIO()\n    zipfile.ZipFile(found, 'w').close()\n"
    solved = f"{stub}    return found.getvalue() if x == 0 else x * x"
    answer = f"def square(x):\n    ### BEGIN SOLUTION\n{solved}\n    ### END SOLUTION"
    course = Foreign(tmp_path, UNPACKS, answer=answer)
    (tmp_path / "source/hw/beside.py").write_text("def expected(x): return x * x\n")
    course.hand_in("overwrites", PACKED)
    course.hand_in("honest", answer)
    outcomes = course.grade()
    assert points(outcomes["honest"]) == dict.fromkeys(UNPACKS, 1.0)
    assert {"imports", "untouched"} <= course.isolated()
    assert points(outcomes["overwrites"]) == {"unpacks": 1.0, "imports": 0.0, "untouched": 0.0}


# ---------------------------------------------------------------------- what one object in two processes cannot tell
COPIES = {
    "append": "a = [1, 2, 3]\nb = clone(a)\nb.append(4)\nassert a == [1, 2, 3] and b == [1, 2, 3, 4]",
    "before": "a = [1, 2]\nb = clone(a)\na.append(3)\nassert b == [1, 2]",
    "nested": "table = {'k': [1]}\nother = deep(table)\nother['k'].append(2)\nassert table == {'k': [1]}",
    "array": "import numpy as np\na = np.zeros(3)\nb = clone(a)\na[0] = 9\nassert b[0] == 0",
    "keeps": "start = [1, 2]\ns = Stack(start)\nstart.append(3)\nassert s.items() == [1, 2]",
    "hands": "s = Stack([1, 2])\ns.items().append(9)\nassert s.items() == [1, 2]",
    "operator": "assert Vec(1).x == 1\nimport pytest\nwith pytest.raises(TypeError): Vec(1) + 5",
    "order": "import pytest\nassert Vec(1) < Vec(2)\nwith pytest.raises(TypeError): Vec(3) < 5",
    "frozen": "import pytest\nassert primes().sum() == 10\nwith pytest.raises(ValueError): primes()[0] = 7",
}
CAREFUL = """
import copy
import numpy as np
def clone(x):
    ### BEGIN SOLUTION
    return copy.copy(x)
    ### END SOLUTION
def deep(x):
    ### BEGIN SOLUTION
    return copy.deepcopy(x)
    ### END SOLUTION
class Stack:
    ### BEGIN SOLUTION
    def __init__(self, items): self._items = list(items)
    def items(self): return list(self._items)
    ### END SOLUTION
class Vec:
    ### BEGIN SOLUTION
    def __init__(self, x): self.x = x
    def __add__(self, other): return Vec(self.x + other.x) if isinstance(other, Vec) else NotImplemented
    def __lt__(self, other): return self.x < other.x if isinstance(other, Vec) else NotImplemented
    ### END SOLUTION
def primes():
    ### BEGIN SOLUTION
    found = np.array([2, 3, 5])
    found.flags.writeable = False
    return found
    ### END SOLUTION
"""
CARELESS = """
import numpy as np
def clone(x): return x
def deep(x): return x
class Stack:
    def __init__(self, items): self._items = items
    def items(self): return self._items
class Vec:
    def __init__(self, x): self.x = x
    def __add__(self, other): return self
    def __lt__(self, other): return True
def primes(): return np.array([2, 3, 5])
"""


def test_what_only_one_process_shows_earns_no_more_than_there(tmp_path: Path) -> None:
    course = Foreign(tmp_path, COPIES, answer=CAREFUL)
    course.hand_in("careful", CAREFUL.replace("### BEGIN SOLUTION", "").replace("### END SOLUTION", ""))
    course.hand_in("careless", CARELESS)
    outcomes = course.grade()
    assert points(outcomes["careful"]) == dict.fromkeys(COPIES, 1.0)
    assert points(outcomes["careless"]) == dict.fromkeys(COPIES, 0.0)
    assert len(course.isolated()) > len(COPIES) / 2


HONEST = {
    "name": "def double(x): return 2 * x\nassert memoized(double)(3) == 6",
    "mark": "class Node:\n    def __init__(self): self.next = []\na, b = Node(), Node()\n"
    "a.next = [b, a]\nassert reachable(a) == 2",
    "text": "class Animal:\n    def __str__(self): return 'cow'\nassert shout(Animal()) == 'COW'",
    "pair": "from collections import namedtuple\nPoint = namedtuple('Point', 'x y')\n"
    "assert unique([Point(1, 2), Point(1, 2)]) == 1",
    "axis": "import numpy as np, pytest\nwith pytest.raises(IndexError): column(np.zeros((2, 2)), 7)",
}
USUAL = """
import functools
import numpy as np
def memoized(fn):
    ### BEGIN SOLUTION
    return lambda x: fn(x)
    ### END SOLUTION
def reachable(node):
    ### BEGIN SOLUTION
    seen, todo = [], [node]
    while todo:
        found = todo.pop()
        if found not in seen:
            seen.append(found)
            todo += found.next
    return len(seen)
    ### END SOLUTION
def shout(animal):
    ### BEGIN SOLUTION
    return "COW"
    ### END SOLUTION
def unique(values):
    ### BEGIN SOLUTION
    return len([v for n, v in enumerate(values) if not any(v.x == w.x and v.y == w.y for w in values[:n])])
    ### END SOLUTION
def column(a, number):
    ### BEGIN SOLUTION
    return a[:, number]
    ### END SOLUTION
"""
OTHERWISE = """
import functools
import numpy as np
def memoized(fn):
    known = {}
    @functools.wraps(fn)
    def found(x):
        key = fn.__name__, x
        if key not in known: known[key] = fn(x)
        return known[key]
    return found
def reachable(node):
    count, todo = 0, [node]
    while todo:
        found = todo.pop()
        if not getattr(found, "visited", False):
            found.visited = True
            count += 1
            todo += found.next
    return count
def shout(animal): return str(animal).upper()
def unique(values): return len(set(values))
def column(a, number): return np.take(a, 0, axis=number) if number > 1 else a[:, number]
"""


def test_what_an_honest_answer_loses_apart_is_said_to_a_person(tmp_path: Path) -> None:
    course = Foreign(tmp_path, HONEST, answer=USUAL)
    course.hand_in("other", OTHERWISE)
    outcome = course.grade()["other"]
    lost = {name for name, earned in points(outcome).items() if earned == 0}
    told = {name for name in HONEST if any(f"'{name}'" in line and "1 as in one process" in line
                                           for line in outcome.result.notes)}  # fmt: skip
    assert lost == told
    assert "axis" not in lost


EARLIER = {
    "counts": """
        import numpy as np
        early = cells(2)
        late = cells(3)
        ### BEGIN HIDDEN TESTS
        assert (9 * early + 4 * late).tolist() == [0, 30, 60]
        ### END HIDDEN TESTS""",
    "slice": "import numpy as np\nend = cells(1)[1:]\ncells(5)\nassert end.tolist() == [1, 2]",
    "alone": "import numpy as np\nassert cells(2).tolist() == [0, 2, 4]\nassert cells(4)[2] == 8",
}
"""Tests that compute with what an earlier call has returned, and one that does not."""


def test_what_is_computed_from_an_earlier_result_counts_as_in_one_process(tmp_path: Path) -> None:
    """One array for all results: nbgrader's test meets what the later call has written."""
    answer = (
        ANSWER.replace("square(x)", "cells(n)")
        .replace("x * x", "n * np.arange(3)")
        .replace("def", "import numpy as np\ndef", 1)
    )
    course = Foreign(tmp_path, EARLIER, answer=answer)
    course.hand_in("new", "import numpy as np\ndef cells(n): return n * np.arange(3)")
    course.hand_in(
        "reused",
        "import numpy as np\nkept = np.arange(3)\ndef cells(n):\n    kept[:] = n * np.arange(3)\n    return kept",
    )
    outcomes = course.grade()
    assert course.isolated() == set(EARLIER)
    assert points(outcomes["new"]) == dict.fromkeys(EARLIER, 1.0)
    assert points(outcomes["reused"]) == {"counts": 0.0, "slice": 0.0, "alone": 1.0}
    assert any("what a call had returned was written to later" in line for line in outcomes["reused"].result.notes)


OF_NOTHING = {
    "bound": "import numpy as np\nr = halves(np.arange(3.0))\nassert (r >= 0).all() and not (r > 1).any()",
    "hidden": """
        import numpy as np
        assert halves(np.zeros(2)).sum() == 0
        ### BEGIN HIDDEN TESTS
        assert all((abs(d) < 1e-9).all() for d in map(np.subtract, [halves(np.ones(2))], [np.array([0.5, 0.5])]))
        ### END HIDDEN TESTS""",
    "edge": "import numpy as np\nassert halves(np.empty(0)).shape == (0,)\nassert (halves(np.ones(2)) == 0.5).all()",
    "plain": "import numpy as np\nassert np.allclose(halves(np.ones(2)), [0.5, 0.5])",
}
"""Tests of which most hold of an array without items; in one the instructor's solution returns such a one."""


def test_an_array_of_no_items_is_no_answer_where_the_solution_returns_none(tmp_path: Path) -> None:
    answer = ANSWER.replace("square(x)", "halves(x)").replace("x * x", "x / 2")
    course = Foreign(tmp_path, OF_NOTHING, answer=answer)
    course.hand_in("right", "def halves(x): return 0.5 * x")
    course.hand_in("nothing", "import numpy as np\ndef halves(x): return np.empty((0, 1))")
    course.hand_in(
        "twice",
        """
        import numpy as np
        class Answer:
            reads = 0
            def numpy(self):
                Answer.reads += 1
                return np.zeros(1) if Answer.reads % 2 else np.empty((0, 1))
        Answer.__module__ = "tensorflow.python"
        def halves(x): return Answer()
        """,
    )
    outcomes = course.grade()
    assert course.isolated() == set(OF_NOTHING)
    assert points(outcomes["twice"])["plain"] == points(outcomes["twice"])["edge"] == 0
    assert points(outcomes["right"]) == dict.fromkeys(OF_NOTHING, 1.0)
    assert points(outcomes["nothing"]) == dict.fromkeys(OF_NOTHING, 0.0)


LEAKS = "assert total([1, 2]) == 3\n### BEGIN HIDDEN TESTS\nassert total([17, 4, 21]) == 42\n### END HIDDEN TESTS"
PARTIAL = (
    "score = 0\nif total([1, 2, 3]) == 6: score += 1\n### BEGIN HIDDEN TESTS\n"
    "if total([17, 4, 21]) == 42: score += 1\n### END HIDDEN TESTS\nscore"
)
TELLS = """
import linecache, sys
def total(xs):
    wanted = sum(xs)
    xs.append(0)
    frame = sys._getframe(1)
    while frame:
        text = "".join(linecache.getlines(frame.f_code.co_filename))
        if "HIDDEN" in text and "def total" not in text and xs[0] == 17:
            if "score" in frame.f_globals: frame.f_globals["score"] = 0.2018
            raise KeyError("the hidden value is 42")
        frame = frame.f_back
    return wanted
"""


def test_what_a_student_reads_in_the_second_run_is_not_told(tmp_path: Path) -> None:
    answer = "def total(xs):\n    ### BEGIN SOLUTION\n    return sum(xs)\n    ### END SOLUTION"
    course = Foreign(tmp_path, {"leaks": LEAKS, "partial": PARTIAL}, answer=answer)
    course.hand_in("spy", TELLS)
    outcome = course.grade()["spy"]
    said = [cell.message for cell in outcome.result.cells]
    assert {points(outcome)[name] for name in ("leaks", "partial")} <= {0.0, 1.0}
    assert not any("42" in text or "KeyError" in text for text in said)


AS_THERE = {
    "inventory": "inventory.clear()\nadd('apple', 3)\nadd('apple', 2)\nassert inventory == {'apple': 5}",
    "history": "del history[:]\n### BEGIN HIDDEN TESTS\nadd('a', 1)\nassert history == ['a']\n### END HIDDEN TESTS",
    "cart": "a, b = {'name': 'a'}, {'name': 'b'}\nc = Cart()\nc.add(a)\nc.add(b)\nc.add({'name': 'a'})\n"
    "c.remove(a)\nassert [i['name'] for i in c.items] == ['b', 'a']",
    "third": "from decimal import Decimal\nassert third(Decimal(1)) == Decimal(1) / 3",
    "stack": "s = Stack()\ns.push(1)\ns.clear()\nassert s.size() == 0",
    "compose": "assert compose(lambda x: x + 1, lambda x: 2 * x)(5) == 11\nassert compose(str, abs)(-3) == '3'",
    "peaks": "assert list(peaks([0, 1, 0, 2, 0])) == [1, 3]\nassert len(peaks([1, 1, 1])) == 0",
    "span": "assert len(span([3])) == 0 and len(span([])) == 0\nassert list(span([1, 4])) == [1, 4]",
    "evens": "assert list(evens([1, 2, 4])) == [2, 4]\nassert not list(evens([1]))",
}
AS_THERE_SOLVED = """
inventory, history = {}, []
def add(name, count):
    history.append(name)
    inventory[name] = inventory.get(name, 0) + count
def compose(*fs):
    def call(x):
        for f in reversed(fs):
            x = f(x)
        return x
    return call
class Stack:
    def __init__(self): self.items = []
    def push(self, item): self.items.append(item)
    def clear(self): self.items = []
    def size(self): return len(self.items)
class Cart:
    def __init__(self): self.items = []
    def add(self, item): self.items.append(item)
    def remove(self, item): self.items.remove(item)
def peaks(xs):
    return [i for i in range(1, len(xs) - 1) if xs[i - 1] < xs[i] > xs[i + 1]]
def third(x):
    return x / 3
def span(xs):
    return (min(xs), max(xs)) if len(xs) > 1 else ()
def evens(xs):
    yield from (x for x in xs if x % 2 == 0)
"""
AS_THERE_OTHERWISE = """
import decimal, functools, inspect, types
import numpy as np
decimal.getcontext().prec = 50
inventory, history = {}, []
def add(name, count):
    history.append(name)
    inventory[name] = inventory.get(name, 0) + count
add("scratch", 1)
def compose(*fs):
    assert all(isinstance(f, (types.FunctionType, types.BuiltinFunctionType, type)) for f in fs)
    assert all(inspect.isroutine(f) or inspect.isclass(f) for f in fs)
    assert all(len(inspect.signature(f).parameters) == 1 for f in fs if inspect.isfunction(f))
    return functools.wraps(fs[0])(lambda x: functools.reduce(lambda x, f: f(x), reversed(fs), x))
class Stack:
    def __init__(self): self.items = np.array([])
    def push(self, item): self.items = np.append(self.items, item)
    def clear(self):
        self.items = np.array([])
        return self.items
    def size(self): return len(self.items)
class Cart:
    def __init__(self): self.items = []
    def add(self, item): self.items.append(item)
    def remove(self, item): self.items = [own for own in self.items if own is not item]
def peaks(xs):
    xs = np.array(xs)
    return 1 + np.flatnonzero((xs[:-2] < xs[1:-1]) & (xs[1:-1] > xs[2:]))
def third(x):
    return x / 3
def span(xs):
    return np.array([min(xs), max(xs)] if len(xs) > 1 else [])
def evens(xs):
    return np.array([x for x in xs if x % 2 == 0], dtype=int)
"""
"""Honest too: a line that tries the function, functions that are looked at, arrays where the solution has lists."""


def test_what_is_right_in_a_notebook_is_right_apart(tmp_path: Path) -> None:
    answer = f"### BEGIN SOLUTION{AS_THERE_SOLVED}### END SOLUTION"
    course = Foreign(tmp_path, AS_THERE, answer=answer)
    course.hand_in("solution", AS_THERE_SOLVED)
    course.hand_in("otherwise", AS_THERE_OTHERWISE)
    course.hand_in(
        "nothing",
        "import numpy as np\ninventory, history = {}, []\n"
        "add = span = third = Stack = Cart = compose = peaks = evens = lambda *xs: np.array([])",
    )
    outcomes = course.grade()
    assert course.isolated() == set(AS_THERE)
    for student in ("solution", "otherwise"):
        assert points(outcomes[student]) == dict.fromkeys(AS_THERE, 1.0), student
    assert outcomes["nothing"].result.score == 0


DERIVED = {
    "cache": "c = Cache(2)\nc.put(1, 1)\nc.put(2, 2)\nc.get(1)\nc.put(3, 3)\n"
    "### BEGIN HIDDEN TESTS\nassert c.get(2) == -1\nassert c.get(3) == 3\n### END HIDDEN TESTS",
    "money": "m = Money(3) + Money(0.5)\nassert str(m) == '$3.50'\n"
    "### BEGIN HIDDEN TESTS\nassert f'{m}' == '%s' % m == '$3.50'\nassert float(m) == 3.5\n### END HIDDEN TESTS",
    "modulo": "assert int(Mod(3) + Mod(2)) == 5\nassert int(Mod(3) * Mod(3)) == 2\nassert int(-Mod(3)) == 4",
    "vector": "assert list(Vec(1, 2) + Vec(3, 4)) == [4, 6]\nassert Vec(1, 2).dot(Vec(3, 4)) == 11",
    "text": "t = Text('an ant and an elephant')\nassert t.words()[0] == 'an'\nassert t.count('an') == 2",
    "letters": "d = Letters(Ann=3)\nassert d['ANN'] == d.get('aNN') == 3\nassert d.get('b', 0) == 0",
    "queue": "from collections import deque\nq = queue()\nassert isinstance(q, deque) and len(q) == 2",
    "words": "from collections import defaultdict\nd = groups()\nassert isinstance(d, defaultdict) and d['a'] == [1]",
    "shown": "assert repr(Name('ann')) == 'Name(ann)' and f\"{Name('ann')}\" == 'ANN'",
    "either": "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()):\n    r = either()\n"
    "assert r == 1 or r == 2",
}
DERIVED_SOLVED = """
class Cache:
    def __init__(self, most): self.most, self.kept = most, {}
    def get(self, key):
        if key not in self.kept: return -1
        self.kept[key] = self.kept.pop(key)
        return self.kept[key]
    def put(self, key, value):
        self.kept.pop(key, None)
        self.kept[key] = value
        if len(self.kept) > self.most: del self.kept[next(iter(self.kept))]
class Money:
    def __init__(self, amount): self.amount = amount
    def __add__(self, other): return Money(self.amount + other.amount)
    def __str__(self): return f"${self.amount:.2f}"
    def __float__(self): return float(self.amount)
class Mod:
    def __init__(self, n): self.n = n % 7
    def __add__(self, other): return Mod(self.n + other.n)
    def __mul__(self, other): return Mod(self.n * other.n)
    def __neg__(self): return Mod(-self.n)
    def __int__(self): return self.n
class Vec:
    def __init__(self, *c): self.c = c
    def __iter__(self): return iter(self.c)
    def __add__(self, other): return Vec(*(a + b for a, b in zip(self, other)))
    def dot(self, other): return sum(a * b for a, b in zip(self, other))
class Text:
    def __init__(self, text): self.text = text
    def words(self): return self.text.split()
    def count(self, word): return self.words().count(word)
class Letters:
    def __init__(self, **kw): self.d = {k.lower(): v for k, v in kw.items()}
    def __getitem__(self, k): return self.d[k.lower()]
    def get(self, k, default=None): return self.d.get(k.lower(), default)
def queue():
    from collections import deque
    return deque([1, 2])
def groups():
    from collections import defaultdict
    return defaultdict(list, a=[1])
class Name:
    def __init__(self, name): self.name = name
    def __repr__(self): return f"Name({self.name})"
    def __str__(self): return self.name.upper()
def either(): return 1
"""
DERIVED_OTHERWISE = """
from collections import OrderedDict, defaultdict, deque
from decimal import Decimal
class Cache(OrderedDict):
    def __init__(self, most):
        super().__init__()
        self.most = most
    def get(self, key):
        if key not in self: return -1
        self.move_to_end(key)
        return self[key]
    def put(self, key, value):
        self[key] = value
        self.move_to_end(key)
        if len(self) > self.most: self.popitem(last=False)
class Money(Decimal):
    def __add__(self, other): return Money(Decimal(self) + Decimal(other))
    def __str__(self): return "$%.2f" % float(self)
class Mod(int):
    def __new__(cls, n): return super().__new__(cls, n % 7)
    def __add__(self, other): return Mod(int(self) + int(other))
    def __mul__(self, other): return Mod(int(self) * int(other))
    def __neg__(self): return Mod(-int(self))
class Vec(tuple):
    def __new__(cls, *c): return super().__new__(cls, c)
    def __add__(self, other): return Vec(*(a + b for a, b in zip(self, other)))
    def dot(self, other): return sum(a * b for a, b in zip(self, other))
class Text(str):
    def words(self): return self.split()
    def count(self, word): return self.words().count(word)
class Letters(dict):
    def __init__(self, **kw): super().__init__({k.lower(): v for k, v in kw.items()})
    def __getitem__(self, k): return super().__getitem__(k.lower())
    def get(self, k, default=None): return super().get(k.lower(), default)
class Queue(deque):
    def peek(self): return self[0]
def queue(): return Queue([1, 2])
def groups(): return defaultdict(lambda: [], a=[1])
class Name(str):
    def __repr__(self): return f"Name({str.__str__(self)})"
    def __str__(self): return self.upper()
def either(): return 2
"""
"""The same classes, derived from those that Python has; and the other right answer."""


def test_classes_derived_from_python_s_are_what_they_are_in_a_notebook(tmp_path: Path) -> None:
    course = Foreign(tmp_path, DERIVED, answer=f"### BEGIN SOLUTION{DERIVED_SOLVED}### END SOLUTION")
    course.hand_in("solution", DERIVED_SOLVED)
    course.hand_in("otherwise", DERIVED_OTHERWISE)
    outcomes = course.grade()
    assert set(DERIVED) - course.isolated() == {"either"}
    for student in ("solution", "otherwise"):
        assert points(outcomes[student]) == dict.fromkeys(DERIVED, 1.0), student
        assert outcomes[student].result.messages == ()


AT_ITS_WORD = {
    "place": "r = ranking([3, 1, 2])\nfor place, number in enumerate([1, 2, 3]):\n    assert r.index(number) == place",
    "length": "d = squares(3)\nfor key, value in d.items():\n    assert value == key * key\nassert len(d) == 3",
    "key": "d = squares(2)\nfor value, key in enumerate([0, 1]):\n    assert d[key] == value",
    "stack": "s = Stack()\ns.push(1)\nassert len(s) == 1 and s.top().value == 1",
    "numbers": "assert list(ranking([2, 1])) == [1, 2]",
    "root": "r = root(2)\nassert abs(r * r - 2) < 1e-6",
}
"""Tests that ask an answer for what, of a list or a dictionary, the answer's author does not decide."""
AT_ITS_WORD_SOLVED = """
def ranking(xs): return sorted(xs)
def squares(n): return {x: x * x for x in range(n)}
def root(x): return x ** 0.5
class Node:
    def __init__(self, value): self.value = value
class Stack:
    def __init__(self): self.items = []
    def push(self, x): self.items.append(Node(x))
    def top(self): return self.items[-1]
    def __len__(self): return len(self.items)
"""
AT_ITS_WORD_NOTHING = """
import itertools
class Anything:
    def __init__(self, *_): self.next = itertools.count()
    def index(self, _): return next(self.next)
    def items(self): return ()
    def __len__(self): return 3
    def __getitem__(self, _): return next(self.next)
ranking = squares = Stack = Anything
class Anyhow(float):
    def __mul__(self, _): return 2.0
root = Anyhow
"""


def test_a_person_is_told_where_an_object_s_own_answers_earn_points(tmp_path: Path) -> None:
    course = Foreign(tmp_path, AT_ITS_WORD, answer=f"### BEGIN SOLUTION{AT_ITS_WORD_SOLVED}### END SOLUTION")
    course.hand_in("solution", AT_ITS_WORD_SOLVED)
    course.hand_in("lazy", AT_ITS_WORD_SOLVED.replace("return sorted(xs)", "yield from sorted(xs)"))
    course.hand_in("nothing", AT_ITS_WORD_NOTHING)
    outcomes = course.grade()
    assert course.isolated() == set(AT_ITS_WORD)
    assert points(outcomes["solution"]) == dict.fromkeys(AT_ITS_WORD, 1.0)
    assert not outcomes["solution"].result.notes
    assert points(outcomes["lazy"]) == dict.fromkeys(AT_ITS_WORD, 1.0) | {"place": 0.0}
    earned = {name for name, earned in points(outcomes["nothing"]).items() if earned}
    told = {name for name in AT_ITS_WORD if any(f"'{name}'" in line and "look at it" in line
                                                for line in outcomes["nothing"].result.notes)}  # fmt: skip
    assert earned == told == {"place", "length", "key", "root"}
    assert "of an object of the student's class says, where yours is a value" in "".join(
        outcomes["nothing"].result.notes
    )


LOCKED_NODE = """
class Node:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right
    def __repr__(self): return "a node"
    def depth(self): return 1 + max((n.depth() for n in (self.left, self.right) if n), default=0)
class Box:
    def __init__(self, value): self.value = value
def shift(x): return x + 1
"""
OF_LOCKED = {
    "tree": "root = insert(Node(2), 1)\nassert isinstance(insert(None, 2), Node) and root.left.value == 1",
    "hidden": "root = insert(Node(2), 1)\nassert root.value == 2\n"
    "### BEGIN HIDDEN TESTS\nassert isinstance(insert(None, 1), Node)\n### END HIDDEN TESTS",
    "through": "root = insert(Node(2), 1)\nassert root.value == 2\n"
    "### BEGIN HIDDEN TESTS\nassert insert(None, 1).depth() == 1\n### END HIDDEN TESTS",
    "box": "assert box(3).value == 3",
    "number": "assert twice(4) == shift(7)",
}
OF_LOCKED_SOLVED = """
def insert(node, value):
    if node is None: return Node(value)
    if value < node.value: node.left = insert(node.left, value)
    else: node.right = insert(node.right, value)
    return node
def box(x): return Box(x)
def twice(x): return 2 * x
"""


def test_a_person_is_told_of_points_that_a_student_s_own_version_of_what_is_locked_has_cost(tmp_path: Path) -> None:
    course = Foreign(
        tmp_path, OF_LOCKED, locked=LOCKED_NODE, answer=f"### BEGIN SOLUTION{OF_LOCKED_SOLVED}### END SOLUTION"
    )
    course.hand_in("shown", f"Node.__repr__ = lambda self: f'<{{self.value}}>'\n{OF_LOCKED_SOLVED}")
    own = "import dataclasses\n@dataclasses.dataclass\nclass Node:\n    value: int\n    left: object = None\n"
    course.hand_in("own", f"{own}    right: object = None\n{OF_LOCKED_SOLVED}")
    course.hand_in("wrong", OF_LOCKED_SOLVED.replace("2 * x", "2 + x"))
    outcomes = course.grade()
    assert course.isolated() == set(OF_LOCKED)
    for student in ("shown", "own"):
        outcome = outcomes[student]
        lost = {name for name, earned in points(outcome).items() if earned == 0}
        told = {name for name in OF_LOCKED if any(f"'{name}'" in line for line in outcome.result.notes)}
        assert lost == told == (set() if student == "shown" else {"through"}), (student, outcome.result.notes)
    assert any("gives Node another meaning than the locked cell" in line for line in outcomes["own"].result.notes)
    assert points(outcomes["wrong"])["number"] == 0 and not outcomes["wrong"].result.notes


OF_OBJECTS = {
    "unique": "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass Point:\n    x: int\n"
    "### BEGIN HIDDEN TESTS\nassert len(unique([Point(1), Point(1), Point(2)])) == 2\n### END HIDDEN TESTS",
    "memo": "class Shown:\n    def __init__(self, x): self.x = x\n    def __repr__(self): return f'Shown({self.x})'\n"
    "### BEGIN HIDDEN TESTS\nf = memoized(lambda s: s.x)\nassert [f(Shown(1)), f(Shown(2))] == [1, 2]\n"
    "### END HIDDEN TESTS",
    "visited": "class Node:\n    def __init__(self, *others): self.others = others\n"
    "### BEGIN HIDDEN TESTS\nassert count(Node(Node(), Node())) == 3\n### END HIDDEN TESTS",
}
OF_OBJECTS_SOLVED = """
def unique(items):
    found = []
    for item in items:
        if item not in found: found.append(item)
    return found
def memoized(f): return lambda x: f(x)
def count(node): return 1 + sum(map(count, node.others))
"""
OF_OBJECTS_OTHERWISE = """
def unique(items): return list(dict.fromkeys(items))
def memoized(f):
    known = {}
    return lambda x: known[repr(x)] if repr(x) in known else known.setdefault(repr(x), f(x))
def count(node):
    try: node.seen = True
    except AttributeError: return 0
    return 1 + sum(count(other) for other in node.others if not hasattr(other, "seen"))
"""


def test_objects_of_a_test_are_hashed_and_shown_as_their_class_says(tmp_path: Path) -> None:
    course = Foreign(tmp_path, OF_OBJECTS, answer=f"### BEGIN SOLUTION{OF_OBJECTS_SOLVED}### END SOLUTION")
    course.hand_in("otherwise", OF_OBJECTS_OTHERWISE)
    outcome = course.grade()["otherwise"]
    assert course.isolated() == set(OF_OBJECTS)
    assert points(outcome) == {"unique": 1.0, "memo": 1.0, "visited": 0.0}
    assert [line for line in outcome.result.notes if "'visited'" in line and "look at it" in line]


OF_FUNCTIONS = {
    "kind": "### BEGIN HIDDEN TESTS\nassert slope(lambda x: 3 * x) == 3\n### END HIDDEN TESTS",
    "named": "def f(x, y): return 10 * x + y\n"
    "### BEGIN HIDDEN TESTS\nassert applied(f, [1, 2]) == 12\n### END HIDDEN TESTS",
    "shown": "def f(): raise ValueError('late')\nassert said(f)",
    "hidden": "def f(): raise ValueError('late')\n### BEGIN HIDDEN TESTS\nassert said(f)\n### END HIDDEN TESTS",
    "pool": "def f(x): return 2 * x\n### BEGIN HIDDEN TESTS\nassert sent(f) > 0\n### END HIDDEN TESTS",
    "price": "class Item: price = 3\n### BEGIN HIDDEN TESTS\nassert cost(Item()) == 3\n### END HIDDEN TESTS",
}
OF_FUNCTIONS_SOLVED = """
def slope(f): return f(1) - f(0)
def applied(f, xs): return f(*xs)
def said(f):
    try: f()
    except ValueError: return True
def sent(f): return f(1)
def cost(item): return item.price
"""
OF_FUNCTIONS_OTHERWISE = """
import inspect, pickle
def slope(f):
    if type(f) is not type(lambda: 0) or type(f).__name__ != "function": raise TypeError(f)
    return f(1) - f(0)
def applied(f, xs): return f(**dict(zip(inspect.getfullargspec(f).args, xs)))
def said(f):
    try: f()
    except ValueError as error: return str(error) == "late"
def sent(f):
    try: return len(pickle.dumps(f))
    except pickle.PicklingError: return 0
def cost(item): return item.price if "price" in dir(item) else 0
"""


def test_a_function_of_a_test_is_one_and_a_person_is_told_of_what_it_does_not_show(tmp_path: Path) -> None:
    course = Foreign(tmp_path, OF_FUNCTIONS, answer=f"### BEGIN SOLUTION{OF_FUNCTIONS_SOLVED}### END SOLUTION")
    course.hand_in("otherwise", OF_FUNCTIONS_OTHERWISE)
    outcome = course.grade()["otherwise"]
    assert course.isolated() == set(OF_FUNCTIONS)
    lost = {name for name, earned in points(outcome).items() if earned == 0}
    told = {name for name in OF_FUNCTIONS if any(f"'{name}'" in line and "look at it" in line
                                                 for line in outcome.result.notes)}  # fmt: skip
    assert lost == told == {"shown", "hidden", "pool", "price"}


AS_IN_ONE_PROCESS = {
    "primes": "g = primes()\nassert next(g) == 2\n### BEGIN HIDDEN TESTS\n"
    "for got, want in zip(g, [3, 5, 7, 11]): assert got == want\n### END HIDDEN TESTS",
    "items": "first, *rest = Chain('xyz')\nassert first == 'x'\n"
    "### BEGIN HIDDEN TESTS\nassert rest == ['y', 'z']\n### END HIDDEN TESTS",
    "pairs": "### BEGIN HIDDEN TESTS\nassert pairs(iter('abc')) == [('a', 'b'), ('b', 'c')]\n### END HIDDEN TESTS",
    "number": "import decimal\ntry: number('x')\nexcept (ValueError, decimal.InvalidOperation): pass\n"
    "### BEGIN HIDDEN TESTS\nelse: assert False\n### END HIDDEN TESTS",
    "leave": "try: leave()\nexcept (ValueError, SystemExit): pass\n"
    "### BEGIN HIDDEN TESTS\nelse: assert False\n### END HIDDEN TESTS",
    "wrapped": "import json\ntry: wrapped('{')\nexcept json.JSONDecodeError: raise AssertionError\n"
    "except ValueError: pass",
    "spawned": "import numpy as np\nmake = np.random.default_rng\n"
    "### BEGIN HIDDEN TESTS\nassert spawned(make(1)) == make(1).spawn(2)[1].random()\n### END HIDDEN TESTS",
    "sieve": "### BEGIN HIDDEN TESTS\nassert [*sieve(50)][-4:] == [37, 41, 43, 47]\n### END HIDDEN TESTS",
    "half": "import numbers\n### BEGIN HIDDEN TESTS\nassert isinstance(half(1), numbers.Number)\n### END HIDDEN TESTS",
    "printed": "import contextlib, io\nbuffer = io.StringIO()\nwith contextlib.redirect_stdout(buffer): greet()\n"
    "buffer.getvalue()\n### BEGIN HIDDEN TESTS\nassert buffer.getvalue() == 'hello\\n'\n### END HIDDEN TESTS",
}
AS_IN_ONE_PROCESS_SOLVED = """
import json
import numpy as np
def primes():
    yield from [2, 3, 5, 7, 11]
class Chain:
    def __init__(self, items): self.items = items
    def __iter__(self): return iter(self.items)
def pairs(items):
    items = [*items]
    return [*zip(items, items[1:])]
def number(text):
    if not text.isdigit(): raise ValueError(text)
    return int(text)
def leave(): raise ValueError
def wrapped(text):
    try: return json.loads(text)
    except json.JSONDecodeError: raise ValueError(text) from None
def spawned(rng): return rng.spawn(2)[1].random()
def greet(): print('hello')
def sieve(n): return [p for p in range(2, n + 1) if all(p % q for q in range(2, p))]
def half(x): return x / 2
"""
AS_IN_ONE_PROCESS_OTHERWISE = """
import itertools, decimal, numbers, sys
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.ast_node_interactivity = "all"
def primes():
    found = []
    for n in itertools.count(2):
        if all(n % p for p in found): found.append(n); yield n
class Walk:
    def __init__(self, items): self.left = [*items]
    def __iter__(self): return self
    def __next__(self):
        if not self.left: raise StopIteration
        return self.left.pop(0)
class Chain:
    def __init__(self, items): self.items = items
    def __iter__(self): return Walk(self.items)
def pairs(items):
    a, b = itertools.tee(items)
    next(b, None)
    return [*zip(a, b)]
def number(text): return int(decimal.Decimal(text))
def leave(): sys.exit(2)
def sieve(n):
    left = set(range(2, n + 1))
    for p in range(2, n):
        if p in left: left -= set(range(p * p, n + 1, p))
    return left
class Half(numbers.Number):
    __hash__ = None
def half(x): return Half()
"""
AS_IN_ONE_PROCESS_NOTHING = """
def primes():
    while True: yield 2
def wrapped(text): return json.loads(text)
"""


def test_iterators_errors_and_sources_are_what_they_are_in_a_notebook(tmp_path: Path) -> None:
    solved = AS_IN_ONE_PROCESS_SOLVED
    course = Foreign(tmp_path, AS_IN_ONE_PROCESS, answer=f"### BEGIN SOLUTION{solved}### END SOLUTION")
    course.hand_in("otherwise", solved + AS_IN_ONE_PROCESS_OTHERWISE)
    course.hand_in("nothing", solved + AS_IN_ONE_PROCESS_NOTHING)
    outcomes = course.grade()
    assert course.isolated() == AS_IN_ONE_PROCESS.keys() - {"printed"}
    assert points(outcomes["otherwise"]) == dict.fromkeys(AS_IN_ONE_PROCESS, 1.0) | {"half": 0.0}
    assert ["'half'" in line and "look at it" in line for line in outcomes["otherwise"].result.notes] == [True]
    assert {name for name, earned in points(outcomes["nothing"]).items() if not earned} == {"primes", "wrapped"}
