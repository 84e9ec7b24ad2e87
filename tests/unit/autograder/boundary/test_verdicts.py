"""Data of locked cells that is made by comparing is found, with all that it is made of."""

from __future__ import annotations

import pytest

from autograder.boundary.given import CLASSES, FUNCTIONS, names_made
from autograder.boundary.locked import all_statements
from autograder.boundary.verdicts import verdicts

CHECKER = (
    "class Checker:\n    def __init__(self, cases): self.cases, self.failed = cases, []\n"
    "    def run(self, f):\n        self.failed += [x for x, t in self.cases if f(x) != t]\n        return self.failed"
)
GIVEN = "import numpy as np\nDATA = [(x, x % 2) for x in range(20)]"


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("accuracy = np.mean([classify(x) == t for x, t in DATA])", {"accuracy"}),
        ("ok = classify(3) == 1", {"ok"}),
        ("agree = np.allclose(classify(2), 3)", {"agree"}),
        ("n = 0\nfor x, t in DATA:\n    n += classify(x) == t\nshare = n / 20", {"n", "share"}),
        ("right = True\nif classify(1) != 1:\n    right = False", {"right"}),
        ("def score(f): return sum(f(x) == t for x, t in DATA)\ntotal = score(classify)", {"total"}),
        ("def score(f): return f(1) == 1\nsure: bool = score(classify)", {"sure"}),
        ("mse = float(np.mean((classify(3) - 1) ** 2))", {"mse"}),
        ("ok = 0\nfor x, t in DATA:\n    if abs(classify(x) - t) < 1e-9:\n        ok += 1", {"ok"}),
        ("got = [classify(x) for x, _ in DATA]\nmissing = {1, 2} - set(got)", {"missing"}),
        ("got = classify(DATA)\nworst = max(map(abs, got))", {"worst"}),
        ("loss = mse_loss(classify(3), 1)", {"loss"}),
        ("fine = []\nfor x, t in DATA:\n    fine.append(classify(x) == t)", {"fine"}),
        ("off = 0.0\nfor x, t in DATA:\n    off += abs(classify(x) - t)", {"off"}),
        (
            "errors = []\nfor x, t in DATA:\n    errors.append(abs(classify(x) - t))\nmse = sum(errors)",
            {"errors", "mse"},
        ),
        (
            "try:\n    passed = all(classify(x) == t for x, t in DATA)\nexcept Exception:\n    passed = False",
            {"passed"},
        ),
        ("bad = []\nfor x, t in DATA:\n    if abs(classify(x) - t) > 1e-6:\n        bad.append(x)", {"bad"}),
        ("fine = []\nfine.append(classify(2) == 4.0)\nfine.append(classify(3) == 9.0)", {"fine"}),
        ("from contextlib import suppress\nwith suppress(Exception):\n    passed = classify(3) == 9.0", {"passed"}),
        (
            "def run_all():\n    global passed\n    passed = sum(classify(x) == t for x, t in DATA)\nrun_all()",
            {"passed"},
        ),
        ("gap = classify(classify(3) - 1)", {"gap"}),
        ("bad = list(filter(lambda p: classify(p[0]) != p[1], DATA))", {"bad"}),
        ("same = list(map(lambda p: classify(p[0]) == p[1], DATA))", {"same"}),
        ("from itertools import starmap\nsame = list(starmap(lambda x, t: classify(x) == t, DATA))", {"same"}),
        ("from operator import eq\nfine = eq(classify(2), 6)", {"fine"}),
        ("import operator\nfine = operator.eq(classify(2), 6)", {"fine"}),
        ("fit = 'no'\nmatch classify(2):\n    case 6: fit = 'yes'", {"fit"}),
        ("six = [classify(x) for x, _ in DATA].count(6)", {"six"}),
        ("left = [t for _, t in DATA]\nfor x, _ in DATA:\n    left.remove(classify(x))", {"left"}),
        ("left = {1, 2}\nleft.discard(classify(3))", {"left"}),
        ("from report import check_all\nok, failed = check_all(classify)", {"ok", "failed"}),
        ("import report\npassed = report.evaluate(lambda x: classify(x), DATA)", {"passed"}),
        ("from report import Suite\nsuite = Suite(DATA)\noutcome = suite.run(classify)", {"outcome"}),
        ("import report\nsuite = report.Suite(DATA)\nsuite.run(f=classify)", {"suite"}),
        ("from report import same\nfound = {}\nfor x, t in DATA:\n    found[x] = same(classify(x), t)", {"found"}),
        (f"{CHECKER}\nchecker = Checker(DATA)\nchecker.run(classify)", {"checker"}),
        (f"{CHECKER}\nfailed = Checker(DATA).run(classify)", {"failed"}),
        (
            "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n"
            "    same = list(pool.map(lambda c: classify(c[0]) == c[1], DATA))",
            {"same"},
        ),
        (
            "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor()\n"
            "same = list(pool.map(lambda c: classify(c[0]) == c[1], DATA))",
            {"same"},
        ),
        ("import operator\nok = list(map(operator.eq, map(classify, [1, 2]), [1, 4]))", {"ok"}),
        (
            "from operator import ne\nfrom itertools import compress\ngot = [classify(x) for x, _ in DATA]\n"
            "bad = list(compress(DATA, map(ne, got, DATA)))",
            {"bad"},
        ),
        ("import math, operator\ngot = classify(DATA)\nerr = math.fsum(map(operator.sub, got, DATA))", {"err"}),
        ("import operator\nrows = [dict(x=x, ok=operator.eq(g := classify(x), t)) for x, t in DATA]", {"rows"}),
        (
            "import difflib\nratio = difflib.SequenceMatcher(None, [classify(x) for x, _ in DATA], DATA).ratio()",
            {"ratio"},
        ),
        ("import operator\ndef same(f): return list(map(operator.eq, [f(1)], [1]))\nok = same(classify)", {"ok"}),
        ("got = classify(2)\nfine = []\nfine.append(got == 4)", {"fine"}),
        ("got = classify(2)\noff = []\noff.append(abs(got - 4))", {"off"}),
        ("fine = np.isin(classify(DATA), DATA)", {"fine"}),
        ("LOG = {}\nLOG.update(n=sum(classify(x) == t for x, t in DATA))", {"LOG"}),
        ("class Found:\n    right = sum(classify(x) == t for x, t in DATA)", {"Found"}),
        ("def off(f): return [f(x) - t for x, t in DATA]\ngaps = off(classify)", {"gaps"}),
        ("def off(f): return [f(x) / t for x, t in DATA]\nshares = off(classify)", {"shares"}),
        ("def fit(f):\n    match f(12):\n        case 144: return 1\n    return 0\nfits = fit(classify)", {"fits"}),
        ("def left(f):\n    want = [1, 4]\n    want.remove(f(2))\n    return want\nrest = left(classify)", {"rest"}),
    ],
)
def test_what_compares_is_a_verdict_and_is_computed_beside_the_test(cell: str, found: set[str]) -> None:
    imported = "from torch.nn.functional import mse_loss\n" + GIVEN
    named = {name for statement in verdicts(all_statements((imported, cell))) for name in statement.binds}
    assert found <= named
    level = CLASSES if CHECKER in cell else FUNCTIONS
    assert found <= names_made((imported, cell), {"classify"}, level)


@pytest.mark.parametrize(
    "cell",
    [
        "answer = classify(3)",
        "def train(f):\n    for i in range(9):\n        if i % 3 == 0: f(i)\n    return f\nmodel = train(classify)",
        "best = 9\nfor e in range(9):\n    if classify(e) < best:\n        best = classify(e)",
        "later = lambda: classify(3) == 1",
        "while classify(1) != 2:\n    pass",
        "answers = [classify(x) for x, _ in DATA]",
        "model = classify(DATA).fit(DATA)",
        "loss = train_and_score(DATA)",
        "model = classify(DATA)\naccuracy = model.score(DATA)",
        "weights = classify(2 * 2)",
        "after = classify(DATA, len(DATA) - 1)",
        "model = classify(X / 255).fit(list(X), epochs=3 + 2)",
        "model.fit(X / 255)",
        "from scipy.optimize import minimize\nfound = minimize(classify, 0)",
        "from functools import partial\nhalf = partial(classify, 2)",
        "class Net:\n    def fit(self, f): self.w = f(1)\nnet = Net()\nnet.fit(classify)",
        "history = []\nfor e in range(9):\n    history.append(classify(e))",
    ],
)
def test_what_is_only_made_or_trained_is_none(cell: str) -> None:
    assert not verdicts(all_statements((GIVEN, cell)), {"DATA"})


def test_what_compares_with_a_class_of_locked_cells_stays_where_that_is() -> None:
    cell = "class Box:\n    x = classify(1)\nsame = Box().x == classify(1)"
    assert "same" not in names_made((GIVEN, cell), {"classify"}, FUNCTIONS)
