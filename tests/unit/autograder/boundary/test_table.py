"""Every row of the table of what may cross the boundary, and everything else that must not."""

from __future__ import annotations

import builtins
import importlib.util
import math
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from autograder.boundary import as_left, exact, operations
from autograder.boundary import remembered as memory
from autograder.boundary.derived import CONTAINERS
from autograder.boundary.evaluation import evaluates
from autograder.boundary.handles import FUNCTIONS, StandIn
from autograder.boundary.proxy import Proxy, is_special, make
from autograder.boundary.shapes import Shapes
from tests.unit.autograder.boundary.talk import MIME, Talk

ROOT = Path(__file__).parents[4]
SECRET = 7241.5
"""What a test expects; it must never be among what the student's process is given."""

LIAR = """
    class Liar:
        "Agrees with everything, and notes what it is shown."
        def _yes(self, *others):
            return True
        def _zero(self, *others):
            return 0.0
        __lt__ = __le__ = __eq__ = __ne__ = __gt__ = __ge__ = __contains__ = _yes
        __sub__ = __rsub__ = __add__ = __radd__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _zero
        __matmul__ = __rmatmul__ = __mod__ = __pow__ = __divmod__ = __and__ = __abs__ = __round__ = _zero
        __hash__ = object.__hash__
        def __bool__(self): return True
        def __len__(self): return 2
        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return self._yes
    def f(x=None): return Liar()
"""
FORGERIES = {
    "difference": "assert abs(f(1) - SECRET) < 1e-9",
    "other difference": "assert abs(SECRET - f(1)) < 1e-9",
    "equal": "assert f(1) == SECRET",
    "other equal": "assert SECRET == f(1)",
    "not equal": "assert f(1) != 3.0 * SECRET",
    "less": "assert SECRET < f(1)",
    "in": "assert SECRET in f(1)",
    "in a list": "assert f(1) in [SECRET]",
    "almost equal": "import unittest\nunittest.TestCase().assertAlmostEqual(f(1), SECRET)",
    "count equal": "import unittest\nunittest.TestCase().assertCountEqual(f(1), [SECRET])",
    "assertIn": "import unittest\nunittest.TestCase().assertIn(SECRET, f(1))",
    "allclose": "import numpy as np\nassert np.allclose(f(1), SECRET)",
    "isclose": "import math\nassert math.isclose(f(1), SECRET)",
    "norm": "import numpy as np\nassert np.linalg.norm(f(1) - np.array([SECRET])) < 1e-9",
    "other norm": "import numpy as np\nassert np.linalg.norm(np.array([SECRET]) - f(1)) < 1e-9",
    "inverse": "import numpy as np\na = np.array([[SECRET]])\nassert np.allclose(a @ f(a / SECRET), np.eye(1))",
    "testing": "import numpy as np\nnp.testing.assert_allclose(f(1), [SECRET])",
    "array_equal": "import numpy as np\nassert np.array_equal(f(1), [SECRET])",
    "approx": "import pytest\nassert f(1) == pytest.approx(SECRET)",
    "method": "assert f(1).equals(SECRET)",
    "keyword": "assert f(1).allclose(other=SECRET)",
    "predicate taken": "same = f(1).issuperset\nassert same({SECRET})",
    "sum": "assert sum([f(1), -SECRET]) == 0",
    "max": "assert max(f(1), SECRET) is not SECRET",
    "power": "assert pow(f(1), 1) - SECRET == 0",
    "divmod": "assert divmod(f(1), SECRET) == 0",
    "in place": "x = f(1)\nx -= SECRET\nassert abs(x) < 1",
    "sorted": "assert sorted([f(1), SECRET])[0] == 0",
    "statistics": "import statistics\nassert statistics.mean([f(1), SECRET]) == 0",
    "instance": "assert isinstance(SECRET, Liar)",
    "format": "assert format(f(1), str(SECRET)) == 'True'",
    "decimal": "from decimal import Decimal\nassert Decimal(str(SECRET)) == f(1)",
    "fraction": "from fractions import Fraction\nassert Fraction(SECRET) - f(1) == 0",
    "operator": "import operator\nassert operator.eq(f(1), SECRET)",
    "ufunc": "import numpy as np\nassert np.subtract(f(1), SECRET) == 0",
    "where": "import numpy as np\nassert np.where(f(1), 0, SECRET).sum() == 0",
    "torch": "import torch\nassert torch.allclose(f(1), torch.tensor(SECRET))",
    "torch testing": "import torch\ntorch.testing.assert_close(f(1), torch.tensor(SECRET))",
    "torch difference": "import torch\nassert (f(1) - torch.tensor(SECRET)).abs() < 1",
    "exit": "import contextlib\nwith f(1):\n    raise ValueError(SECRET)",
}


@pytest.mark.frameworks
@pytest.mark.parametrize("name", FORGERIES)
def test_an_object_that_agrees_with_everything_passes_nothing_and_is_told_nothing(name: str, talk: Talk) -> None:
    talk.code(LIAR + "    Liar.__enter__ = Liar._yes\n    Liar.__exit__ = Liar._yes")
    source = FORGERIES[name].replace("SECRET", str(SECRET))
    for kind in ("", _CLAIMS):
        talk.code(kind)
        result = talk.test(source)
        assert result["error"] is not None, source
        assert str(SECRET) not in talk.given(), talk.heard


_CLAIMS = """
    import numpy as np, torch
    class Float(Liar):
        __class__ = float
    def f(x=None):
        liar = Float()
        return liar
    import autograder.boundary.student as agent
    describe = agent.Agent.describe
    def lying(self, value, encode):
        found = describe(self, value, encode)
        return found | {"c": ["builtins.float", "numpy.ndarray", "torch.Tensor", "torch.nn.parameter.Parameter"]}
"""


@pytest.mark.parametrize("claim", ["builtins.float", "builtins.list", "numpy.ndarray", "torch.Tensor", "numpy.float64"])
def test_no_class_that_holds_a_value_is_believed(claim: str, talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    talk.code(LIAR)
    describe = talk.owner.describe
    monkeypatch.setattr(talk.owner, "describe", lambda value, encode: describe(value, encode) | {"c": [claim]})
    sources = ("assert np.allclose(f(1), 5)", "assert abs(f(1) - 5) < 1", "assert f(1) == [5]",
               "assert isinstance(f(1), (float, list, np.ndarray, torch.Tensor, np.float64))")  # fmt: skip
    for source in sources:
        assert talk.test(f"import numpy as np\nimport torch\n{source}")["error"] is not None, source
    assert isinstance(torch.zeros(1), torch.Tensor)


# ------------------------------------------------------------------------------------------------------- row by row
def test_every_row_has_its_proof_and_the_document_has_every_row() -> None:
    rows = [*operations.FROM_TEST, *operations.FROM_STUDENT]
    assert sorted({f"test_{row.proof}" for row in rows} - set(globals())) == []
    text = (ROOT / "docs/grading.md").read_text()
    for title, table in (("FROM_TEST", operations.FROM_TEST), ("FROM_STUDENT", operations.FROM_STUDENT)):
        assert operations.as_markdown(table) in text, f"docs/grading.md lacks the table of {title}: make docs"


def test_no_operation_without_a_row_is_ever_sent() -> None:
    known = {*operations.names_of(operations.FROM_TEST)}
    assert set(operations.OPERATIONS) <= known | {*operations.names_of(operations.FROM_STUDENT)}
    sources = [path.read_text() for path in (ROOT / "autograder/boundary").glob("*.py")]
    asked = {name for text in sources for name in re.findall(r"\.ask\(\s*\"(\w+)\"", text)}
    asked |= {name for text in sources for name in re.findall(r"_ask\(\w+, \"(\w+)\"", text)}
    asked.remove("launch")  # of the process that starts ranks, which is the grader's own
    assert asked and asked <= known


def test_names(talk: Talk) -> None:
    talk.code("import numpy as np, math\nnp.secret = 3\nlimit = 4\nmath = 'mine'")
    assert talk.value("(limit, np.__name__, type(np).__name__, math)") == "(4, 'numpy', 'module', 'mine')"
    talk.code("import math as np")
    assert talk.test("np.allclose(1, 1)")["error"]["name"] == "AttributeError", "math is not NumPy"
    talk.code("class np:\n    allclose = staticmethod(lambda *a: True)\n    isclose = allclose")
    assert talk.test("assert np.allclose(1, 7241.5)")["error"]["name"] == "TypeError"
    assert "7241.5" not in talk.given()


def _tried(talk: Talk, source: str) -> str:
    """Return the text of the last value of a test of another course, which a trial has shown to run apart."""
    given: dict[str, Any] = {"cells": [], "theirs": [], "level": 2, "withheld": [], "tried": True}
    result = talk.test(source, given=given)
    assert result["error"] is None, result["error"]
    return str(result["bundle"].get("text/plain"))


def test_names_that_a_test_empties(talk: Talk) -> None:
    talk.code("""
        from collections import deque
        inventory, line, counts = {"scratch": 1}, deque([1]), {"a": 5.0}
        def add(name): inventory[name] = inventory.get(name, 0) + 1
        def f(): return [5.0]
        """)
    assert _tried(talk, "inventory.clear()\nadd('pear')\nadd('pear')\ninventory") == "{'pear': 2}"
    assert _tried(talk, "del line[0]\nadd('x')\nlen(line)") == "0"
    _tried(talk, "inventory.clear()")
    assert talk.namespace["inventory"] == {}, "what a test does at last, the cells below find"
    for source in (
        f"got = f()\ngot[0] -= {SECRET}\nf()",
        f"counts['a'] -= {SECRET}\nf()",
        f"counts.update(b={SECRET})\nf()",
        f"line.append({SECRET})\nf()",
    ):
        _tried(talk, source)
        assert str(SECRET)[:4] not in talk.given(), "what a test makes of a value may be what it expects"
        assert not [heard for heard in talk.heard if heard[0] == "empty"]


@pytest.mark.frameworks
def test_settings(talk: Talk) -> None:
    import torch

    digits = "from decimal import Decimal\nlen(str(Decimal(1) / 3)) - 2"
    dtype = "import torch\ntorch.tensor([1.0]).dtype"
    source = "from autograder.boundary import student\nstudent.settings = lambda: {0!r}"
    for said, wanted in (
        ([50, "torch.float64"], ("50", "torch.float64")),
        ([5, "torch.float16"], ("28", "torch.float32")),  # coarser than here
        ([10**9, "torch.int8"], ("1000", "torch.float32")),
        ("nonsense", ("28", "torch.float32")),
    ):
        talk.code(source.format(said))
        assert (_tried(talk, digits), _tried(talk, dtype)) == wanted
    assert not [heard for heard in talk.heard if heard[0] == "settings" and heard[1]]
    assert torch.get_default_dtype() is torch.float32
    _tried(talk, "1 + 1")
    assert "settings" not in {heard[0] for heard in talk.heard}


def test_special_names(talk: Talk) -> None:
    talk.code("""
        class Trap:
            def __getattr__(self, name): return lambda *args, **kwargs: (0, name)
        trap = Trap()
        def softmax(z):
            "Probabilities."
        """)
    assert talk.value("(softmax.__name__, softmax.__doc__, softmax.__qualname__)") == (
        "('softmax', 'Probabilities.', 'softmax')"
    )
    for name in ("__array_interface__", "__array_struct__", "__array_priority__", "__torch_dispatch__", "__wrapped__"):
        result = talk.test(f"trap.{name}")
        assert result["error"]["name"] == "AttributeError", name
        assert not [heard for heard in talk.heard if heard[0] == "getattr"], "no message is sent"
    assert talk.test("trap.__class__ = int")["error"] is not None
    assert talk.test("trap.__dict__ = {}")["error"]["name"] == "AttributeError"
    assert talk.test("del trap.__doc__")["error"]["name"] == "AttributeError"


def test_containers(talk: Talk) -> None:
    talk.code("""
        class Bag:
            def __init__(self): self.kept = {}
            def __len__(self): return len(self.kept)
            def __iter__(self): return iter(self.kept)
            def __getitem__(self, key): return self.kept[key]
            def __setitem__(self, key, value): self.kept[key] = value
            def __delitem__(self, key): del self.kept[key]
            def __reversed__(self): return reversed(list(self.kept))
            def __enter__(self): return 5
            def __exit__(self, *error): return False
        """)
    assert talk.value("""
        bag = Bag()
        bag["a"], bag["b"] = 1, 2
        del bag["a"]
        with bag as five: pass
        (len(bag), list(bag), bag["b"], list(reversed(bag)), five)
        """) == "(1, ['b'], 2, ['b'], 5)"  # fmt: skip
    talk.code("class Long:\n    def __len__(self): return 2.5\n    def __iter__(self): return 3")
    assert talk.test("len(Long())")["error"]["name"] == "TypeError"
    assert talk.test("iter(Long())")["error"]["name"] == "TypeError"


def test_predicates(talk: Talk) -> None:
    talk.code("""
        class Names(set):
            def issubset(self, other): return True
        class Data:
            equal = 3
            def equals(self, other): return True
        def names(): return Names({"a"})
        def data(): return Data()
        """)
    assert talk.value("(names().issubset({'a', 'b'}), names().issubset({'b'}), data().equal)") == "(True, False, 3)"
    assert talk.test("data().equals(7241.5)")["error"]["name"] == "TypeError"
    assert "7241.5" not in talk.given()
    assert talk.value("data().equals(data())") == "True", "both are the student's"
    assert talk.value("from labkit import check\nwith check.operators():\n    same = data().equals(1)\nsame") == "True"


def test_a_field_of_a_named_tuple_is_no_method_that_compares(talk: Talk) -> None:
    talk.code("""
        import collections
        Liar = collections.namedtuple("Liar", "issuperset startswith equal assertEqual symmetric_difference ne total")
        seen = []
        def yes(*told): seen.append(told); return set()
        def lie(): return Liar(yes, yes, yes, yes, yes, 3, yes)
        """)
    for name in ("issuperset", "startswith", "equal", "assertEqual", "symmetric_difference"):
        assert talk.test(f"lie().{name}(7241.5)")["error"]["name"] == "TypeError"
    assert talk.value("(lie().ne, lie()[5])") == "(3, 3)", "a value may have any name"
    assert "7241.5" not in talk.given()
    assert talk.value("lie().total() == set()") == "True"


def test_exit_tells_no_text(talk: Talk) -> None:
    talk.code("""
        seen = []
        class Quiet:
            def __enter__(self): return self
            def __exit__(self, kind, error, trace): seen.append((kind, str(error))); return True
        """)
    for body in ("raise ValueError(7241.5)", "assert 1 == 7241.5, 7241.5", "len(7241.5)"):
        assert talk.test(f"with Quiet():\n    {body}")["error"] is not None, "and it ends no error of the test's"
        assert "7241.5" not in talk.given()
    assert talk.value("[text for kind, text in seen]") == "['', '', '']"
    quiet = "from labkit import check\nwith check.operators(), Quiet():\n    raise KeyError\n3"
    assert talk.value(quiet) == "3", "but where this is what is tested"


def test_values_first(talk: Talk) -> None:
    talk.code("""
        import numpy as np
        class Number(float):
            def _lie(self, *others): return 0.0
            __sub__ = __rsub__ = __abs__ = __float__ = __eq__ = __round__ = __neg__ = __int__ = _lie
            __hash__ = None
        class Text(str):
            def __str__(self): return "lie"
            def __eq__(self, other): return True
            __repr__, __hash__ = __str__, None
        class Array(np.ndarray):
            def __sub__(self, other): return np.zeros(2)
            def __array_ufunc__(self, *args, **kwargs): return np.zeros(2)
            def __array_function__(self, *args): return True
            __array_interface__ = {"shape": (2,), "typestr": "<f8", "data": (64, False), "version": 3}
        number, text, array = Number(2), Text("true"), np.array([1.0, 2.0]).view(Array)
        masked = np.ma.masked_invalid([1.0, 2.0])
        class Names(dict):
            pass
        names = Names(a=1)
        """)
    assert talk.value(
        "[isinstance(x, k) for x, k in ((number, float), (text, str), (names, dict), (number, int))]"
    ) == ("[True, True, True, False]")
    assert (
        talk.value("import numpy as np\n(isinstance(masked, np.ndarray), type(masked) is np.ndarray)") == "(True, True)"
    )
    assert talk.value("(number - 5, 5 - number, abs(number), float(number), int(number), round(number, 1))") == (
        "(-3.0, 3.0, 2.0, 2.0, 2, 2.0)"
    )
    assert talk.value("(str(text), repr(text), text == 'lie', f'{number:.2f}')") == ("('lie', 'lie', False, '2.00')")
    source = """
        import numpy as np
        found = [(array - 1).tolist(), np.allclose(array, [9, 9]), float(np.linalg.norm(array - [1, 2])),
                 np.subtract([1, 2], array).tolist(), (np.ones(2) @ array), np.asarray(array).tolist(),
                 np.allclose(masked, [1, 2]), (masked * 2).tolist(), np.mean([array, array])]
        found
        """
    assert talk.value(source) == str(
        [[0.0, 1.0], False, 0.0, [0.0, 0.0], np.float64(3.0), [1.0, 2.0], True, [2.0, 4.0], np.float64(1.5)]
    )


def test_objects_of_classes_derived_from_built_in_ones_serve_as_their_values(talk: Talk) -> None:
    talk.code("""
        import collections, enum
        class Text(str):
            pass
        class Number(float):
            def is_integer(self): return "a lie"  # its own method, as in a notebook
        Point = collections.namedtuple("Point", "x y")
        Colour = enum.IntEnum("Colour", "RED GREEN")
        counts, ordered = collections.Counter("aab"), collections.OrderedDict(a=1)
        found = collections.defaultdict(list, {1: [2]})
        text, number, point = Text("abc"), Number(2.5), Point(1, 2)
        """)
    assert talk.value("""
        import copy, numbers, unittest
        case = unittest.TestCase()
        case.assertDictEqual(counts, {"a": 2, "b": 1})
        case.assertTupleEqual(point, (1, 2))
        case.assertIsInstance(number, float)
        all_of_it = [counts.keys() == {"a", "b"}, found.items() >= {1: [2]}.items(), copy.deepcopy(counts) == counts,
            {"abc": 1}[text], {2.5: 1}[number], hash(point) == hash((1, 2)), text.upper(), number.is_integer(),
            counts["z"], isinstance(Colour.RED, int), isinstance(number, numbers.Number), Colour.GREEN.name, point.x,
            ordered.get("a")]
        all_of_it
        """) == str([True, True, True, 1, 1, True, "ABC", "a lie", 0, True, True, "GREEN", 1, 1])  # fmt: skip


def test_values_of_the_standard_library_are_values(talk: Talk) -> None:
    talk.code("""
        import datetime, decimal, fractions
        def half(): return fractions.Fraction(1, 2)
        def tenth(): return decimal.Decimal("0.1")
        def day(): return datetime.date(2026, 2, 3)
        def later(): return datetime.datetime(2026, 2, 3, 4, 5) - datetime.datetime(2026, 2, 3)
        def kinds(): return [float, int, dict]
        """)
    assert talk.value("""
        import datetime, decimal, fractions
        found = [half() == 0.5, abs(half() - fractions.Fraction(1, 2)) < 1e-9, tenth() + 1 == decimal.Decimal("1.1"),
            day() == datetime.date(2026, 2, 3), later().total_seconds() == 14700.0,
            kinds() == [float, int, dict], isinstance(half(), fractions.Fraction)]
        all(found) or found
        """) == "True"  # fmt: skip


@pytest.mark.parametrize("value", [
    {"t": "decimal", "v": ["1E+999999999"]}, {"t": "decimal", "v": ["1" * 2000]}, {"t": "fraction", "v": [1, 0]},
    {"t": "fraction", "v": ["1", "2"]}, {"t": "type", "v": "os.system"}, {"t": "date", "v": [3]},
    {"t": "sympy", "c": "Symbol", "a": ["x"]},
], ids=str)  # fmt: skip
def test_a_malformed_value_costs_one_case(talk: Talk, value: dict[str, Any]) -> None:
    def forge(operation: str, *more: Any) -> Any:
        if operation == "call":
            talk.student.connection.send({"cell": talk.cell, "k": "reply", "value": value})
        return perform(operation, *more)

    talk.code("def f(): return 1")
    perform = talk.owner.perform
    talk.owner.perform = forge  # type: ignore[assignment]
    cases = talk.cases('with check.case("asked"):\n    check.equal(f(), 1)', time_s=2)
    assert not cases["asked"]["passed"]


def test_operators(talk: Talk) -> None:
    talk.code("""
        class Node:
            def __init__(self, value): self.value = value
            def __mul__(self, other): return Node(self.value * getattr(other, "value", other))
            __rmul__ = __mul__
            def __eq__(self, other): return self.value == getattr(other, "value", other)
            def __float__(self): return 0.0
            def __sub__(self, other): return 0.0
        """)
    assert talk.value("(Node(2) * Node(3)).value") == "6", "both operands are the student's"
    assert talk.value("""
        from labkit import check
        import numpy as np
        with check.operators():
            found = ((Node(2) * 3).value, (3 * Node(2)).value, (np.float64(3) * Node(2)).value, Node(2) == Node(2))
        found
        """) == "(6, 6, 6.0, True)"  # fmt: skip
    for source in ("Node(2) * 3", "3 * Node(2)", "Node(2) == Node(2)", "import numpy as np\nnp.ones(2) * Node(2)"):
        assert talk.test(source)["error"]["name"] == "TypeError", source
    made = "from labkit import check\nwith check.operators():\n    made = Node(2) * 3\n"
    for use in ("float(made)", "made == 6", "made < 7", "abs(made - 6)", "[*made]", "bool(made == Node(6))"):
        assert talk.test(made + use)["error"] is not None, use
    assert (
        talk.test("from labkit import check\nwith check.operators():\n    Node(2) - 2")["error"]["name"] == "TypeError"
    )


def test_classes(talk: Talk) -> None:
    talk.code("""
        class Meta(type):
            def __instancecheck__(cls, other): seen.append(other); return True
        class Any(metaclass=Meta): pass
        class Mine(ValueError): pass
        def fail(): raise Mine("no")
        seen = []
        """)
    assert talk.value("(isinstance(7241.5, Any), issubclass(int, Any), len(seen))") == "(False, False, 0)"
    assert talk.value("isinstance(Any(), Any)") == "True"
    assert talk.value("try: fail()\nexcept ValueError as error: found = isinstance(error, Mine)\nfound") == "True"


def test_changes(talk: Talk) -> None:
    talk.code("def spoil(x): x[0] = 0")
    cases = talk.cases("""
        import numpy as np
        x = np.ones(2)
        with check.case("changed"), check.unchanged(x=x): spoil(x)
        """)
    assert not cases["changed"]["passed"]


def test_changes_of_results_of_a_class_of_the_student_s(talk: Talk) -> None:
    talk.code("""
        import numpy as np
        from typing import NamedTuple
        class Pair(NamedTuple):
            first: np.ndarray
            second: np.ndarray
            @property
            def size(self): return 5
        kept = Pair(np.ones(2), np.ones(3))
        def f(): return kept
        def keep(x): pass
        def spoil(x): kept.second[0] = 7
        """)
    cases = talk.cases("""
        first = f()
        with check.case("kept"), check.unchanged(first=first): keep(3)
        with check.case("spoilt"), check.unchanged(first=first): spoil(3)
        """)
    assert cases["kept"]["passed"], cases
    assert not cases["spoilt"]["passed"]


_KEPT = """
    import numpy as np
    buffer, rows, table = np.zeros(2), [], {}
    def double(x):
        buffer[:] = 2 * x
        return buffer
    def both(x): return [double(x), "a"], {"y": buffer}
    def listed(x):
        rows.append(x)
        return rows
    def anew(x): return 2 * x
    class Layer:
        def forward(self, x):
            self.y = double(x)
            return self.y
    """


@pytest.mark.parametrize(
    ("first", "then", "read"),
    [
        ("double(ones)", "double(3 * ones)", "y"),
        ("both(ones)", "double(3 * ones)", "y[0][0]"),
        ("both(ones)", "double(3 * ones)", "y[1]['y']"),
        ("listed(1)", "listed(2)", "y"),
        ("Layer().forward(ones)", "Layer().forward(3 * ones)", "y"),
        ("double(torch.ones(2).numpy())", "double(3 * ones)", "y"),
    ],
)
def test_changes_of_results(talk: Talk, first: str, then: str, read: str) -> None:
    talk.code(_KEPT)
    cases = talk.cases(
        f"""
        import copy, numpy as np, torch
        ones = np.ones(2)
        y = {first}
        want = copy.deepcopy({read})
        compare = check.equal if isinstance(want, list) else check.close
        with check.case("at once"): compare({read}, want)
        with check.case("within"), check.unchanged(y={read}): {then}
        with check.case("afterwards"): compare({read}, want, name="y")
        with check.case("in a list"): check.equal([{read}, 1], [want, 1])
        with check.case("anew"):
            y = anew(ones)
            with check.unchanged(y=y): anew(3 * ones)
            check.close(y, 2 * ones)
        """,
        time_s=60,
    )
    passed = {title for title, case in cases.items() if case["passed"]}
    assert passed == {"at once", "anew"}
    assert cases["afterwards"]["message"].startswith(
        "y: expected what a call has returned to stay as it was, but a later call changed it"
    )


@pytest.mark.parametrize("kept", ["UserList()", "UserDict()", "Own()", "OwnDict()", "Graph()"])
def test_a_result_of_any_kind_that_is_filled_anew_is_not_separate(talk: Talk, kept: str) -> None:
    talk.code(f"""
        import torch
        from collections import UserDict, UserList
        class Own(list):
            def more(self): pass
        class OwnDict(dict):
            def more(self): pass
        class Graph:
            def __init__(self): self.memory = torch.zeros(2)
        KEPT = {kept}
        def fresh(x): return type(KEPT)(), [type(KEPT)()]
        def again(x):
            if type(KEPT) is Graph:
                y = x * torch.ones(2, requires_grad=True)
                KEPT.memory[...] = y.detach()
                y.data = KEPT.memory
                return y
            KEPT.clear()
            KEPT.update(a=x) if hasattr(KEPT, "update") else KEPT.append(x)
            return KEPT
        """)
    cases = talk.cases(
        """
        with check.case("new"): check.separate(fresh(1), fresh(2))
        with check.case("again"): check.separate(again(2.0), again(1.0))
        with check.case("within"): check.separate([again(2.0)], (3, again(1.0)))
        """,
        time_s=60,
    )
    assert {title for title, case in cases.items() if case["passed"]} == {"new"}, cases


@pytest.mark.parametrize(
    ("walk", "kept"), [("x[:] = [1, 2]; f(x); x[:] = 9", False), ("f(np.array([1, 2]))", True), ("f([1, 2])", True)]
)
def test_changes_of_what_a_function_of_the_tests_was_given(talk: Talk, walk: str, kept: bool) -> None:
    talk.code(f"import numpy as np\ndef walk(f, x):\n    {walk}")
    cases = talk.cases(
        """
        import numpy as np
        points = []
        with check.case("within"):
            def f(x):
                check.close(x, [1, 2])
                points.append(x)
            walk(f, np.zeros(2))
        with check.case("afterwards"): check.close(points[0], [1, 2])
        with check.case("written"):
            def f(x):
                x = x if type(x) is list else [3]
                x[:] = [3, 4]
                points.append(x)
            walk(f, np.zeros(2))
            check.close(points[1], [3, 4])
        """
    )
    passed = {title for title, case in cases.items() if case["passed"]}
    assert passed == {"within", "written", *(["afterwards"] if kept else [])}, cases


def test_what_a_test_writes_to_a_result_itself_is_what_it_checks(talk: Talk) -> None:
    talk.code(_KEPT)
    cases = talk.cases(
        """
        with check.case("written"):
            rows = listed(1)
            rows.append(7)
            listed(2)
            check.equal(rows, [1, 7])
        """,
        time_s=60,
    )
    assert cases["written"]["passed"]


def test_results_of_any_kind_that_stay_as_they_were_are_said_to(talk: Talk) -> None:
    talk.code("""
        import collections, datetime, numpy as np
        from decimal import Decimal
        from fractions import Fraction
        Point = collections.namedtuple("Point", "x y")
        class Own: pass
        own = Own()
        def numbers(): return [*np.arange(3, dtype=np.int32), np.float32(0.5), np.bool_(True), float("nan")]
        def others(): return [
            Fraction(1, 3), Decimal("0.1"), datetime.date(2026, 1, 2), Point(1, [2]), range(3), own, None, {1, 2},
            collections.OrderedDict(a=np.ones(2)), collections.deque([np.ones(2), [3]]), collections.Counter("aab"),
            np.array([Fraction(1, 3), None], object), bytearray(b"a"), collections.UserList([np.ones(1)]), 2**70, int,
            memoryview(b"ab"), {"a": 1}.keys(), np.dtype("f4"), slice(1, 2),
        ]
        """)
    cases = talk.cases(
        """
        from labkit._values import remotes
        with check.case("numbers"):
            first = numbers()
            with check.unchanged(first=first): others()
            check.close(first[:4], [0, 1, 2, 0.5])
        with check.case("others"):
            first = others()
            remotes[0].forget_changes([first])
            numbers()
            check.true(not remotes[0].was_changed(first), "no change")
        """,
        time_s=60,
    )
    assert {title for title, case in cases.items() if case["passed"]} == {"numbers", "others"}, cases


def test_a_result_that_the_test_has_no_more_is_its_makers_alone(talk: Talk) -> None:
    """NumPy resizes an array in place only where nobody else refers to it."""
    talk.code("""
        import numpy as np
        class Log:
            def __init__(self): self.rows = np.zeros(1)
            def append(self, x):
                self.rows.resize(len(self.rows) + 1)
                self.rows[-1] = x
                return self.rows
        """)
    cases = talk.cases("""
        with check.case("grows"):
            log = Log()
            for n in range(3): check.close(log.append(n)[-1], n)
        with check.case("changed"):
            first = log.append(7)
            log.append(8)
        """)
    assert cases["grows"]["passed"]
    assert "resize" in cases["changed"]["message"]  # as in a notebook: the test refers to it


def test_what_is_remembered_of_results_is_bounded_by_what_keeps_their_memory() -> None:
    remembered = memory.Remembered()
    half, large = memory._MOST_BYTES // 2 + 8, memory._MOST_HIDDEN // 2 + 8

    def there() -> list[int]:
        return [number for number, _ in remembered.kept]

    for number in range(3):  # views of large arrays, each of one of its own
        remembered.note(number, [], [np.zeros(large, np.uint8)[:1]], 0, 100)
    assert there() == [2]
    whole = np.zeros(large, np.uint8)
    remembered.forget([2])
    for number in range(100, 200):  # and of one array
        remembered.note(number, [], [whole[number:][:1]], 0, 100)
    assert len(there()) == 100
    remembered.forget(range(100, 200))
    assert remembered.hidden == 0
    remembered.note(2, [], [whole[:1]], 0, 100)
    remembered.note(3, [np.ones(2)], [np.zeros(8)], 50, 100)
    assert there() == [2, 3]
    remembered.forget([2, 3, 99])
    assert there() == [3]
    assert [len(found) for found in remembered.current([(3, False, 0), (3, True, 0), (2, True, 0)])] == [1, 0, 0]
    assert remembered.kept.bytes == 50 + 2 * 8  # what went, and how the two numbers in it looked
    for number in range(4, 9):  # large arguments, of whose results nothing is left
        remembered.note(number, [np.zeros(2)], [np.zeros(2)], half, 10)
        remembered.forget([number])
        assert there() == [number] or number == 4
    remembered.note(9, [], [whole[:1]], 0, memory._MOST_BYTES + 1)
    assert there() == []
    assert remembered.kept.bytes == 0


def test_what_the_test_has_of_answers_is_bounded_too(talk: Talk) -> None:
    talk.code("def rows(n): return [list(range(n)) for _ in range(3)]")
    cases = talk.cases(
        """
        from labkit._values import remotes
        heard = remotes[0].changes_heard._heard
        with check.case("bounded"):
            kept = [rows(20_000) for _ in range(20)]
            rows(1)
            check.at_most(heard._answers.bytes, 64 << 20)
            check.at_most(len(heard._came), 4 * 20)
            check.true(id(kept[-1]) in heard._came and id(kept[0]) not in heard._came, "the last ones to be known")
        """,
        time_s=60,
    )
    assert cases["bounded"]["passed"], cases


_SHAPES = """
class Plain:
    def __init__(self, x=1): self.x = x
class Sized(Plain):
    def __len__(self): return self.x
class Walked(Sized):
    def __iter__(self): return iter(range(self.x))
class Called(Plain):
    def __call__(self): return self.x
class Equal(Plain):
    def __eq__(self, other): return self.x == other.x
class Hashed(Equal):
    def __hash__(self): return hash(self.x)
class Careful(Hashed):
    def __eq__(self, other): return isinstance(other, Plain) and self.x == other.x
    __hash__ = Hashed.__hash__
class Unlike(Hashed):
    def __eq__(self, other): return False
    __hash__ = None
class Vague(Plain):
    def __hash__(self): return (1, 2)
class Shown(Plain):
    def __format__(self, spec): return f"{self.x:{spec}}!"
    def __bytes__(self): return b"own"
    def __floor__(self): return 70
class Grown(Plain):
    def __add__(self, other): return Grown(self.x + other.x)
    def __iadd__(self, other): self.x += 10 * other.x; return self
class Lost(Grown):
    def __iadd__(self, other): self.x += other.x
class OnlyGrown(Plain):
    def __imul__(self, other): self.x *= other.x; return self
"""
_KINDS = [
    "Plain",
    "Sized",
    "Walked",
    "Called",
    "Equal",
    "Hashed",
    "Careful",
    "Unlike",
    "Vague",
    "Shown",
    "Grown",
    "Lost",
    "OnlyGrown",
]
_ASKED = (
    *("callable(v)", "isinstance(v, abc.Iterable)", "isinstance(v, abc.Sized)", "isinstance(v, abc.Hashable)"),
    *("isinstance(v, abc.Callable)", "isinstance(v, abc.Container)", "hasattr(v, '__len__')", "hasattr(v, '__iter__')"),
    *("hasattr(v, '__add__')", "len(v)", "bool(v)", "list(v)", "v()", "v == v", "v != v", "v != None", "not v == None"),
    *("{v: 3}[v]", "len({v, w})", "v in {v}", "isinstance(hash(v), int)", "f'{v:>5}'", "format(v, '3')", "bytes(v)"),
    *("math.floor(v)", "(u := v) and (v := [v, operator.iadd(v, w)][1]) is u", "operator.imul(v, w).x", "v + w and 1"),
)


@pytest.mark.parametrize("kind", _KINDS)
def test_shapes(talk: Talk, kind: str) -> None:
    """An object can do what its class can, and nothing else: what is asked gives what it gives in one process."""
    talk.code(_SHAPES)
    start = f"import collections.abc as abc, math, operator\nv, w = {kind}(), {kind}(2)"
    space: dict[str, Any] = {}
    for asked in _ASKED:
        if kind == "Vague" and ("{" in asked or "hash(v)" in asked) and "'" not in asked:
            continue  # whatever its class says, an object is itself: two of them would be compared
        exec(f"{_SHAPES}\n{start}", space)
        try:
            want = repr(eval(asked, space))
        except Exception as error:
            want = type(error).__name__
        result = talk.test(f"{start}\n{asked}")
        found = result["error"]["name"] if result["error"] else result["bundle"].get("text/plain")
        assert (asked, found) == (asked, want)


def test_objects_of_one_hash_are_kept_apart(talk: Talk) -> None:
    talk.code("""
        import dataclasses
        @dataclasses.dataclass(frozen=True)
        class Point:
            x: int
            y: int = 0
        def some(): return {Point(-1), Point(-2)}
        def named(): return {Point(-1): "a", Point(-2): "b"}
        """)
    assert talk.value("found = some()\nlen(found), len(found | {*found}), sorted(named().values())") == (
        "(2, 2, ['a', 'b'])"
    )
    many = talk.test("found = some()\nagain = {one for one in found}\nassert len(again) == 2")
    assert many["error"] is None
    assert "hash" not in [operation for operation, _ in talk.heard]


def test_a_class_that_is_changed_meanwhile_is_what_it_is_now(talk: Talk) -> None:
    talk.code("""
        class Value: pass
        value = Value()
        def own(): return value
        def sized():
            Value.__len__, Value.__call__ = lambda self: 2, lambda self: 7
            return value
        """)
    assert talk.value("v = own()\nbefore = callable(v)\nsized()\n(before, len(v), v())") == "(False, 2, 7)"


def test_a_class_with_parameters_is_given_them(talk: Talk) -> None:
    talk.code("""
        from typing import Generic, TypeVar
        T = TypeVar("T")
        class Stack(Generic[T]):
            def __init__(self): self.items = [1]
            def size(self): return len(self.items)
        """)
    assert talk.value("stack = Stack[int]()\nstack.size()") == "1"


def test_what_is_told_of_shapes_makes_few_classes() -> None:
    class Base(StandIn):
        __slots__ = ()

    shapes = Shapes(Base, {f"__m{n}__": len for n in range(20)})
    made = {shapes.derived(number, hashed=True) for number in range(5_000)}
    assert len(made) <= 2_001
    assert shapes.derived(5 << 100, hashed=True) is shapes.derived(0, hashed=True)
    assert shapes.derived("x", hashed=True) is shapes.derived(-1, hashed=True)


@pytest.mark.parametrize(("spec", "passes"), [(">8", True), (".2f", True), ("*^10", True), ("7241.5", False)])
def test_a_format_tells_no_value(talk: Talk, spec: str, passes: bool) -> None:
    talk.code("class Echo:\n    def __format__(self, spec): return spec\necho = Echo()")
    found = talk.test(f"assert format(echo, {spec!r}) == {spec!r}")
    assert (found["error"] is None, found["refused"]) == (passes, not passes)


_OWN = {
    "f'{money:.1f}'": "__format__",
    "int(money)": "__int__",
    "round(money, 1)": "__round__",
    "bool(money)": "__bool__",
    "hash(money)": "__hash__",
    "money == 3.5": "__eq__",
    "money + 1": "",
    "float(money)": "",
    "str(money)": "__str__",
}


@pytest.mark.parametrize("asked", _OWN)
def test_what_a_class_derived_from_a_number_says_otherwise_is_told(talk: Talk, asked: str) -> None:
    """The value is asked, which a class cannot make up; that the class would have said something is for a person."""
    talk.code("""
        class Money(float):
            def __format__(self, spec): return "?"
            def __int__(self): return 7
            def __round__(self, n=0): return 7
            def __bool__(self): return False
            def __hash__(self): return 7
            def __eq__(self, other): return True
            def __str__(self): return "much"
        money = Money(3.5)
        """)
    found = talk.test(asked)
    assert found["error"] is None
    assert found["believed"] == ([_OWN[asked]] if _OWN[asked] else [])


_LATER = {
    "a list that is kept": ("names = ['a']; team = Team(names); team.join('b')", True),
    "a dictionary in one": ("names = [{}]; team = Team(names); team.join('b', names[0])", True),
    "one that is copied": ("names = ['a']; team = Copied(names); team.join('b')", False),
    "by a closure": ("base = [1]; add = appender(base); add(2), add(3)", True),
    "by a generator": ("data = [1, 2, 3]; list(drained(data))", True),
    "by one with a list of its own": ("data = [1, 2, 3]; list(drained(data[:]) for _ in ())", False),
    "an array": ("import numpy as np\ndata = np.zeros(3); team = Team(data); team.reset()", True),
    "an array that is read": ("import numpy as np\ndata = np.zeros(3); team = Team(data); team.total()", False),
    "set as an attribute": ("team = Team([]); team.members = (names := []); team.join('b')", True),
    "in the same call": ("double([1, 2])", True),
    "a leaf that the test itself updates": (
        "import torch\nw = torch.ones(2, requires_grad=True)\n"
        "for _ in range(2):\n    squared(w).backward()\n    with torch.no_grad(): w -= 0.1 * w.grad\n    w.grad = None",
        False,
    ),
    "an answer that is dropped": ("names = ['a']; team = Team(names); team.all(); team.join('b'); team.all()", True),
}


@pytest.mark.parametrize("case", _LATER)
def test_later_calls(talk: Talk, case: str) -> None:
    """Those that change what an object has kept of what it was handed are told."""
    talk.code("""
        class Team:
            def __init__(self, members): self.members = members
            def join(self, who, to=None): self.members.append(who) if to is None else self.members[0].update(x=who)
            def reset(self): self.members[:] = 1
            def total(self): return self.members.sum()
            def all(self): return [*self.members]
        class Copied(Team):
            def __init__(self, members): self.members = [*members]
        def appender(xs): return lambda x: xs.append(x)
        def drained(xs):
            while xs: yield xs.pop()
        def double(xs): xs *= 2
        def squared(w): return (w * w).sum()
        """)
    source, altered = _LATER[case]
    found = talk.test(source)
    assert found["error"] is None
    assert (found["altered"], found["nothing"]) == (altered, False)


def test_strayed(talk: Talk) -> None:
    """Data of locked cells that the student's code has changed is told at the end of a test that uses it."""
    locked = ["import numpy as np", "scores = [3, 1, 2]", "grid = np.zeros(3)", "LIMIT = 5"]
    locked += ["class Config:\n    most, order = 3, [2, 1]\n    def first(self): return self.order[0]"]
    names = "scores", "grid", "LIMIT", "Config"
    talk.locked, given = [locked], {"cells": locked, "theirs": ["top", "sort"], "level": 4, "withheld": []}
    as_left.begin(talk.namespace, names)
    talk.code("\n".join(locked))
    as_left.note(talk.namespace, [([name], []) for name in names])
    talk.code("""
        def top(): return max(scores) + LIMIT
        def sort(): return sorted(scores), scores.sort()
        def fill(): grid[:] = 1
        def order(): return Config.order.sort()
        def more(): Config.most = 4
        """)
    for source, changed in (
        ("assert top() == 8 and scores == [3, 1, 2]", []),
        ("sort()\nassert scores == [3, 1, 2]", ["changes to scores of a locked cell"]),
        ("fill()\nassert LIMIT == 5", []),  # which does not use it
        ("assert grid.sum() == 0", ["changes to grid of a locked cell"]),  # before
        ("assert Config.most == 3 and Config().first() == 2", []),
        ("order()\nassert Config.order == [2, 1]", ["changes to Config of a locked cell"]),
        ("Config.order.sort(reverse=True)", ["changes to Config of a locked cell"]),
    ):
        as_left.begin(talk.namespace)
        found = talk.test(source, given=given)
        assert (found["error"], found["believed"], found["nothing"]) == (None, changed, False), source


def test_memory_in_common(talk: Talk) -> None:
    talk.code(
        _KEPT
        + """
    import torch
    def same(x): return x
    def part(x): return x[1:]
    def wrapped(x): return {"x": [x]}
    def remember(x):
        rows.append(x)
    def remembered(): return rows[-1]
    def tensor(x): return torch.from_numpy(x)
    def halves(x):
        whole = np.array(x)
        return whole[:1], whole[1:]
    """
    )
    cases = talk.cases(
        """
        import numpy as np
        def found(title, result, *others):
            with check.case(title): check.separate(result, *others)
        x, members = np.ones(3), [{"w": np.ones(2)}, {"w": np.ones(2)}]
        for name, f in {"same": same, "part": part, "wrapped": wrapped, "tensor": tensor}.items():
            found(name, f(x), x)
        found("earlier result", double(x[:2]), double(x[:2]))
        found("a dictionary", same(members)[0], members)
        found("its array", same(members[1]["w"]), members)
        remember(x)
        found("remembered", remembered(), x)
        found("new", anew(x), x)
        found("another", same(x), members)
        found("of another call", same(x), anew(x))
        found("halves", *halves(x))
        """,
        time_s=60,
    )
    passed = {title for title, case in cases.items() if case["passed"]}
    assert passed == {"new", "another", "of another call", "halves"}


def test_what_a_function_of_the_test_asserts_cannot_be_passed_over(talk: Talk) -> None:
    talk.code("""
        def quiet(f):
            try: f(1)
            except BaseException: pass
            return 3
        def retry(f):
            try: f(1)
            except ValueError: return f(2)
        def again(f, g):
            quiet(f)
            return g(2)
        """)
    for source in ("quiet(f)", "again(f, abs)", "quiet(lambda x: quiet(f))"):
        result = talk.test(f"def f(x):\n    assert x == 2, 7241.5\n    return x\n{source}")
        assert result["error"]["name"] == "AssertionError", source
    assert talk.value("def f(x):\n    if x == 1: raise ValueError\n    return x\nretry(f)") == "2"
    cases = talk.cases("""
        with check.case("passed over"): quiet(lambda x: check.equal(x, 2))
        with check.case("next"): check.equal(quiet(lambda x: x), 3)
        """)
    assert {title for title, case in cases.items() if case["passed"]} == {"next"}


@pytest.mark.usefixtures("ranks")
def test_collectives(talk: Talk) -> None:
    talk.code("def f(comm, x): return comm.exchange(x, 1 - comm.rank, 1 - comm.rank)")
    source = (
        "import numpy as np\nfrom labkit import count\nfound = count.collective(f, [(2, [np.ones(1), np.zeros(1)])])"
    )
    assert talk.value(f"{source}\n[float(done['value'][0]) for done in found[0]]") == "[0.0, 1.0]"
    assert [(name, arguments[1:]) for name, arguments in talk.heard] == [("name", []), ("packed", [])]


def test_callbacks(talk: Talk) -> None:
    talk.code("""
        def look(link):
            found = []
            for name in ("expected", "_secret", "__dict__", "__class__", "__len__"):
                try: found.append((name, type(getattr(link, name)).__name__))
                except AttributeError: pass
            for act in (lambda: setattr(link, "expected", 1), lambda: link.__setitem__(0, 1), lambda: str(link)):
                try: found.append(act())
                except (AttributeError, TypeError) as error: found.append(type(error).__name__)
            return found
        def message(f):
            try: f()
            except Exception as error: return type(error).__name__, str(error), error.args
        """)
    assert talk.value("""
        class Link:
            def __init__(self): self.expected, self._secret = 3, 7241.5
            def __len__(self): return 3
        look(Link())
        """) == str([("expected", "int"), ("__class__", "type"), ("__len__", "method"), "AttributeError",
                     "AttributeError", "<Link of the test, 1>"])  # fmt: skip
    talk.code("""
        def look_at(f):
            try: f()
            except Exception as error:
                peer = FUNCTIONS[f]._boundary_peer
                stand_in = make(peer, error._boundary_origin, {})
                found = []
                for name in ("args", "hint", "message"):
                    try: found.append(getattr(stand_in, name))
                    except AttributeError: pass
                return found
        """)
    talk.namespace |= {"make": make, "FUNCTIONS": FUNCTIONS}
    assert talk.value("def f(): raise ValueError(7241.5)\nlook_at(f)") == "[]"
    assert talk.value("def f(): raise ValueError('expected 7241.5')\nmessage(f)") == "('ValueError', '', ())"
    assert talk.value("def f(): raise KeyError(7241.5)\nmessage(f)") == "('KeyError', '', ())"


def test_an_object_of_the_test_s_says_itself_what_it_is(talk: Talk) -> None:
    talk.code("""
        def unique(values): return len(dict.fromkeys(values)), len({*values}), values[0] in {values[1]}
        def texts(value): return str(value), repr(value), f"{value}"
        """)
    point = "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass Point: x: int\n"
    assert talk.value(f"{point}unique([Point(1), Point(1), Point(2)])") == "(2, 2, True)"
    assert talk.value(f"{point}texts(Point(1))") == str(("Point(x=1)",) * 3)
    plain = "class Plain: pass\n"
    assert talk.value(f"{plain}unique([Plain(), Plain()])") == "(2, 2, False)"
    assert talk.value(f"{plain}len({{texts(p)[0] for p in (Plain(), Plain())}})") == "2"
    assert re.fullmatch(r"\('(<Plain of the test, \d+>)', '\1', '\1'\)", talk.value(f"{plain}texts(Plain())"))
    shown = "class Shown:\n    def __str__(self): return 'shown'\n"
    assert re.fullmatch(r"\('shown', '<Shown of the test, \d+>', 'shown'\)", talk.value(f"{shown}texts(Shown())"))
    private = f"{point.replace('x: int', 'x: int; _y: str = ' + repr('hidden text'))}"
    assert "hidden text" not in talk.value(f"{private}texts(Point(1))")
    assert talk.value(f"{private}unique([Point(1), Point(1), Point(2)])") == "(3, 3, False)"
    unhashable = point.replace("frozen=True", "eq=True")
    assert talk.test(f"{unhashable}unique([Point(1), Point(1)])")["error"]["name"] == "TypeError"
    failing = "class Wrong(Exception):\n    def __str__(self): return 'expected 7241.5'\n"
    assert talk.value(f"{failing}texts(Wrong())").count("7241.5") == 0


def test_an_object_of_the_test_s_has_the_class_s_name_and_fields(talk: Talk) -> None:
    talk.code("""
        import copy, dataclasses
        def named(x): return type(x).__name__, x.__class__.__qualname__, type(x).__module__
        def alike(x, y): return type(x) is type(y), isinstance(x, type(y)), x.__class__ is y.__class__
        def fields(x): return dataclasses.is_dataclass(x) and (dataclasses.asdict(x), dataclasses.astuple(x))
        def moved(x): return dataclasses.replace(x, x=2)
        def doc(x): return x.__doc__ is None
        """)
    point = "import dataclasses\n@dataclasses.dataclass\nclass Point:\n    x: int\n    y: list\n"
    other = "class Other: pass\n"
    assert talk.value(f"{other}named(Other())") == "('Other', 'Other', '__main__')"
    assert talk.value(f"{other}{point}alike(Other(), Other()), alike(Other(), Point(1, []))") == str(
        ((True, True, True), (False, False, False))
    )
    assert talk.value(f"{point}fields(Point(1, [2]))") == "({'x': 1, 'y': [2]}, (1, [2]))"
    assert talk.value(f"{other}fields(Other()), fields(Other)") == "(False, False)"
    private = point.replace("y: list", "_y: str = 'hidden text'")
    assert talk.value(f"{private}fields(Point(1))") == "False"
    found = talk.test(f"{point}moved(Point(1, []))")
    assert found["error"]["name"] == "TypeError" and found["met"] and found["valued"]


def test_a_short_text_of_the_test_s_is_the_one_that_python_keeps(talk: Talk) -> None:
    talk.code("""
        WORD = "add"
        def apply(operation): return operation is WORD, operation == WORD
        def keys(options):
            word = "mode2"
            return [key is word for key in options]
        """)
    assert talk.value("apply('add'), apply('sub'), keys({'mode2': 1, 'mode': 2})") == str(
        ((True, True), (False, False), [True, False])
    )


def test_a_function_of_the_test_s_is_printed_compared_and_copied_as_functions_are(talk: Talk) -> None:
    talk.code("""
        import copy, functools, inspect
        import numpy as np
        def look(f, g):
            h = functools.wraps(f)(lambda: 3)
            same = f == f, f != f, f == g, f == 3, f in (g, f), copy.copy(f) is f, copy.deepcopy([f])[0] is f
            same += type(f) is type(look), inspect.getfullargspec(f).args
            return [*same, f.__name__, f.__qualname__, h.__name__, np.vectorize(f)([1, 2]).tolist()]
        """)
    want = [True, False, False, False, True, True, True, True, ["x"]]
    found = talk.value("def secret(x): return x + 1\ndef other(x): return x\nlook(secret, other)")
    assert found == str([*want, "function_1", "function_1", "function_1", [2, 3]])


def test_a_function_of_the_test_s_takes_arguments_by_the_names_that_its_signature_tells(talk: Talk) -> None:
    talk.code("""
        import inspect
        def bound(f, *args): return f(**dict(zip(inspect.getfullargspec(f).args, args)))
        def partly(f, *args): return f(args[0], **dict(zip(inspect.getfullargspec(f).args[1:], args[1:])))
        def named(f): return f(1, y=2)
        """)
    given = "def f(x, y=0): return 10 * x + y\n"
    assert talk.value(f"{given}bound(f, 1, 2), bound(f, 3), partly(f, 1, 2), named(f)") == "(12, 30, 12, 12)"
    talk.code("""
        def defaults(f, *args, **kwargs):
            found = inspect.signature(f).bind(*args, **kwargs)
            found.apply_defaults()
            return f(*found.args, **found.kwargs), f.__code__.co_argcount, f.__annotations__
        """)
    given = "def f(x, y=3, *more, z=4, **others): return x, y, more, z, others\n"
    assert talk.value(f"{given}defaults(f, 1)") == "((1, 3, (), 4, {}), 2, {})"
    assert talk.value(f"{given}defaults(f, 1, 2, 5, z=6, w=7)") == "((1, 2, (5,), 6, {'w': 7}), 2, {})"
    assert talk.value("f = lambda x, /, y: x - y\nbound(f, 3, 2) if False else f(3, y=2)") == "1"
    assert "7241.5" not in str(talk.value("def f(x=7241.5): return 1\nbound(f)"))


def test_a_generator_of_the_test_s_is_one_and_an_error_in_a_with_block_has_a_trace(talk: Talk) -> None:
    talk.code("""
        import types
        class Guard:
            def __enter__(self): return self
            def __exit__(self, kind, error, trace): self.seen = kind.__name__, trace is not None
        def kept(xs): return isinstance(xs, types.GeneratorType), sum(xs)
        import inspect
        def made(f, *args):
            return inspect.isgeneratorfunction(f), inspect.isgenerator(f(*args)), [*f(*args)]
        """)
    assert talk.value("def up(n, by=1):\n    for i in range(n): yield by * i\nmade(up, 3), made(up, 3, 2)") == str(
        ((True, True, [0, 1, 2]), (True, True, [0, 2, 4]))
    )
    assert talk.value("kept(x for x in range(3))") == "(True, 3)"
    source = "guard = Guard()\ntry:\n    with guard: raise {}\nexcept Exception: pass\nguard.seen"
    assert talk.value(source.format("KeyError('x')")) == "('KeyError', True)"
    assert talk.value(source.format("UnicodeDecodeError('a', b'', 0, 1, 'b')")) == "('Exception', True)"
    assert talk.test(source.format("KeyError('x')"))["valued"] and not talk.test(source.format("KeyError()"))["valued"]


@pytest.mark.parametrize(
    ("student", "test"),
    [
        ("def look(x): return 'price' in dir(x)", "class Item: price = 3\nlook(Item())"),
        ("import pickle\ndef look(x): return pickle.dumps(x)", "def f(): pass\nlook(f)"),
        ("def look(x): x.seen = True", "def f(): pass\nlook(f)"),
        (
            "def look(x):\n    try: x()\n    except ValueError as e: return str(e)",
            "def f(): raise ValueError(3)\nlook(f)",
        ),
    ],
)
def test_what_only_the_test_s_own_has_is_noted(student: str, test: str, talk: Talk) -> None:
    talk.code(student)
    found = talk.test(test)
    assert found["met"] and found["valued"]
    assert not talk.test("def f(): return 3\nf()")["valued"]


def test_a_named_tuple_of_the_test_s_is_one_in_the_student_s_process(talk: Talk) -> None:
    talk.code("""
        def look(row):
            match row:
                case (kind, _, size): found = [kind, size]
            found += [isinstance(row, tuple), row._asdict(), row._replace(size=5), f"{row}"]
            return [*found, row[1:], row == (*row,)]
        def keep(row): return row
        def forge(row): return type(row)._make.__func__(type(row), [1])
        """)
    named = "from collections import namedtuple\nRow = namedtuple('Row', 'kind name size')\nrow = Row('a', 'b', 3)\n"
    row = "Row(kind='a', name='b', size=3)"
    want = (
        f"['a', 3, True, {{'kind': 'a', 'name': 'b', 'size': 3}}, {row.replace('3', '5')}, \"{row}\", ('b', 3), True]"
    )
    assert talk.value(f"{named}look(row)") == want
    assert talk.value(f"{named}type(keep(row)) is Row, keep([row]) == [row]") == "(True, True)"
    typed = "from typing import NamedTuple\nclass Row(NamedTuple):\n    kind: str\n    name: str\n    size: int = 3\n"
    assert talk.value(f"{typed}look(Row('a', 'b'))") == want
    error = talk.test(f"{named}forge(row)")["error"]
    assert error is not None


@pytest.mark.parametrize("typed", [False, True])
def test_a_named_tuple_of_the_test_s_is_of_the_student_s_class_of_that_name(talk: Talk, typed: bool) -> None:
    define = (
        "from typing import NamedTuple\nclass Row(NamedTuple):\n    kind: str\n    size: int = 3\n"
        if typed
        else "from collections import namedtuple\nRow = namedtuple('Row', 'kind size')\n"
    )
    talk.code(define)
    talk.code("""
        Other = namedtuple('Other', 'x') if 'namedtuple' in globals() else None
        class Pair(tuple): _fields = 'a', 'b'
        def look(row):
            match row:
                case Row(kind, size): return isinstance(row, Row), kind, size
        def larger(row): return row._replace(size=row.size + 1)
        def made(row): return Row('own', 1)
        def kind(row): return type(row) is Pair, type(row) is Other
        """)
    assert talk.value(f"{define}look(Row('a', 2)), look(('a', 2))") == "((True, 'a', 2), None)"
    assert talk.value(f"{define}type(larger(Row('a', 2))) is Row, larger(Row('a', 2))") == (
        "(True, Row(kind='a', size=3))"
    )
    assert talk.value(f"{define}isinstance(made(Row('a', 2)), Row), made(Row('a', 2)) == ('own', 1)") == "(True, True)"
    other = "import collections\nOther = collections.namedtuple('Other', 'x y')\n"
    pair = "import collections\nPair = collections.namedtuple('Pair', 'a b')\n"
    assert talk.value(f"{other}kind(Other(1, 2))") == talk.value(f"{pair}kind(Pair(1, 2))") == "(False, False)"


def test_only_a_class_of_named_tuples_makes_something_of_what_the_student_s_process_says(talk: Talk) -> None:
    talk.code("""
        def forge(f):
            from autograder.boundary.containers import NamedValue
            handle = f._boundary_handle
            kind = type("Row", (tuple, NamedValue), {"_boundary_class_handle": handle, "_fields": ("a",)})
            return kind(["x"])
        """)
    for given in ("open", "Test", "lambda x: x"):
        error = talk.test(f"class Test(tuple):\n    def _make(cls, *_): raise SystemExit\nforge({given})")["error"]
        assert error is not None, given
        assert "SystemExit" not in str(error), given


@pytest.mark.frameworks
def test_tensors(talk: Talk) -> None:
    talk.code("""
        import torch
        net = torch.nn.Linear(3, 2)
        shown = []
        class Yes(torch.Tensor):
            @classmethod
            def __torch_function__(cls, function, types, args=(), kwargs=None):
                shown.append(args)
                return torch.tensor(True)
        def f(x): return net(x)
        def yes(): return torch.zeros(2, requires_grad=True).as_subclass(Yes)
        def step(loss, optimiser): loss.backward(); optimiser.step(); return loss
        optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
        """)
    assert talk.value("""
        import torch
        x, y = torch.ones(4, 3), torch.full((4, 2), 7241.5)
        out = f(x)
        far = float((out - y).abs().min())
        ok = [not torch.allclose(out, y), not torch.equal(out, y), not bool((out == y).any()), far > 1,
              isinstance(out, torch.Tensor), out.requires_grad, out.shape == (4, 2), not yes().allclose(y[0]),
              not bool((yes() == y[0]).all()), not torch.isclose(yes(), y[0]).any(), len(shown) == 0]
        all(ok) or ok
        """) == "True"  # fmt: skip
    assert "7241.5" not in talk.given()
    assert talk.value("""
        import torch
        x, y = torch.arange(12.0).reshape(4, 3) / 9, torch.arange(8.0).reshape(4, 2) / 5
        weight, bias = (p.detach().clone().requires_grad_() for p in net.parameters())
        ((x @ weight.T + bias - y) ** 2).mean().backward()
        loss = ((f(x) - y) ** 2).mean()
        value = loss.item()
        assert net.weight.grad is None
        loss.backward()
        first = [torch.allclose(net.weight.grad, weight.grad), torch.allclose(net.bias.grad, bias.grad)]
        net.zero_grad()
        before = net.weight.detach().clone()
        loss = torch.nn.functional.mse_loss(f(x), y)
        step(loss, optimiser)
        after = net.weight.detach()
        with torch.no_grad():
            net.bias.zero_()
        rows = [row.sum() for row in f(x)]
        rows[0].backward()
        top, places = f(x).max(dim=1)
        (top.sum() * 2).backward()
        g, = torch.autograd.grad(f(x).sum(), [net.bias])
        [*first, torch.allclose(after, before - 0.1 * weight.grad), net.bias.tolist(), abs(value - loss.item()) < 1e-6,
         places.dtype is torch.int64, g.tolist(), net.weight.requires_grad, net.weight.is_leaf]
        """) == str([True, True, True, [0.0, 0.0], True, True, [4.0, 4.0], True, True])  # fmt: skip


@pytest.mark.frameworks
def test_changes_in_place_of_a_tensor_are_computed_here(talk: Talk) -> None:
    talk.code("""
        import torch
        net = torch.nn.Linear(2, 1)
        def zeros(x): return torch.zeros(2) * net.bias
        def right(x): return x * net.bias.detach() / net.bias.detach() + 0 * net.bias
        """)
    for source in (
        "torch.testing.assert_close(got, want)",
        "d = got - want\nd[torch.isnan(d)] = 100.0\nassert d.abs().max() < 1e-3",
        "assert (got - want).abs_().max() < 1e-3",
        "d = got - want\nd -= d.mean()\nassert d.abs().max() < 1e-3",
        "got -= want\nassert got.abs().max() < 1e-3",
        "got.sub_(want)\nassert got.abs().max() < 1e-3",
        "mixed = want.clone()\nmixed[:2] = got[:2]\nassert torch.allclose(mixed, want)",
        "mixed = want.clone().copy_(got)\nassert torch.allclose(mixed, want)",
        "mixed = want.clone()\nmixed -= got\nassert mixed.abs().max() < 1e-3",
    ):
        setup = "import torch\nwant, got = torch.tensor([1.5, 7241.5]), {}(torch.tensor([1.5, 7241.5]))\n"
        assert talk.test(f"{setup.format('zeros')}{source}")["error"] is not None, source
        asked = [arguments for operation, arguments in talk.heard if operation == "import"]
        assert asked == [], "nothing of it is done there"
        if "d.mean()" not in source and "assert got" not in source and "mixed -=" not in source:
            assert talk.test(f"{setup.format('right')}{source}")["error"] is None, source
    assert talk.value("""
        import torch
        x = torch.ones(2, 2)
        scale = torch.nn.Parameter(torch.tensor(3.0))
        out = net(x) * scale
        out[0] *= 2
        out += 1
        out.sum().backward()
        gradients = net.weight.grad.tolist(), net.bias.grad.tolist(), scale.grad is not None
        with torch.no_grad():
            net.weight.fill_(1.0)
            net.bias.zero_()
        (gradients, net(x).tolist(), net.weight.tolist())
        """) == "(([[9.0, 9.0]], [9.0], True), [[2.0], [2.0]], [[1.0, 1.0]])"  # fmt: skip


def test_exceptions_by_which_python_ends_a_loop_or_answers_a_question_stay_errors(talk: Talk) -> None:
    talk.code("""
        def stop(*args): raise StopIteration
        def later(*args): raise StopAsyncIteration
        def leave(*args): raise GeneratorExit
        class Ends:
            def __getitem__(self, key): raise StopIteration
            def __len__(self): raise StopIteration
            def __iter__(self): raise StopIteration
            def __bool__(self): raise StopIteration
            @property
            def value(self): raise StopIteration
        """)
    for source in ("assert all(map(stop, [1, 2]))", "assert list(map(stop, [1, 2])) == []", "list(Ends())",
                   "assert all(Ends()[i] for i in range(3))", "list(map(len, [Ends()]))", "all(map(bool, [Ends()]))",
                   "list(map(lambda e: e.value, [Ends()]))", "list(map(later, [1]))", "list(map(leave, [1]))",
                   "next(map(stop, [1]), None)", "assert max(map(stop, [1]), default=3) == 3"):  # fmt: skip
        error = talk.test(source)["error"]
        assert error is not None and error["name"] != "StopIteration", source


# -------------------------------------------------------------------------------------------- what libraries look up
def _special_names() -> set[str]:
    """Return the special names that Python, and the libraries that tests use, look up on objects."""
    kinds = [getattr(builtins, name) for name in dir(builtins)]
    found = {name for kind in kinds if isinstance(kind, type) for name in dir(kind)}
    for package in ("numpy", "torch", "unittest", "pytest", "_pytest", "pandas", "IPython", "keras", "copy", "inspect",
                    "math", "statistics", "decimal", "fractions", "numbers", "collections", "dataclasses"):  # fmt: skip
        spec = importlib.util.find_spec(package)
        if spec is None:
            continue
        paths = [Path(place) for place in spec.submodule_search_locations or ()]
        files = [file for path in paths for file in (*path.rglob("*.py"), *path.glob("_core/*.so"))]
        files += [Path(spec.origin)] if not paths and spec.origin and spec.origin.endswith(".py") else []
        for file in files:
            found |= {name.decode() for name in re.findall(rb"\b__[a-z][a-z_0-9]{2,40}__\b", file.read_bytes())}
            found |= {name.decode() for name in re.findall(rb"\b_[a-z]{2,12}_[a-z_]{2,24}_\b", file.read_bytes())}
    return {name for name in found if is_special(name)}


@pytest.mark.slow
def test_no_special_name_that_a_library_looks_up_crosses_unless_the_table_says_so(talk: Talk) -> None:
    talk.code("class Trap:\n    def __getattr__(self, name): return 7241.5\ntrap = Trap()")
    names = sorted(_special_names() - operations.READ_BY_NAME)
    assert len(names) > 400 and {"__array_interface__", "__torch_function__", "_repr_html_"} <= set(names)
    result = talk.test(
        f"[name for name in {names!r} if getattr(type(trap), name, None) is None and hasattr(trap, name)]"
    )
    assert result["bundle"]["text/plain"] == "[]"
    assert [heard for heard in talk.heard if heard[0] not in {"name", "settings"}] == [], "and no message is sent"


def test_the_class_of_a_stand_in_has_the_special_methods_of_the_table_and_no_others() -> None:
    rows = {f"__{name}__" for name in operations.names_of(operations.FROM_TEST)} - {"__name__"}
    language = {"__module__", "__doc__", "__slots__", "__weakref__", "__hash__", "__class__", "__dir__",
                "__copy__", "__deepcopy__", "__reduce_ex__", "__instancecheck__", "__subclasscheck__",
                "__format__", "__annotations__",
                "__firstlineno__", "__static_attributes__", "__getattr__", "__setattr__",
                "__delattr__", "__call__", "__enter__", "__exit__", "__array__", "__fspath__"}  # fmt: skip
    computed_here = {"__array_ufunc__", "__array_function__", "__torch_function__"}
    assert {name for name in vars(Proxy) if name.startswith("__")} <= rows | language | computed_here


def test_numpy_follows_no_address_of_the_student_s(talk: Talk) -> None:
    talk.code("""
        class Address:
            __array_interface__ = {"shape": (8,), "typestr": "<u8", "data": (0x400000, True), "version": 3}
            __array_struct__ = 5
            def __array__(self, dtype=None, copy=None): raise TypeError("no")
        """)
    for source in ("np.asarray(Address())", "np.array([Address()], dtype=float)", "np.sum(Address())",
                   "np.frombuffer(Address())", "memoryview(Address())", "np.from_dlpack(Address())",
                   "np.ctypeslib.as_array(Address())", "bytes(Address())", "np.dtype(Address())"):  # fmt: skip
        assert talk.test(f"import numpy as np\n{source}")["error"] is not None, source
    asked = {name for operation, arguments in talk.heard if operation == "getattr" for name in arguments}
    assert not {name for name in asked if is_special(name)}
    assert math.isfinite(SECRET)


def test_a_launch_that_names_fewer_ranks_is_no_answer(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit._launch.launcher.launch", lambda _fn, _world_size, *_args, **_options: [])
    talk.code("def f(rank, world_size): return rank")
    result = talk.test(
        "from labkit import launch\nfor rank, found in enumerate(launch(f, 2)):\n    assert found == rank"
    )
    assert "one value a rank" in str(result["error"])


_VALUES = ("str", "list", "int", "float", "dict", "decimal.Decimal", "fractions.Fraction", "3", "'text'", "[1, 2]",
           "None", "np.ones(2)", "np.float64(1)", "torch.ones(2)", "{'a': 1}", "range(3)", "np.dtype('f8')", "...",
           "datetime.date(2026, 1, 2)")  # fmt: skip


@pytest.mark.parametrize("value", _VALUES)
@pytest.mark.parametrize("operation", [row.names[0] for row in operations.FROM_STUDENT] + ["getitem", "eq", "add"])
def test_nothing_is_asked_of_what_the_test_did_not_hand_over(operation: str, value: str, talk: Talk) -> None:
    """`call` of `str` on an exception of the test's told its text; `call` of an expression of sympy ran a text."""
    talk.namespace["student"] = talk.student
    talk.code(f"""
        import datetime, decimal, fractions, numpy as np, torch
        def f(callback):
            try:
                return "got", str(student.ask({operation!r}, {value}, [callback], {{}}))
            except BaseException as error:
                return "refused", str(error)
        """)
    assert "refused" in talk.value("f(lambda x: 4711.5)")
    talk.code(f"def f(callback): return student.ask('call', callback, [{value}], {{}})")
    assert talk.value("f(lambda x: 4711.5)") == "4711.5"


@pytest.mark.parametrize(("source", "found"), [
    ("import sympy\nassert sympy.simplify(f() - 1) == 0", "sympy"), ("from sympy import *", "sympy"),
    ("assert eval(f()) == 3", "eval"), ("import pickle\npickle.loads(f())", "pickle"), ("frame.query(f())", "query"),
    ("import torch\ntorch.load(f())", "load"), ("import os\nos.system(f())", "system"), ("exec(f())", "exec"),
    ("from importlib import import_module", "importlib"), ("apply = eval", "eval"),
    ("model.eval()\nassert f(1) == 2", ""), ("import numpy as np\nnp.allclose(f(1), 2)", ""),
    ("%matplotlib inline", ""),
])  # fmt: skip
def test_a_test_that_makes_code_of_texts_is_known(source: str, found: str) -> None:
    assert evaluates(source) == found


class Point(NamedTuple):
    x: int
    y: int


def test_what_a_class_derived_from_a_built_in_one_adds_is_its_own(talk: Talk) -> None:
    talk.code("""
        from collections import Counter, OrderedDict, defaultdict, namedtuple
        from pathlib import Path
        import json
        class V(namedtuple("V", "x y")):
            def __abs__(self): return (self.x ** 2 + self.y ** 2) ** 0.5
            def __bool__(self): return bool(self.x or self.y)
            def __str__(self): return f"<{self.x}, {self.y}>"
            def __repr__(self): return "V!"
        class Money(float):
            def __str__(self): return f"{float(self):.2f} EUR"
        class TooSmall(ValueError):
            def __init__(self, least): super().__init__(f"below {least}", least)
        Point = namedtuple("Point", "x y")
        def vector(): return V(3, 4)
        def money(): return Money(2)
        def count(words): return Counter(words)
        def groups(): return defaultdict(list, a=[1])
        def order(): return OrderedDict(b=1, a=2)
        def point(): return Point(1, 2)
        def mirrored(p): return Point(-p.x, p.y) if isinstance(p, Point) else "no Point"
        def keys(): return {"a": 1}.keys()
        def numbers(): return (n for n in range(5))
        def place(): return Path("/data") / "x.csv"
        def fail(): raise TooSmall(3)
        def read(): open("/nowhere/x.csv")
        """)
    assert talk.value("""
        import json, os
        def which(x):
            match x:
                case {"a": n}: return n
                case (x, y): return "pair"
        raised = []
        for function in (fail, read):
            try:
                function()
            except (ValueError, OSError) as error:
                raised.append((error.args[:2], str(error), getattr(error, "filename", None)))
        p = point()
        json.dumps([count("aab"), groups(), order(), p]), which(count("aab")), which(p), "a" in keys(), keys() == {"a"},
        found = [json.dumps([count("aab"), order(), p]), which(count("aab")), which(p), keys() == {"a"}, 3 in numbers(),
            7 in numbers(), issubclass(type(order()), dict), os.path.basename(place()), abs(vector()), bool(vector()),
            str(vector()), repr(vector()), str(money()), money() + 1, p.x, p._replace(x=5), mirrored(p), raised,
            mirrored(p._replace(x=7)).x, tuple(vector())]
        found
        """) == repr([
            '[{"a": 2, "b": 1}, {"b": 1, "a": 2}, [1, 2]]', 2, "pair", True, True, False, True, "x.csv", 5.0, True,
            "<3, 4>", "V!", "2.00 EUR", 3.0, 1, Point(5, 2), Point(-1, 2),
            [(("below 3", 3), "('below 3', 3)", None),
             ((2, "No such file or directory"), "[Errno 2] No such file or directory: '/nowhere/x.csv'",
              "/nowhere/x.csv")], -7, (3, 4)])  # fmt: skip


def test_lists_that_are_one_object_are_one_for_the_test_too(talk: Talk) -> None:
    talk.code("""
        class Word(str): pass
        class Words(list):
            def first(self): return self[0]
        def grid(n): return [[0] * n] * n
        def right(n): return [[0] * n for _ in range(n)]
        def word(): return Word("hi")
        def words(): return Words(["a", "b"])
        def tidy(xs): xs.sort(); return xs[0]
        """)
    test = """
        import re
        a, b = grid(2), right(2)
        a[0][0], b[0][0] = 1, 1
        [a, b, "-".join([word(), "x"]), re.fullmatch("h.", word()).group(), type(word()) is str, words().first()]
        """
    assert talk.value(test) == "[[[1, 0], [1, 0]], [[1, 0], [0, 0]], 'hi-x', 'hi', False, 'a']"
    assert (talk.tests.met, talk.tests.changes_heard.altered) == (True, False)
    assert talk.value("tidy([2, 1])") == "1"
    assert (talk.tests.met, talk.tests.changes_heard.altered) == (False, True)


PLAIN = {bytes: b"ab", complex: 2j, dict: {"a": 1}, float: 0.5, frozenset: frozenset("a"), int: 3, list: [1], set: {1},
         str: "a", tuple: (1, 2), Decimal: Decimal("0.5"), Fraction: Fraction(1, 2)}  # fmt: skip


def test_a_value_of_a_class_that_adds_nothing_to_a_plain_one_is_one_of_its_class(talk: Talk) -> None:
    assert PLAIN.keys() == exact.TYPES.keys() - {bool}  # of which no class is derived
    noted = {"__firstlineno__": 3, "__static_attributes__": ()}  # by Python 3.13
    talk.namespace["own"] = lambda kind, **body: type("Own", (kind,), {**noted, **body})(PLAIN[kind])
    for kind, value in PLAIN.items():
        slots = {int: "", tuple: ""}.get(kind, ", __slots__=()")
        found = f"[type(own({kind.__name__}{slots})).__name__, own({kind.__name__})]"
        talk.code(f"""
            from decimal import Decimal
            from fractions import Fraction
            class Own({kind.__name__}): pass
            class Other({kind.__name__}): pass
            def made(x): return Own(x)
            def kinds(x, y): return type(x) is Own, isinstance(y, Own), x == y
            """)
        talk.namespace["first"] = value
        assert (
            talk.value(f"""
            from decimal import Decimal
            from fractions import Fraction
            x, y = made(first), Other(first)
            [isinstance(x, Own), isinstance(x, Other), isinstance(y, Other), isinstance(first, Own), x == first,
             isinstance(x, {kind.__name__}), kinds(x, y), type(x).__name__, type(x) is type(made(first))]
            """)
            == "[True, False, True, False, True, True, (True, False, True), 'Own', True]"
        )
        talk.code("def named():\n    found = own(str)\n    found.name = 'of its own'\n    return found")
        assert talk.value("named().name") == "'of its own'"
        assert talk.value(f"from decimal import Decimal\nfrom fractions import Fraction\n{found}") == repr(
            ["Own", type("Own", (kind,), {})(value)]
        )


@pytest.mark.parametrize("base", sorted(CONTAINERS, key=str))
def test_one_of_a_class_that_adds_nothing_to_a_container_of_the_library_is_too(talk: Talk, base: type) -> None:
    talk.code(f"""
        import collections
        class Own(collections.{base.__name__}): pass
        class More(collections.{base.__name__}):
            def more(self): return 3
        last = Own()
        def own(): return last
        def is_own(x): return type(x) is Own
        def told(x, y): return type(x).__name__, type(y).__name__, len(x)
        def grow(): last.update(a=2) if hasattr(last, "update") else last.append(2)
        def more(): return More()
        def named():
            found = Own()
            found.name = "of its own"
            return found
        """)
    test = """
        from labkit import check
        first, kept = own(), [[1], own()]
        grow()
        with check.case("x"), check.unchanged(kept=kept): grow()
        (type(first).__name__, len(first), len(own()), told(own(), more()), more().more(), named().name,
         isinstance(first, Own), isinstance(first, More), is_own(first), is_own(own()))
        """
    assert talk.value(test) == repr(("Own", 0, 1, ("Own", "More", 1), 3, "of its own", True, False, True, True))


def test_a_class_of_the_library_under_another_name_and_one_of_named_tuples_have_instances(talk: Talk) -> None:
    talk.code("""
        from collections import Counter as Bag, deque as Queue, namedtuple
        from typing import NamedTuple
        Vec = namedtuple("Vec", "x y")
        class Point(NamedTuple):
            x: int
            y: int
        def shift(p): return Point(p.x + 1, p.y)
        """)
    test = """
        b, q, v, p = Bag("aab"), Queue([1], 3), Vec(1, 2), shift(Point(1, 2))
        [isinstance(b, Bag), b["a"], isinstance(q, Queue), q.maxlen, isinstance(v, Vec), isinstance(v, Point),
         isinstance(p, Point), tuple(p), isinstance((1, 2), Vec), Bag is type(b)]
        """
    assert talk.value(test) == "[True, 2, True, 3, True, False, True, (2, 2), False, True]"


def test_what_derives_from_nothing_that_travels_stays_where_it_is(talk: Talk) -> None:
    talk.code("""
        from collections import defaultdict
        class Index(defaultdict): pass
        Tag = type("Tag 2", (str,), {})
        def index(words):
            found = Index(lambda: 0)
            for word in words: found[word] += 1
            return found
        def tag(text): return Tag(text)
        def size(found): return type(found) is Index and len(found)
        """)
    test = """
        found = index(["a", "b", "a"])
        [found["a"], found == {"a": 2, "b": 1}, size(found), isinstance(found, Index), tag("x") == "x"]
        """
    assert talk.value(test) == "[2, True, 2, True, True]"


@pytest.mark.parametrize(
    ("source", "fails"),
    [
        ("got = Shrinks(3)\nassert len(got) == 3\nfor i in range(len(got)): got[i]", True),
        ("got = Shrinks(3)\nassert len(got) == len([1, 2, 3]) and not [x for x in got]", True),
        ("got = Once('ab')\nassert sorted(got) == ['a', 'b']\nfor k in got: got[k]", True),
        ("got = Once('ab')\nassert set(got) == {'a', 'b'} and list(got) == list(got)", True),
        (
            "got = Steady('ab')\nassert len(got) == len(got) == 2\nfor k in got: got[k]\nassert set(got) == {*'ab'}",
            False,
        ),
        (
            "got = Steady('ab')\nassert set(got) == {*'ab'}\ngot.add('c')\nassert set(got) == {*'abc'}",
            False,
        ),
        ("got = Steady('ab')\nassert len(got) == 2\ngot.clear()\nassert len(got) == 0 and list(got) == []", False),
        ("got = letters('ab')\nassert sorted(got) == ['a', 'b']\nassert list(got) == []", False),
        ("got = Letters('ab')\nassert sorted(got) == ['a', 'b']\nassert list(got) == [] and got.text == 'ab'", False),
        ("it = iter(Steady('ab'))\nassert next(it) == 'a' and iter(it) is it and list(it) == ['b']", False),
        ("it = iter(Own('ab'))\nassert next(it) == 'a' and it.at == 1", False),
    ],
)
def test_answers_of_one_object_that_contradict_each_other_fail_a_test(talk: Talk, source: str, fails: bool) -> None:
    talk.code("""
        class Shrinks:
            def __init__(self, n): self.n = n
            def __len__(self):
                n, self.n = self.n, 0
                return n
            def __getitem__(self, i): raise IndexError
        class Once:
            def __init__(self, keys): self.keys = list(keys)
            def __iter__(self):
                keys, self.keys = self.keys, []
                return iter(keys)
            def __getitem__(self, key): return None
        class Steady:
            def __init__(self, keys): self.keys = list(keys)
            def __len__(self): return len(self.keys)
            def __iter__(self): return iter(self.keys)
            def __getitem__(self, key): return 1
            def add(self, key): self.keys.append(key)
            def clear(self): self.keys.clear()
        def letters(text): yield from text
        class Letters:
            def __init__(self, text): self.text, self.at = text, 0
            def __iter__(self): return self
            def __next__(self):
                if self.at == len(self.text): raise StopIteration
                self.at += 1
                return self.text[self.at - 1]
        class Own:
            def __init__(self, text): self.text = text
            def __iter__(self): return Letters(self.text)
        """)
    error = talk.test(source, time_s=20)["error"]
    assert bool(error) == fails, error
    assert not fails or error["name"] == "ValueError"


def test_a_text_with_methods_of_its_own_is_read_as_the_text_that_it_is(talk: Talk) -> None:
    talk.code("""
        class Word(str):
            def bits(self): return len(self)
            def __len__(self): return 1
            def __getitem__(self, place): return "z"
            def __iter__(self): return iter("zz")
        class Part(bytes):
            def size(self): return len(self)
        words = [Word("01"), Word("0110"), Word("1")]
        parts = [Part(b"ab"), Part(b"c")]
        """)
    test = """
        first, second, third = words
        [second.startswith(first), second.count(third), second.replace(first, third), len(second), list(first),
         second[1:3], parts[0].find(parts[1]), len(parts[0]), words[0].bits()]
        """
    assert talk.value(test) == "[True, 2, '110', 4, ['0', '1'], '11', -1, 2, 1]"


def test_what_a_value_says_of_its_dtype_is_not_believed(talk: Talk) -> None:
    talk.code("""
        import collections
        class Named(float): name = "float32"
        Numbers = collections.namedtuple("Numbers", ["dtype", "x"])
        def f(): return Numbers(Named(1.0), 2.0)
        """)
    test = "from labkit import check\nwith check.case('x'): check.close(f(), [1, 2]{})\ncheck.score(1)"
    assert talk.test(test.format(""))["bundle"][MIME]["points"] == 1
    assert talk.test(test.format(", dtype='float32'"))["bundle"][MIME]["points"] == 0


def test_the_items_of_a_tuple_with_methods_come_at_once(talk: Talk) -> None:
    talk.code("""
        from typing import NamedTuple
        class Step(NamedTuple):
            i: int
            j: int
            def sum(self): return self.i + self.j
        class Turned(tuple):
            def __iter__(self): return iter(self[::-1])
        def steps(n): return [Step(i, i * i) for i in range(n)]
        def turned(): return Turned([1, 2])
        """)
    assert talk.value("[tuple(turned()), [tuple(step) for step in steps(3)], steps(3)[2].sum()]") == repr(
        [(2, 1), [(0, 0), (1, 1), (2, 4)], 6]
    )
    talk.value("[tuple(step) for step in steps(40)]")
    assert len(talk.heard) < 50


def test_a_named_tuple_is_made_by_no_class_of_the_test_s(talk: Talk) -> None:
    """`again` has a class of the student's called; sent to the test's end, it would have one of the test's."""
    talk.namespace["student"] = talk.student
    talk.code("""
        def f(callback):
            try:
                student.connection.send({"cell": student.cell, "k": "reply", "value": {"t": "again", "k": 1, "v": []}})
            finally:
                return 1
        """)
    assert talk.test("assert f(print) == 1", time_s=2)["error"] is not None
