"""What a locked helper compares, and what an earlier test has computed, is decided apart from the student's code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from autograder.course import open_course
from autograder.grading.outcome import Outcome
from tests.system.foreign import Foreign, points

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Case:
    """Locked cells before and after an answer, tests, other honest answers, and answers that agree with everything."""

    answer: str
    tests: Mapping[str, str]
    locked: str = ""
    after: str = ""
    honest: Mapping[str, str] = field(default_factory=dict)
    forgers: Mapping[str, str] = field(default_factory=dict)
    beside: Mapping[str, str] = field(default_factory=dict)
    blank: bool = True
    """Whether nothing is to earn nothing: a test may ask for nothing where nothing was made, in one process too."""


YES = """
class Yes:
    __hash__ = None
    def __eq__(self, other):
        SEEN.append(other)
        return True
SEEN = []
"""
PATHS = (
    "{p.__init__.__globals__[want]}",
    "{p.__init__.__globals__[run_cells].__globals__[sys].modules[__main__].want}",
    "{p.__init__.__globals__[__builtins__]._left.values}",
)
CASES = {
    "templates": Case(
        "def template(): return '{p.name} is {p.age:>2}, {p.at[0]}'",
        {
            "own": "class P:\n    def __init__(self, n, a): self.name, self.age, self.at = n, a, [a]\n"
            "for n, a, want in [('ann', 3, 'ann is  3, 3')]: assert template().format(p=P(n, a)) == want\n"
            "### BEGIN HIDDEN TESTS\n"
            "for n, a, want in [('bob', 44, 'bob is 44, 44')]: assert template().format(p=P(n, a)) == want\n"
            "### END HIDDEN TESTS",
            "locked": "for n, a, want in [('ann', 3, 'ann is  3, 3')]:\n"
            "    assert template().format_map({'p': Person(n, a, [a])}) == want",
        },
        locked="from dataclasses import dataclass\n@dataclass\nclass Person:\n"
        "    name: str\n    age: int\n    at: list",
        honest={"conversions": "def template(): return '{0}{1}'.format('{p.name!s} is {p.age:2d}', ', {p.at[0]}')"},
        forgers={f"path {n}": f"def template(): return {path!r}" for n, path in enumerate(PATHS)},
    ),
    "the instructor's own modules and classes": Case(
        "def square(x): return x * x",
        {
            "function": "assert ok, failed",
            "object": "assert outcome == []",
            "method": "assert checker.failed == []",
            "registry": "assert all(results.values())",
            "pool": "assert all(same)",
            "keywords": "assert LOG['right'] == 2",
            "attributes": "assert Found.right == 2",
            "gaps": "assert gaps == [0, 0]",
            "rest": "assert rest == []",
            "operator": "assert equal == [True] * 2",
            "told": "assert fine == [True]",
        },
        locked="CASES = [(2, 4), (12, 144)]\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "from report import Suite, check_all, same_as\nclass Checker:\n    def __init__(self, cases):\n"
        "        self.cases, self.failed = cases, []\n    def run(self, f):\n        for x, y in self.cases:\n"
        "            if f(x) != y: self.failed.append(x)\n"
        "def off(f): return [f(x) - y for x, y in CASES]\n"
        "def rest_of(f):\n    want = [y for _, y in CASES]\n    for x, _ in CASES: want.remove(f(x))\n    return want",
        after="ok, failed = check_all(square)\nsuite = Suite(CASES)\noutcome = suite.run(square)\n"
        "checker = Checker(CASES)\nchecker.run(square)\nresults = {}\n"
        "for x, y in CASES: results[x] = same_as(square(x), y)\n"
        "with ThreadPoolExecutor() as pool: same = list(pool.map(lambda c: square(c[0]) == c[1], CASES))\n"
        "LOG = {}\nLOG.update(right=sum(square(x) == y for x, y in CASES))\n"
        "import operator\nequal = list(map(operator.eq, [square(x) for x, _ in CASES], [y for _, y in CASES]))\n"
        "got = square(12)\nfine = []\nfine.append(got == 144)\n"
        "class Found: right = sum(square(x) == y for x, y in CASES)\ngaps, rest = off(square), rest_of(square)",
        honest={"loop": "def square(x): return sum([x] * x)"},
        forgers={
            "equal": YES + "class Any(Yes):\n    def __sub__(self, other): return 0\n    __rsub__ = __sub__\n"
            "def square(x): return Any()",
            "patches": "import report\nreport.check_all = lambda f: (True, [])\nreport.Suite.run = lambda *_: []\n"
            "report.same_as = lambda *_: True\nThreadPoolExecutor.map = lambda *_: [True]\ndef square(x): return 0",
        },
        blank=False,
        beside={"report.py": "def check_all(f):\n    bad = [x for x, y in [(2, 4), (12, 144)] if f(x) != y]\n"
                "    return not bad, bad\nclass Suite:\n    def __init__(self, cases): self.cases = cases\n"
                "    def run(self, f): return [x for x, y in self.cases if f(x) != y]\n"
                "def same_as(got, want): return got == want\n"},
    ),
    "arrays of no items": Case(
        "def square(x): return np.asarray(x) ** 2",
        {
            "allclose": "assert np.allclose(square(2), 4)",
            "testing": "np.testing.assert_allclose(square(3), 9)",
            "imported": "from numpy.testing import assert_array_equal\nassert_array_equal(square(4), 16)",
            "each": "for v in (2, 3.5): assert np.all(np.abs(square(v) - v ** 2) < 1e-9)",
            "none": "assert not np.any(np.abs(square(3.0) - 9) > 1e-9)",
            "helper": "assert same(square(5), 25)",
            "elements": "assert np.isclose(square(2), 4).all()",
            "method": "got = np.asarray(square(6))\nassert (abs(got - 36) < 1e-9).all()",
            "norm": "assert np.linalg.norm(np.asarray(square(7)) - 49) < 1e-9",
            "masked": "assert np.ma.allclose(square(8), 64)",
            "pytest": "import pytest\nassert square(9) == pytest.approx(81)",
            "approx": "assert approx(100) == square(10)",
            "beside": "assert close_to(square(11), 121)",
            "loop": "for e in np.abs(square([1, 2]) - np.array([1, 4])): assert e < 1e-9",
            "builtin": "assert all(abs(square(np.arange(3)) - np.array([0, 1, 4])) < 1e-9)",
            "keywords": "assert np.allclose(rtol=1e-6, atol=1e-6, a=square([1, 2]), b=[1, 4])",
        },
        locked="import numpy as np\nfrom pytest import approx\nfrom checks import close_to\n"
        "def same(a, b): return bool(np.allclose(a, b))",
        beside={"checks.py": "import numpy as np\ndef close_to(a, b): return np.allclose(a, b)\n"},
        honest={"product": "def square(x): return np.multiply(x, x)"},
        forgers={"empty": "def square(x): return np.array([])", "column": "def square(x): return np.empty((0, 1))",
                 "list": "class L(list):\n    def __sub__(self, other): return []\ndef square(x): return L()",
                 "range": "def square(x): return range(0)", "rows": "def square(x): return [[]]",
                 "deque": "from collections import deque\ndef square(x): return deque()",
                 "numbers": "from array import array\ndef square(x): return array('d')"},
    ),
    "made by the student": Case(
        "def make(n): return [x * x for x in range(n)]",
        {
            "agrees": "assert agrees(3, 9)\n### BEGIN HIDDEN TESTS\nassert agrees(49, 2401)\n### END HIDDEN TESTS",
            "through-another": "assert all(both(i, i * i) for i in (2, 5))",
        },
        after="table = make(50)\ndef agrees(i, want): return table[i] == want\n"
        "def both(i, want): return agrees(i, want) and agrees(-i, (50 - i) ** 2)",
        honest={
            "tuple": "def make(n): return tuple(x * x for x in range(n))",
            "array": "import numpy as np\ndef make(n): return np.arange(n) ** 2",
            "uses the name": "table = 'my own'\ndef make(n): return [x * x for x in range(n)]",
        },
        forgers={
            "items": YES + "class Table:\n    def __getitem__(self, i): return Yes()\ndef make(n): return Table()",
            "list": YES + "def make(n): return [Yes()] * n",
            "rebinds": YES + "table = [Yes()] * 60\ndef make(n): return [0] * n\ndef agrees(i, want): return True",
        },
    ),
    "a class that is assigned": Case(
        "def move(p): return Point(p.x + 1, p.y)",
        {
            "move": "assert move(Point(1, 2)) == Point(2, 2)\n"
            "### BEGIN HIDDEN TESTS\nassert move(Point(5, 7)) == Point(6, 7)\n### END HIDDEN TESTS",
            "back": "assert move(move(Point(0, 1))) == (2, 1)",
        },
        locked="from collections import namedtuple\nPoint = namedtuple('Point', 'x y')",
        honest={
            "asks for the class": "def move(p):\n    assert isinstance(p, Point)\n    return p._replace(x=p.x + 1)",
            "uses the name": "def move(p): return p._replace(x=p.x + 1)\nPoint = 'mine'",
        },
        forgers={
            "agrees": YES + "def move(p): return Yes()",
            "patches": "Point.__eq__ = lambda *_: True\ndef move(p): return p",
            "rebinds": YES + "Point = lambda *_: Yes()\ndef move(p): return Yes()",
        },
    ),
    "instances": Case(
        "def cheap(shop, limit): return [item.name for item in shop if item.price <= limit]",
        {"cheap": "assert all_match(cheap, [(1, ['a']), (2, ['a', 'b'])])\n### BEGIN HIDDEN TESTS\n"
         "assert all_match(cheap, [(0, [])])\n### END HIDDEN TESTS"},
        locked="class Item:\n    def __init__(self, name, price): self.name, self.price = name, price\n"
        "SHOP = [Item('a', 1), Item('b', 2)]\ndef matches(got, want): return got == want\n"
        "def all_match(fn, cases): return all(matches(fn(SHOP, l), w) for l, w in cases)",
        honest={"loop": "def cheap(shop, limit):\n    found = []\n    for item in shop:\n"
                "        if isinstance(item, Item) and item.price <= limit: found.append(item.name)\n    return found"},
        forgers={"equal": YES + "def cheap(shop, limit): return Yes()"},
    ),
    "earlier tests": Case(
        "def f(x): return 7 * x",
        {
            "counts": "score = 0\nif f(1) == 7:\n    score += 1\nif f(2) == 14:\n    score += 1\nassert score == 2",
            "lists": "results = [f(x) == 7 * x for x in range(4)]\nassert all(results)",
            "goes-on": "if f(5) == 35:\n    score += 1\nassert score == 3",
            "reads": "assert results == [True] * 4",
            "hidden-adds": "shown = f(3)\n### BEGIN HIDDEN TESTS\nshown += f(1)\n### END HIDDEN TESTS\n"
            "assert shown == 28",
            "after-that": "assert shown == 28",
        },
        honest={
            "other": "def f(x): return sum([x] * 7)",
            "uses the names": "score = results = 'my own'\ndef f(x): return x * 7",
        },
        forgers={
            "equal": YES + "def f(x): return Yes()",
            "in the frames": YES + "import sys\ndef f(x):\n    c = sys._getframe(1)\n    while c:\n"
            "        for name, value in dict(score=2, results=[True] * 4, shown=28).items():\n"
            "            if name in c.f_globals: c.f_globals[name] = value\n        c = c.f_back\n    return Yes()",
        },
    ),
    "filled under another name": Case(
        "def f(x): return 7 * x",
        {
            "alias": "for x, want in ROWS: assert f(x) == want",
            "result-of-a-call": "for x, want in CASES: assert f(x) == want",
            "comprehension": "for x in TABLE: assert f(x) == 7 * x",
            "attribute": "for x in BOX.items: assert f(x) == 7 * x",
        },
        locked="ROWS, CASES, TABLE = [], [], {}\nrows = ROWS\nrows.append((1, 7))\nrows += [(2, 14)]\n"
        "def fill():\n    CASES.append((3, 21))\n    return 1\nnumber = fill()\n"
        "ignored = [TABLE.setdefault(x, x) for x in (4, 5)]\n"
        "from types import SimpleNamespace\nBOX = SimpleNamespace(items=[])\nitems = BOX.items\nitems.append(6)",
        honest={"other": "def f(x): return sum([x] * 7)",
                "uses the names": "rows = ROWS = CASES = 'my own'\ndef f(x): return x * 7"},
        forgers={"equal": YES + "def f(x): return Yes()", "wrong": "def f(x): return 0",
                 "empties": "ROWS.clear(), CASES.clear(), TABLE.clear(), BOX.items.clear()\ndef f(x): return 0"},
    ),
    "filled by the student": Case(
        "def f(x): return 7 * x",
        {"results": "for x, got in enumerate(RESULTS): assert got == 7 * x", "flag": "if DONE: assert f(2) == 14"},
        locked="RESULTS = []\nDONE = False",
        after="for x in range(4): RESULTS.append(f(x))\nif f(1) is not None: DONE = True",
        honest={"other": "def f(x): return sum([x] * 7)"},
        forgers={"equal": YES + "def f(x): return Yes()", "wrong": "def f(x): return 5"},
        blank=False,
    ),
    "callables": Case(
        "def make(n): return [x * x for x in range(n)]",
        {"same": "assert same(3, 9) and same(4, 16)"},
        after="table = make(50)\nsame = lambda i, want: table[i] == want",
        honest={"tuple": "def make(n): return tuple(x * x for x in range(n))"},
        forgers={"list": YES + "def make(n): return [Yes()] * n"},
    ),
    "objects of earlier tests": Case(
        "def counter():\n    seen = []\n    def more():\n        seen.append(1)\n        return len(seen)\n"
        "    return more",
        {
            "first": "from fractions import Fraction\nmore = counter()\nassert more() == 1\n"
            "results = [more() == 2, Fraction(1, 2), more]\nassert results[0]",
            "second": "assert more() == 3 and results[2]() == 4 and all(results[:2])",
            "third": "assert more() == 5 and results[0] is True",
        },
        honest={"other": "class C:\n    n = 0\n    def __call__(self):\n        self.n += 1\n        return self.n\n"
                "counter = C"},
        forgers={"equal": YES + "def counter(): return Yes",
                 "makes again": YES + "import autograder.boundary.given_again as g, autograder.boundary.student as s\n"
                 "s.made_again = g.made_again = lambda *_: dict(results=[True] * 3, more=Yes)\n"
                 "def counter(): return Yes"},
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def courses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Foreign, dict[str, Outcome]]]:
    found = {}
    for name, case in CASES.items():
        answer = f"### BEGIN SOLUTION\n{case.answer}\n### END SOLUTION"
        root, files = tmp_path_factory.mktemp("verdicts"), case.beside
        course = Foreign(root, case.tests, locked=case.locked, answer=answer, after=case.after, beside=files)
        for student, text in {"solution": case.answer, **case.honest, **case.forgers, "blank": ""}.items():
            course.hand_in(student.replace(" ", "-"), text)
        found[name] = course, course.grade()
    return found


def _earned(found: tuple[Foreign, dict[str, Outcome]], student: str) -> set[float | None]:
    return set(points(found[1][student.replace(" ", "-")]).values())


@pytest.mark.parametrize(("name", "student"), [(n, s) for n, c in CASES.items() for s in ("solution", *c.honest)])
def test_an_honest_answer_has_full_marks(
    name: str, student: str, courses: dict[str, tuple[Foreign, dict[str, Outcome]]]
) -> None:
    assert _earned(courses[name], student) == {1.0}


@pytest.mark.parametrize(
    ("name", "student"), [(n, s) for n, c in CASES.items() for s in [*["blank"] * c.blank, *c.forgers]]
)
def test_what_agrees_with_everything_earns_nothing(
    name: str, student: str, courses: dict[str, tuple[Foreign, dict[str, Outcome]]]
) -> None:
    assert _earned(courses[name], student) == {0.0}


@pytest.mark.parametrize("name", CASES)
def test_all_tests_run_apart(name: str, courses: dict[str, tuple[Foreign, dict[str, Outcome]]]) -> None:
    course = courses[name][0]
    modes = json.loads((open_course(course.root).state / "hw.modes.json").read_text())["hw"]
    assert set(modes["isolated"]) == set(CASES[name].tests), modes["notes"]
