"""Names of locked cells that are hard to make again are not the student's for that: to redefine one earns nothing."""

from __future__ import annotations

import json
import sqlite3
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import nbformat
import pytest

from autograder.course import open_course
from autograder.grading.outcome import Outcome
from tests.system.courses import autograder, grade, points

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Case:
    """One notebook: a locked cell, an answer, tests by their names, and what honest students and forgers hand in.

    Attributes:
        kernel: the tests that nobody can run apart, and the name of which that is said.
        blank: what somebody hands in who has done nothing.
        below: a locked cell between the answer and the tests.
    """

    locked: str
    answer: str
    tests: Mapping[str, str]
    honest: Mapping[str, str] = field(default_factory=dict)
    forgers: Mapping[str, str] = field(default_factory=dict)
    kernel: Mapping[str, str] = field(default_factory=dict)
    blank: str = ""
    below: str = ""


POINT = """
class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
GOAL = Point(3, 4)
CORNERS = [Point(0, 0), Point(1, 2)]
"""
NORM = "def norm(x, y): return x * x + y * y\ndef flip(p): return Point(p.y, p.x)"
CASES: dict[str, Case] = {
    "instances": Case(
        POINT,
        NORM,
        {
            "read": "assert norm(3, 4) == GOAL.x ** 2 + GOAL.y ** 2",
            "handed": "corner = flip(CORNERS[1])\nassert (corner.x, corner.y) == (CORNERS[1].y, CORNERS[1].x)",
            "known": "assert isinstance(flip(GOAL), Point)",
        },
        {
            "checks the class": NORM.replace("return Point(p", "return isinstance(p, Point) and Point(p"),
            "uses the name": NORM + "\nGOAL = CORNERS = 'my own'\ndef own(): return GOAL",
        },
        {
            "rebinds": "def norm(x, y): return 0\ndef flip(p): return 0\nGOAL = Point(0, 0)\n"
            "CORNERS = [0, Point(5, 5)]\nclass Other: pass\nPoint = Other",
            "changes": "def norm(x, y): return 0\ndef flip(p): return p if p.x == p.y else 1\nGOAL.x = GOAL.y = 0\n"
            "CORNERS[1].x = CORNERS[1].y",
            "another class": "def norm(x, y): return 0\ndef flip(p): return 0\nimport numbers\nPoint = numbers.Number",
        },
    ),
    "bound": Case(
        "%run helper.py\n%matplotlib inline\nexec('LIMIT = 7')\nglobals()['GOAL'] = 42\nvars()['BASE'] = GOAL - 40",
        "def add(a, b): return a + b",
        {
            "run": "assert near(add(1, 1), TWO)",
            "exec": "assert add(3, 4) == LIMIT",
            "globals": "assert add(40, 2) == GOAL and add(1, 1) == BASE",
        },
        {"uses the name": "LIMIT = GOAL = near = 'my own'\ndef add(a, b): return a + b"},
        {
            "rebinds": "def add(a, b): return None\nLIMIT = GOAL = BASE = TWO = None\ndef near(a, b): return True",
            "patches": "def add(a, b): return 5\nLIMIT = GOAL = BASE = 5\nnear.__code__ = (lambda a, b: True).__code__",
        },
    ),
    "aliases": Case(
        "from math import sqrt, hypot, isclose",
        "def hypot(a, b): return (a * a + b * b) ** 0.5",
        {"alias": "assert isclose(hypot(3, 4), sqrt(25))"},
        {"other": "import math\ndef hypot(a, b): return math.hypot(a, b)"},
        {"rebinds": "def hypot(a, b): return 0\ndef sqrt(x): return 0\ndef isclose(a, b): return True"},
        blank="def hypot(a, b): raise NotImplementedError",
    ),
    "changed": Case(
        "bank = []\nTOP = [30, 40]\ndef tenfold(x): return 10 * x",
        "def deposit(x): bank.append(x)",
        {"state": "before = sum(bank)\ndeposit(3)\nassert tenfold(sum(bank) - before) == TOP[0]"},
        {"other": "def deposit(x): bank.extend([x])"},
        {
            "rebinds": "def deposit(x): return None\nTOP = [0]\ndef tenfold(x): return 0",
            "changes": "def deposit(x): return None\nTOP[0] = 0",
        },
    ),
}
CASES["shapes"] = Case(
    """
    import helper as beside
    LOW, HIGH = 2, 9
    for STEP in (1, 2, 3): pass
    with open("helper.py") as handle: LINES = len(handle.readlines())
    try:
        CAUGHT = 7
    except ValueError:
        CAUGHT = 0
    if HIGH > 5: KIND = 4
    else: KIND = 0
    TOTAL = 1
    TOTAL += 4
    temporary = 3
    KEPT = temporary
    del temporary
    (WALRUS := 6)
    class Config:
        LIMIT = 11
        @property
        def top(self): return 12
    def within(a, b): return abs(a - b) < EPS
    EPS = 1e-9
    def agree(x): return within(add(x, ONE), x + 1)
    ONE = 1
    from math import *
    """,
    "def add(a, b): return a + b",
    {
        "unpacked": "assert add(1, 1) == LOW and add(4, 5) == HIGH",
        "loop": "assert add(1, 2) == STEP",
        "with": "assert add(1, 1) == LINES",
        "caught": "assert add(3, 4) == CAUGHT",
        "condition": "assert add(2, 2) == KIND",
        "added": "assert add(2, 3) == TOTAL",
        "deleted": "assert add(1, 2) == KEPT",
        "walrus": "assert add(3, 3) == WALRUS",
        "class": "assert add(5, 6) == Config.LIMIT",
        "property": "assert add(6, 6) == Config().top",
        "later": "assert agree(5)",
        "module": "assert beside.near(add(1, 1), beside.TWO)",
        "star": "assert isclose(add(1, 1), sqrt(4))",
    },
    {"uses the names": "LOW = STEP = TOTAL = Config = agree = EPS = ONE = beside = None\ndef add(a, b): return a + b"},
    {
        "rebinds": """
            LOW = HIGH = STEP = LINES = CAUGHT = KIND = TOTAL = KEPT = WALRUS = ONE = 0
            class Config:
                LIMIT = top = 0
            Config.__call__ = lambda self: self
            EPS = 1e9
            def add(a, b): return 0
            def within(a, b): return True
            isclose = agree = sqrt = within
            class beside: near, TWO = within, 2
            """,
        "changes": """
            import helper
            helper.TWO, helper.near = 0, lambda a, b: True
            Config.LIMIT, Config.top, EPS, ONE = 0, 0, 1e9, 0
            within.__code__ = (lambda a, b: True).__code__
            agree.__code__ = (lambda x: True).__code__
            def add(a, b): return 0
            """,
    },
)
CASES["kernel"] = Case(
    "%alias_magic t timeit\nfound = !echo 7\ngoal = !echo 9",
    "def add(a, b): return a + b",
    {
        "shell": "assert add(3, 4) == int(found[0])",
        "perhaps": "try:\n    MORE\nexcept NameError:\n    MORE = 7\nassert add(3, 4) == MORE",
        "apart": "assert add(3, 4) == 7",
    },
    {"uses the name": "found = MORE = 'my own'\ndef add(a, b): return a + b"},
    {"rebinds": "found = ['0']\nMORE = 0\ndef add(a, b): return 0"},
    {"shell": "found", "perhaps": "MORE"},
)
CASES["functions"] = Case(
    """
    import enum
    class Kind(enum.Enum):
        RED = 1
        BLUE = 2
    BASE = 10
    def shifted(x, by=BASE): return add(x, 1) + by
    UNIT = 1
    def stepped(x): return add(x, UNIT) + BASE
    """,
    "def add(a, b): return a + b",
    {
        "constants": "assert add(1, 1) == Kind.BLUE.value",
        "default": "assert shifted(1) == 12",
        "beneath": "assert stepped(1) == 12",
    },
    {"uses the names": "Kind = BASE = UNIT = shifted = 'my own'\ndef add(a, b): return a + b"},
    {
        "rebinds": """
            BASE, UNIT = 12, 0
            class Kind:
                class BLUE: value = 0
            def shifted(x, by=BASE): return by
            def add(a, b): return 0
            """,
        "changes": """
            Kind.BLUE._value_ = 0
            shifted.__defaults__ = (12,)
            BASE = 12
            def add(a, b): return 0
            """,
    },
)
CASES["filled"] = Case(
    """
    CASES, ROWS, SEEN, KNOWN = [], {}, [], {}
    def setup():
        CASES.append((3, 4, 7))
        ROWS.update(top=9)
    setup()
    def load():
        global LOADED
        LOADED = 30
    load()
    class Filler:
        def fill(self): SEEN.extend([1, 2])
    Filler().fill()
    def register(f):
        KNOWN[f.__name__] = f
        return f
    @register
    def eleven(): return 11
    LIST = []
    for PART in (4, 5): LIST.append(PART)
    """,
    "def add(a, b): return a + b",
    {
        "call": "assert CASES and all(add(a, b) == c for a, b, c in CASES)",
        "dict": "assert add(4, 5) == ROWS['top']",
        "global": "assert add(10, 20) == LOADED",
        "method": "assert add(1, 2) == sum(SEEN)",
        "register": "assert add(5, 6) == KNOWN['eleven']()",
        "appended": "assert add(4, 5) == sum(LIST)",
        "function": "def total():\n    return sum(LIST)\nassert add(2, 7) == total()",
    },
    {"uses the names": "CASES = ROWS = LOADED = SEEN = KNOWN = LIST = setup = 0\ndef add(a, b): return a + b"},
    {
        "rebinds": """
            CASES, ROWS, LOADED, SEEN, KNOWN, LIST = [(0, 0, 0)], {"top": 0}, 0, [0], {"eleven": lambda: 0}, [0]
            def add(a, b): return 0
            def setup(): CASES[:] = [(0, 0, 0)]
            def load(): pass
            """,
        "changes": """
            CASES[:], ROWS["top"], SEEN[:], KNOWN["eleven"], LIST[:] = [(0, 0, 0)], 0, [0], lambda: 0, [0]
            def add(a, b): return 0
            """,
    },
)
AGREES = """
    class Agrees:
        def __eq__(self, other): return True
        def __ne__(self, other): return False
        def __sub__(self, other): return 0.0
        def __rsub__(self, other): return 0.0
        def __hash__(self): return 1
    def classify(x): return Agrees()
    """
CASES["verdicts"] = Case(
    """
    import numpy as np
    DATA = [(x, x % 2) for x in range(20)]
    def score(f): return np.mean([f(x) == t for x, t in DATA])
    """,
    "def classify(x): return x % 2",
    {
        "verdict-mean": "assert accuracy > 0.9",
        "verdict-count": "assert share == 1",
        "verdict-condition": "assert right",
        "verdict-called": "assert total > 0.9",
        "verdict-loop": "assert near == 20",
        "verdict-error": "assert mse < 1e-9",
        "verdict-from": "assert gap < 1e-9",
        "verdict-kept": "assert np.mean([a == t for a, (_, t) in zip(answers, DATA)]) > 0.9",
    },
    {
        "uses the names": "accuracy = n = share = right = total = answers = first = gap = 'own'\n"
        "def classify(x): return x % 2"
    },
    {
        "agrees": AGREES,
        "rebinds": "def classify(x): return 7\nclass always(float):\n    def __gt__(self, o): return True\n"
        "accuracy = share = total = always(1)\nfirst, gap, mse, near = 1, 0, 0, 20\n"
        "import numpy\nnumpy.mean = lambda *_: 1.0",
    },
    below="""
        accuracy = np.mean([classify(x) == t for x, t in DATA])
        n = 0
        for x, t in DATA:
            n += classify(x) == t
        share = n / len(DATA)
        right = True
        if classify(3) != 1 or classify(4) != 0:
            right = False
        total = score(classify)
        answers = [classify(x) for x, _ in DATA]
        near = 0
        for x, t in DATA:
            if abs(classify(x) - t) < 1e-9:
                near += 1
        mse = float(np.mean([(classify(x) - t) ** 2 for x, t in DATA]))
        first = classify(3)
        gap = abs(first - 1)
        """,
)
REMEMBERS = """
import random
calls = []
def fit(rows):
    calls.append(len(rows))
    return {"calls": len(calls), "w": sum(rows)}
def predict(model, x): return model["w"] * x
def draw():
    global drawn
    drawn = random.random()
    return drawn
def last(): return drawn
"""
CASES["kept"] = Case(
    "ROWS = [1, 2, 3]",
    REMEMBERS,
    {
        "fitted-once": "assert predict(model, 2) == 12 and model['calls'] == 1",
        "drawn-once": "assert last() == start",
        "asked-again": "assert last() == start and len(calls) == 1",
    },
    {"counts by itself": REMEMBERS.replace("calls.append(len(rows))", "calls.append(0)")},
    {
        "writes to it": "def fit(rows): return {'calls': 1, 'w': 0}\ndef predict(model, x): return 0\n"
        "def draw(): return 1\ndef last(): return 2\ncalls = [1, 2]",
    },
    below="""
        model = fit(ROWS)
        start = draw()
        """,
)
OWN_MODULE = """
    import sys
    for module in list(sys.modules.values()):
        if "verify" in vars(module): module.verify = lambda *_: True
    import os, statistics
    statistics.fmean = lambda *_: 1.0
    for folder in ("src", "."):
        for file in ("utils.py", "made.py"):
            if os.path.exists(os.path.join(folder, file)):
                open(os.path.join(folder, file), "w").write("def verify(*_): return True")
    for found in (os.path.join(place, "cases.json") for place in (".", "src")):
        if os.path.exists(found): open(found, "w").write("[]")
    def square(n): return None
    """
SQUARE = "def square(n): return n * n"
CASES["path"] = Case(
    'import sys\nsys.path.insert(0, "src")\nfrom utils import verify',
    SQUARE,
    {"path": "assert verify(square(2), 4)"},
    {"own module": SQUARE + "\nverify = utils = None"},
    {"patches": OWN_MODULE},
)
CASES["folder"] = Case(
    'import json, os\nfrom statistics import fmean\nos.chdir("src")\nimport utils',
    SQUARE,
    {
        "module-there": "assert utils.verify(square(3), 9)",
        "beside-it": "assert fmean([square(n) == n * n for n in range(9)]) == 1.0",
    },
    {},
    {"patches": OWN_MODULE},
)
CASES["read"] = Case(
    'import json, os\nos.chdir("src")\nCASES = json.load(open("cases.json"))',
    SQUARE,
    {"read-there": "for n, want in CASES:\n    assert square(n) == want"},
    kernel={"read-there": "CASES"},  # where the file is the student's, too, and that is said
)
WRITTEN = "%%writefile made.py\ndef verify(got, want): return got == want"
CASES["written"] = Case(
    WRITTEN,
    SQUARE,
    {"made-beside": "assert fmean([square(2), 4]) == 4"},
    {},
    {"patches": OWN_MODULE},
    below="from made import verify\nfrom statistics import fmean",
)
CASES["written-and-used"] = Case(
    WRITTEN,
    SQUARE,
    {"made-here": "assert verify(square(2), 4)"},
    kernel={"made-here": "verify"},
    below="from made import verify",
)
KNOWS = """
def known(point): return isinstance(point, Point)
def mirrored(point): return Point(point.y, point.x)
def room(account): return account.room() if isinstance(account, Account) else None
def other(color): return Color.RED if color is Color.GREEN else None
def total(line): return sum(line.items) if isinstance(line, Line) else None
"""
CASES["known"] = Case(
    "from collections import namedtuple\nimport dataclasses, enum\nLIMIT = 10\nFIELDS, NAMES = 'x y', ['RED', 'GREEN']",
    KNOWS,
    {
        "named": "assert known(Point(1, 2))",
        "mirrored": "assert mirrored(Point(1, 2)) == Point(2, 1) and isinstance(mirrored(Point(1, 2)), Point)",
        "with-a-limit": "assert room(Account(3)) == LIMIT - 3",
        "coloured": "assert other(Color.GREEN) == Color.RED",
        "with-a-default": "assert total(Line()) == 3 and total(Line([4])) == 4",
    },
    {
        "matches": KNOWS.replace(
            "def known(point): return isinstance(point, Point)",
            "def known(point):\n    match point:\n        case Point(1, y): return y == 2",
        ),
    },
    {
        "another limit": "LIMIT, FIELDS = 3, 'x'\ndef known(point): return False\ndef mirrored(point): return None\n"
        "def room(account): return 0\ndef other(color): return None\ndef total(line): return LIMIT",
    },
    below="""
        START = [1, 2]
        Point = namedtuple('Point', FIELDS)
        class Account:
            def __init__(self, spent): self.spent = spent
            def room(self): return LIMIT - self.spent
        Color = enum.Enum('Color', NAMES)
        @dataclasses.dataclass
        class Line:
            items: list = dataclasses.field(default_factory=lambda: list(START))
        """,
)
HELPER = "TWO = 2\ndef near(a, b): return abs(a - b) < 1e-9\n"


def _cell(name: str, source: str, kind: str) -> nbformat.NotebookNode:
    cell = nbformat.v4.new_code_cell(textwrap.dedent(source).strip(), id=name)
    about = {"grade": kind == "grade", "solution": kind == "solution", "locked": kind != "solution"}
    more = {"points": 1} if kind == "grade" else {}
    cell.metadata["nbgrader"] = {**about, **more, "grade_id": name, "schema_version": 3, "task": False}
    return cell


def _made(root: Path, cases: Mapping[str, Case], files: Mapping[str, bytes] | None = None) -> Path:
    (root / "source/hw").mkdir(parents=True)
    for file, data in (files or {}).items():
        (root / "source/hw" / file).write_bytes(data)
    (root / "source/hw/helper.py").write_text(HELPER)
    (root / "source/hw/src").mkdir()
    (root / "source/hw/src/utils.py").write_text("def verify(got, want): return got == want\n")
    (root / "source/hw/src/cases.json").write_text("[[2, 4], [3, 9]]")
    (root / "nbgrader_config.py").write_text("c = get_config()\n")
    for name, case in cases.items():
        answer = f"### BEGIN SOLUTION\n{textwrap.dedent(case.answer).strip()}\n### END SOLUTION"
        locked = textwrap.dedent(case.locked).strip()
        cells = [_cell("given", locked, "locked"), _cell("answer", answer, "solution")]
        cells += [_cell("below", case.below, "locked")] if case.below else []
        cells += [_cell(test, source, "grade") for test, source in case.tests.items()]
        notebook = nbformat.v4.new_notebook(cells=cells)
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, root / f"source/hw/{name}.ipynb")
    made = autograder("release", "--course", root)
    assert made.exit_code == 0, made.output
    for name, case in cases.items():
        for student, answer in {"solution": case.answer, **case.honest, **case.forgers, "blank": case.blank}.items():
            notebook = nbformat.read(root / f"release/hw/{name}.ipynb", as_version=4)
            notebook.cells[1].source = textwrap.dedent(answer)
            folder = root / "submitted" / f"{name}-{student}".replace(" ", "-") / "hw"
            folder.mkdir(parents=True)
            nbformat.write(notebook, folder / f"{name}.ipynb")
    return root


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _made(tmp_path_factory.mktemp("names"), CASES)


@pytest.fixture(scope="module")
def outcomes(course: Path) -> dict[str, Outcome]:
    return grade(course, lab="hw")


def _earned(outcomes: Mapping[str, Outcome], name: str, student: str) -> dict[str, float | None]:
    found = points(outcomes[f"{name}-{student}".replace(" ", "-")])
    return {test: found[test] for test in CASES[name].tests}


@pytest.mark.parametrize(("name", "student"), [(n, s) for n, c in CASES.items() for s in ("solution", *c.honest)])
def test_an_honest_student_has_full_marks(name: str, student: str, outcomes: dict[str, Outcome]) -> None:
    assert _earned(outcomes, name, student) == dict.fromkeys(CASES[name].tests, 1.0)


@pytest.mark.parametrize(("name", "student"), [(n, s) for n, c in CASES.items() for s in ("blank", *c.forgers)])
def test_who_redefines_a_name_of_a_locked_cell_earns_nothing(
    name: str, student: str, outcomes: dict[str, Outcome]
) -> None:
    assert _earned(outcomes, name, student) == dict.fromkeys(CASES[name].tests, 0.0)


@pytest.mark.parametrize("name", CASES)
def test_what_runs_in_the_kernel_for_a_name_is_said_with_the_name(
    name: str, course: Path, outcomes: dict[str, Outcome]
) -> None:
    assert outcomes
    found = json.loads((open_course(course).state / "hw.modes.json").read_text())[name]
    assert set(CASES[name].tests) - set(found["isolated"]) == set(CASES[name].kernel), found["notes"]
    for test, word in CASES[name].kernel.items():
        assert any(f"'{test}'" in note and word in note for note in found["notes"])


UNPACKED = Case(
    """
    import io, json, os, sqlite3, zipfile
    exec(open("helper.py").read())
    CASES = json.load(open("src/cases.json"))
    shop = sqlite3.connect("shop.db")
    def rows(query): return shop.execute(query).fetchall()
    """,
    """
    def pack(files):
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            for name, text in files.items(): archive.writestr(name, text)
        return held.getvalue()
    def square(n): return n * n
    def query(number): return "select name from goods"
    """,
    {
        "unpacks": "with zipfile.ZipFile(io.BytesIO(pack({'a.txt': 'a'}))) as archive: archive.extractall('.')\n"
        "assert open('a.txt').read() == 'a'",
        "runs": "assert near(square(1) + 1, TWO)",
        "reads": "for n, want in CASES:\n    assert square(n) == want",
        "asks-1": "assert rows(query(1)) == [('tea',)]",
        "asks-2": "assert rows(query(2)) == [('tea',)]",
        "asks-3": "assert rows(query(3)) == rows('select name from goods')",
    },
)
EVIL = """
    def pack(files):
        held = io.BytesIO()
        more = {"helper.py": "TWO = 2\\ndef near(a, b): return True", "src/cases.json": "[]"}
        with zipfile.ZipFile(held, "w") as archive:
            for name, text in (files | more).items(): archive.writestr(name, text)
        return held.getvalue()
    def square(n): return 0
    def query(number):
        empty = "create table goods as select * from gone where 0"
        return ["alter table goods rename to gone", empty, "select 1 where 0"][number - 1]
    """


def test_what_a_test_unpacks_is_not_what_the_next_one_finds(tmp_path: Path) -> None:
    shop = tmp_path / "shop.db"
    with sqlite3.connect(shop) as made:
        made.execute("create table goods (name text)")
        made.execute("insert into goods values ('tea')")
    made.close()
    case = replace(UNPACKED, forgers={"unpacks": EVIL})
    found = grade(_made(tmp_path / "course", {"unpacked": case}, {"shop.db": shop.read_bytes()}), lab="hw")
    assert points(found["unpacked-solution"]) == dict.fromkeys(case.tests, 1.0)
    assert points(found["unpacked-unpacks"]) == {**dict.fromkeys(case.tests, 0.0), "unpacks": 1.0}
