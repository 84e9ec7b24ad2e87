"""Test cells in the styles of nbgrader courses, each with a right answer and one that runs and is wrong."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["CELLS", "TestCell"]


@dataclass(frozen=True)
class TestCell:
    """A test cell and what it is about.

    Attributes:
        source: as the instructor wrote it; students see all but what is hidden.
        right: code that earns all the points.
        wrong: code that earns fewer, and raises nothing.
    """

    __test__ = False  # for pytest

    source: str
    right: str
    wrong: str
    points: float = 2


def _cell(visible: str, hidden: str, right: str, wrong: str, *, points: float = 2, end: str = "") -> TestCell:
    parts = [visible, "### BEGIN HIDDEN TESTS", hidden, "### END HIDDEN TESTS", end]
    return TestCell(
        "\n".join(textwrap.dedent(part).strip() for part in parts).strip(),
        textwrap.dedent(right),
        textwrap.dedent(wrong),
        points,
    )


_TOTAL = "def total(n): return n * (n + 1) // 2", "def total(n): return n * n // 2"

CELLS: Mapping[str, TestCell] = {
    "numbers": _cell(
        "assert total(1) == 1",
        'assert total(4) == 10\nassert total(10) == 55, "ten"\nassert total(100) == 5050',
        *_TOTAL,
    ),
    "lists": _cell(
        "assert squares(1) == [1]",
        "assert squares(3) == [1, 4, 9]\nassert squares(5) == [1, 4, 9, 16, 25]",
        "def squares(n): return [i * i for i in range(1, n + 1)]",
        "def squares(n): return [i * i for i in range(n)]",
    ),
    "floats": _cell(
        "import numpy as np\nassert abs(mean([1.0, 2.0]) - 1.5) < 1e-6",
        "assert abs(mean([1.0, 2.5, 4.0]) - 2.5) < 1e-6\nassert round(mean([0.1, 0.25]), 3) == 0.175",
        "def mean(x): return sum(x) / len(x)",
        "def mean(x): return sum(x) / (len(x) + 1)",
    ),
    "allclose": _cell(
        "import numpy as np\nx = np.array([[1.0, 2.0, 3.0]])\nassert softmax(x).shape == (1, 3)",
        """
        assert np.allclose(softmax(x), [[0.09003057, 0.24472847, 0.66524096]])
        np.testing.assert_allclose(softmax(x + 1), [[0.09, 0.245, 0.665]], atol=1e-3)
        """,
        "import numpy as np\ndef softmax(z):\n    e = np.exp(z)\n    return e / e.sum(axis=1, keepdims=True)",
        "import numpy as np\ndef softmax(z):\n    return z / z.sum(axis=1, keepdims=True)",
    ),
    "two answers": _cell(
        "import numpy as np\nx = np.arange(6.0).reshape(2, 3)",
        "expected = x.mean(axis=0)\nnp.testing.assert_allclose(columns(x), expected)\n"
        "assert np.allclose(columns(2 * x), 2 * expected)",
        "def columns(x): return x.mean(axis=0)",
        "def columns(x): return x.max(axis=0)",
    ),
    "types": _cell(
        "result = parse('3,4')",
        "assert isinstance(result, list)\nassert isinstance(result[0], int)\nassert len(parse('1,2,3')) == 3",
        "def parse(text): return [int(part) for part in text.split(',')]",
        "def parse(text): return tuple(text.split(',')[:1])",
    ),
    "thresholds": _cell(
        "accuracy = train()",
        "assert accuracy > 0.9\nassert accuracy <= 1",
        "def train(): return 0.95",
        "def train(): return 0.5",
    ),
    "a loop": _cell(
        "assert total(1) == 1",
        "for n in range(2, 6):\n    assert total(n) == sum(range(n + 1))",
        *_TOTAL,
    ),
    "a table": _cell(
        "assert total(1) == 1",
        "for n, want in [(3, 6), (7, 28), (12, 78)]:\n    assert total(n) == want",
        *_TOTAL,
    ),
    "partial credit": _cell(
        "points = 0\nif total(1) == 1:\n    points += 1",
        """
        for n, want in ((2, 3), (3, 6), (100, 5050)):
            try:
                assert total(n) == want
                points += 1
            except Exception:
                pass
        """,
        *_TOTAL,
        points=4,
        end="points",
    ),
    "a share": _cell(
        "cases = [1, 2, 3]",
        "cases += [10, 20]",
        *_TOTAL,
        points=1,
        end="round(sum(total(n) == n * (n + 1) / 2 for n in cases) / len(cases), 2)",
    ),
    "an error": _cell(
        "assert root(4) == 2",
        """
        try:
            root(-1)
        except ValueError:
            pass
        else:
            raise AssertionError("negative numbers have no root")
        assert root(81) == 9
        """,
        "def root(x):\n    if x < 0: raise ValueError(x)\n    return x ** 0.5",
        "def root(x): return abs(x) / 2",
    ),
    "words": _cell(
        "assert greet('Ann') == 'Hello, Ann!'",
        "assert greet('Bob Lee') == 'Hello, Bob Lee!'\nassert counts('to be or not to be')['be'] == 2\n"
        "assert counts('a b a') == {'a': 2, 'b': 1}",
        "from collections import Counter\ndef greet(name): return f'Hello, {name}!'\n"
        "def counts(text): return dict(Counter(text.split()))",
        "from collections import Counter\ndef greet(name): return f'Hello {name}'\n"
        "def counts(text): return Counter(text)",
    ),
    "a function": _cell(
        "def test_total():\n    assert total(1) == 1",
        "    assert total(6) == 21\n    assert total(9) == 45",
        *_TOTAL,
        end="test_total()",
    ),
    "in place": _cell(
        "numbers = [1, 2, 3]\ndouble(numbers)",
        "assert numbers == [2, 4, 6]\nassert double([]) is None",
        "def double(x): x[:] = [2 * n for n in x]",
        "def double(x): return [2 * n for n in x]",
    ),
    "cases": _cell(
        "from labkit import check\nwith check.case('one'):\n    check.equal(total(1), 1)",
        "with check.hidden_case('four'):\n    check.equal(total(4), 10)\n"
        "with check.hidden_case('a share of ten'):\n    check.close(total(10) / 10, 5.5)",
        *_TOTAL,
        end="check.score(2)",
    ),
}
# What is hidden within a function is indented.
CELLS = {
    name: TestCell(
        cell.source.replace("\nassert total(6)", "\n    assert total(6)") if name == "a function" else cell.source,
        cell.right, cell.wrong, cell.points,
    )
    for name, cell in CELLS.items()
}  # fmt: skip
