"""No answer of the student's process makes a case pass that does not ask for it, and none learns what is expected.

`AUTOGRADER_FUZZ_S` says how many seconds to spend on it; `make test-all` spends two minutes.
"""

from __future__ import annotations

import ast
import os
import re
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from autograder.grading.checks import checks_of
from autograder.release.build import find_labs
from autograder.release.source import read_source
from tests.fuzz.student_end import Move, play
from tests.labs.rows import rows_of

pytestmark = [pytest.mark.slow, pytest.mark.frameworks]

ROOT = Path(__file__).parents[2]
SECONDS = float(os.environ.get("AUTOGRADER_FUZZ_S", "8"))
_MAX_GROWTH_MIB = 700
SECRET = "7241.5"
"""What the foreign tests expect."""

FOREIGN = {
    "assert": f"assert f(3) == {SECRET}",
    "close": f"import math\nassert math.isclose(f(3), {SECRET})",
    "difference": f"assert abs(f(3) - {SECRET}) < 1e-6",
    "allclose": f"import numpy as np\nassert np.allclose(f(np.ones(3)), [{SECRET}] * 3)",
    "testing": f"import numpy as np\nnp.testing.assert_allclose(f(np.ones(3)), np.full(3, {SECRET}))",
    "norm": f"import numpy as np\nassert np.linalg.norm(f(np.eye(2)) - {SECRET}) < 1",
    "inverse": f"import numpy as np\na = np.diag([{SECRET}, 1])\nassert np.allclose(a @ f(2 * a), np.eye(2))",
    "list": f"assert list(f(3)) == [{SECRET}]",
    "sorted": f"assert sorted(f([3, 1])) == [{SECRET}, 9]",
    "dict": f"assert f('word') == {{'a': {SECRET}}}",
    "membership": f"assert {SECRET} in f(3)",
    "length": f"assert len(f(3)) == 7241\nassert f(3)[0] == {SECRET}",
    "class": f"x = Thing(3)\nx.add(4)\nassert x.total() == {SECRET} and x.name == 'secret'",
    "unittest": f"import unittest\ncase = unittest.TestCase()\ncase.assertAlmostEqual(f(1), {SECRET})",
    "unittest list": f"import unittest\nunittest.TestCase().assertListEqual(f(1), [{SECRET}, 2])",
    "raises": "import unittest\nwith unittest.TestCase().assertRaises(ZeroDivisionError):\n    f(0)",
    "every": f"assert all(abs(g(x) - {SECRET}) < 1 for x in (1, 2, 3))",
    "mapped": f"assert list(map(g, [1, 2])) == [{SECRET}] * 2",
    "tensor": f"import torch\nassert torch.allclose(f(torch.ones(2)), torch.full((2,), {SECRET}))",
    "tensor equal": f"import torch\nassert torch.equal(f(torch.ones(2)), torch.full((2,), {SECRET}))",
    "loss": f"import torch\nout = f(torch.ones(2))\nloss = ((out - {SECRET}) ** 2).sum()\nassert loss.item() < 1",
    "identity": "assert f(3) is True",
    "text": f"assert str(f(3)) == '{SECRET}' and f'{{f(3):.1f}}' == '{SECRET}'",
    "type": f"assert type(f(3)) is float and f(3) > 7241 and f(3) < {SECRET} + 1",
    "callback": f"seen = []\nf(lambda x: seen.append(x) or 1.0)\nassert seen == [{SECRET}]",
    "points": f"sum(abs(f(x) - {SECRET}) < 1 for x in (1, 2)) / 1 or 1 / 0",
}


_AS_ONE = ", as one"
"""What is added to the name of a test whose objects and the student's are kept as one."""


@dataclass(frozen=True)
class Cell:
    """A test cell, and what the trusted process is told of the locked cells above it."""

    name: str
    source: str
    given: dict[str, Any] = field(default_factory=lambda: {"cells": [], "theirs": [], "level": 0})

    def secrets(self) -> list[str]:
        """Return texts that the student's process must never be sent: titles and hints of hidden cases."""
        if self.name.removesuffix(_AS_ONE) in FOREIGN:
            return [SECRET]
        calls = [node for node in ast.walk(ast.parse(self.source)) if isinstance(node, ast.Call)]
        hidden = [c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "hidden_case"]
        texts = [
            v.value for c in hidden for v in [*c.args, *(k.value for k in c.keywords)] if isinstance(v, ast.Constant)
        ]
        return [text for text in texts if isinstance(text, str) and len(text) > 12]


@cache
def _cells() -> list[Cell]:
    found = [Cell(name, source) for name, source in FOREIGN.items()]
    found += [Cell(f"{cell.name}{_AS_ONE}", cell.source, cell.given | {"mirrors": True}) for cell in found]
    for lab in find_labs(ROOT / "solutions"):
        source = read_source(lab)
        rows = rows_of(source)
        checks = checks_of(rows)
        # A launch of the test's own functions takes seconds and asks the student's end nothing.
        tests = [c for c in source.cells if c.test and "in_fresh_process" not in c.source]
        found += [Cell(f"{lab.name}/{c.grade_id}", c.source, checks.given_to(c.grade_id)) for c in tests]
    return found


# ----------------------------------------------------------------------------------------------------------- the moves
_CLASSES = ("builtins.float", "builtins.int", "builtins.str", "builtins.list", "builtins.dict", "builtins.type",
            "builtins.module", "numpy.ndarray", "numpy.float64", "torch.Tensor", "torch.nn.parameter.Parameter",
            "torch.nn.modules.module.Module", "numpy.random._generator.Generator", "__main__.Thing", "enum.Enum",
            "fractions.Fraction", "builtins.BaseException", "autograder.boundary.proxy.Proxy", "labkit.check.Score",
            "labkit._check_report.Score", "unittest.mock.MagicMock", "pandas.core.frame.DataFrame")  # fmt: skip
_ERRORS = (*("ArithmeticError", "AssertionError", "AttributeError", "EOFError", "Exception", "IndexError"),
           *("KeyError", "LookupError", "MemoryError", "NameError", "NotImplementedError", "OSError", "RecursionError"),
           *("RuntimeError", "StopAsyncIteration", "StopIteration", "TypeError", "ImportError", "ValueError"),
           *("GeneratorExit", "KeyboardInterrupt", "SystemExit", "SkipTest", "TimeLimit", "ProcessDied", "Mismatch"),
           *("ZeroDivisionError", "OverflowError", "RankError", "BaseException"))  # fmt: skip
_SHAPES: tuple[list[int], ...] = ([], [0], [1], [2], [3], [4], [2, 2], [8, 1], [2, 0], [2, 4], [2, 2, 2])
_PLAIN: list[Any] = [None, True, False, 0, 1, -1, 0.0, 1.0, "", "junk", [], [1.0], [0.5, 0.5], {"t": "tuple", "v": []},
    {"t": "dict", "v": []}, {"t": "float", "v": "nan"}, {"t": "float", "v": "inf"}, {"t": "bytes", "b": [0, 0]},
    {"t": "int", "v": "0x" + "f" * 40}, {"t": "ellipsis"}]  # fmt: skip


def _sized(shape: list[int], size: int) -> list[int]:
    number = size
    for side in shape:
        number *= side
    return [0, min(number, 64)]


def _arrays() -> Iterator[Any]:
    for shape in _SHAPES:
        yield {"t": "array", "d": "<f8", "s": shape, "b": _sized(shape, 8), "f": False}
        yield {"t": "array", "d": "|b1", "s": shape, "b": _sized(shape, 1), "f": False}
        yield {"t": "tensor", "k": "torch", "d": "float32", "s": shape, "b": _sized(shape, 4)}


HONEST: list[Move] = [("value", value) for value in [*_PLAIN, *_arrays()]]
HONEST += [("raise", (name, [name, "Exception", "BaseException", "object"], "text")) for name in _ERRORS]
HONEST += [({"value": "returns", "raise": "raises"}[kind], content) for kind, content in HONEST]
"""What a thoughtless but honest solution may answer, each alone: what it passes says nothing about the boundary."""

_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=8,
)
_names = st.lists(st.sampled_from(_CLASSES), max_size=4)
_objects = st.builds(
    lambda h, c, more: {"t": "mine", "h": h, "c": c, **more},
    st.integers(1, 6),
    _names,
    st.fixed_dictionaries({}, optional={
        "m": st.sampled_from(["numpy", "math", "torch", "os", "labkit.check", "unittest.mock"]),
        "x": st.sampled_from([*_arrays()]) | _json, "leaf": st.booleans(), "graph": st.booleans(),
        "tensor": st.booleans(), "class": st.booleans()}),
)  # fmt: skip
_strange = st.builds(
    lambda kind, more: {"t": kind, **more},
    st.sampled_from(["tuple", "set", "dict", "array", "scalar", "tensor", "framework", "slice", "range", "sympy",
                     "type", "known", "same",
                     "fraction", "decimal", "date", "yours", "name", "random", "complex", "dtype", "nothing"]),
    st.fixed_dictionaries({}, optional=dict.fromkeys(("v", "d", "s", "b", "f", "k", "n", "c", "a", "h", "m"), _json)
                          | {"at": st.tuples(st.integers(0, 3), st.booleans(), st.booleans(), st.integers(0, 2))}),
)  # fmt: skip
_answers = st.sampled_from(HONEST)
_lies = (
    st.tuples(st.just("value"), _objects)
    | st.tuples(st.just("value"), st.lists(_objects | st.sampled_from(_PLAIN), max_size=3))
    | st.tuples(st.just("value"), _strange)
    | st.tuples(st.just("raise"), st.tuples(st.sampled_from(_ERRORS), st.lists(st.sampled_from(_ERRORS), max_size=3),
                                            st.text(max_size=10)))
    | st.tuples(st.just("ask"), st.tuples(st.sampled_from(["call", "getattr", "bool", "eq", "iter", "next", "array",
                                                           "value", "name", "import", "repr", "contains", "setattr"]),
                                          st.lists(_json | _objects, max_size=2)))
    | st.tuples(st.just("raw"), st.dictionaries(st.sampled_from(["k", "value", "error", "changes", "op"]), _json))
    | st.tuples(st.just("raw"), st.fixed_dictionaries(
        {"k": st.just("reply"), "value": st.sampled_from(_PLAIN) | _strange, "mirrors": st.booleans()},
        optional={"written": st.lists(_strange, max_size=3) | _json, "rewritten": _json}))
)  # fmt: skip
_moves = st.lists(_lies | _answers, min_size=1, max_size=6)


@cache
def _easily_passed(number: int) -> frozenset[str]:
    """Return the cases of a cell that one thoughtless answer, always the same, passes."""
    cell = _cells()[number]
    passed: set[str] = set()
    for move in HONEST:
        passed |= play(cell.name, cell.source, cell.given, [move], time_s=2).passed
    return frozenset(passed)


# A test that is stopped while labkit starts its process for ranks leaves that to the sandbox; here there is none.
@pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <function Popen.__del__:pytest.PytestUnraisableExceptionWarning"
)
# The alarm that stops a test may come while Python tidies up a weak set, which goes on; it comes again.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <function WeakSet:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:Exception ignored in. <function gc_cumul:pytest.PytestUnraisableExceptionWarning")
def test_no_lie_of_the_students_process_passes_a_case_or_learns_what_is_expected() -> None:
    assert _cells()  # reading the labs takes seconds of its own
    ends = time.monotonic() + SECONDS
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tried = 0

    @settings(max_examples=25, deadline=None, database=None, phases=[Phase.generate, Phase.shrink],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(st.integers(0, len(_cells()) - 1), _moves)
    def tell(number: int, moves: list[Move]) -> None:
        nonlocal tried
        tried += 1
        cell = _cells()[number]
        outcome = play(cell.name, cell.source, cell.given, moves)
        for secret in cell.secrets():
            assert secret.encode() not in outcome.sent, (cell.name, secret)
        if outcome.passed:
            assert outcome.passed <= _easily_passed(number), (cell.name, outcome.passed - _easily_passed(number))

    while time.monotonic() < ends:
        seed(int.from_bytes(os.urandom(8)))(tell)()
    grown_mib = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{tried} conversations in {SECONDS:g} s; memory grew by {grown_mib:.0f} MiB")
    assert grown_mib < _MAX_GROWTH_MIB
    assert tried > SECONDS / 2


def test_the_fuzzer_would_notice_a_test_that_agrees_with_an_object() -> None:
    weak = Cell("weak", "x = f(3)\nassert x.same(7241.5)")
    lie: Move = ("value", {"t": "mine", "h": 1, "c": []})
    assert play(weak.name, weak.source, weak.given, [lie, lie, lie, ("value", True)]).passed == {"weak"}
    assert re.search(SECRET.encode(), play(weak.name, weak.source, weak.given, [lie]).sent)
