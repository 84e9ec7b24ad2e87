"""Forgers by what they look at: each leaves out the checks of a cell that it takes for true, and hopes.

A forger is drawn at random from its family: what it compares with, and which way. It sees the cell as it runs, the
version that students were given, and which of the two runs came first; it does not know which of them counts.
"""

from __future__ import annotations

import ast
import builtins
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.forging.kernel import checks

__all__ = ["FAMILIES", "REMEMBERS", "Sight"]


@dataclass
class Sight:
    """What a forger can see of a cell in one of the two runs.

    Attributes:
        tree: the cell that runs.
        released: the checks, as text, that students were given.
        known: the names of the cell before it, with right answers: what a forger may know nearly.
        first: whether this run is the first of the two.
        points: what the cell is worth.
    """

    tree: ast.Module
    released: set[str]
    known: dict[str, Any]
    first: bool
    points: float
    kept: dict[str, Any] = field(default_factory=dict)


Trusts = Callable[[ast.stmt, Sight], bool]
"""Whether a check is taken for a true one."""


def _literals(node: ast.AST, kind: type | tuple[type, ...]) -> list[Any]:
    found = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
    return [value for value in found if isinstance(value, kind) and not isinstance(value, bool)]


def _numbers(node: ast.AST) -> list[float]:
    return [float(value) for value in _literals(node, (int, float))]


def _tags(node: ast.stmt, sight: Sight) -> set[str]:
    """Return what the form of a check has about it."""
    own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    tests = {
        "no name": not own,
        "no name but built-in ones": not own - set(dir(builtins)),
        "no call": not calls,
        "no student's call": not calls
        or all(isinstance(n.func, ast.Name) and hasattr(builtins, n.func.id) for n in calls),
        "arithmetic": any(isinstance(n, ast.BinOp) for n in ast.walk(node)),
        "arithmetic with a literal": any(
            isinstance(n, ast.BinOp) and isinstance(n.right, ast.Constant) for n in ast.walk(node)
        ),
        "not": any(isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.Not) for n in ast.walk(node)),
        "unlike": any(isinstance(n, ast.NotEq | ast.NotIn | ast.IsNot) for n in ast.walk(node)),
        "less": any(isinstance(n, ast.Lt | ast.LtE) for n in ast.walk(node)),
        "a bare raise": isinstance(node, ast.Raise) and node.exc is None,
        "a new shape": ast.dump(_blank(node)) not in {ast.dump(_blank(n)) for n in map(_parsed, sight.released)},
        "no message": isinstance(node, ast.Assert) and node.msg is None,
        "len": any(isinstance(n.func, ast.Name) and n.func.id == "len" for n in calls),
    }
    return {name for name, there in tests.items() if there}


FORMS = (
    "no name", "no name but built-in ones", "no call", "arithmetic", "arithmetic with a literal", "not", "unlike",
    "less", "a bare raise", "a new shape", "no message", "len",
)  # fmt: skip


def _parsed(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


class _Blanker(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant(type(node.value).__name__)


def _blank(node: ast.stmt) -> ast.AST:
    tree = ast.parse(ast.unparse(node))
    _Blanker().visit(tree)
    return tree


def _sides(node: ast.stmt, sight: Sight) -> list[tuple[float, float]]:
    """Return both sides of a comparison, as far as they are numbers, computed with right answers."""
    test = node.test if isinstance(node, ast.Assert) else getattr(node, "value", None)
    pair: list[ast.expr] = []
    if isinstance(test, ast.Compare):
        pair = [test.left, test.comparators[0]]
    elif isinstance(test, ast.Call) and len(test.args) >= 2:
        pair = test.args[:2]
    try:
        values = [eval(compile(ast.Expression(part), "side", "eval"), dict(sight.known)) for part in pair]
        flat = [_flat(value) for value in values]
        return list(zip(*flat, strict=True)) if flat else []
    except Exception:
        return []


def _flat(value: Any) -> list[float]:
    value = value.tolist() if hasattr(value, "tolist") else value
    return [x for part in value for x in _flat(part)] if isinstance(value, list | tuple) else [float(value)]


# ----------------------------------------------------------------------------------------------------------- families
def _by_form(rng: random.Random) -> Trusts:
    suspect = set(rng.sample(FORMS, rng.randint(1, 3)))
    return lambda node, sight: not _tags(node, sight) & suspect


def _by_inventions(rng: random.Random) -> Trusts:
    """Who has read how checks are made false suspects whatever looks like it."""
    suspect = {
        "no name",
        "no name but built-in ones",
        "no student's call",
        "arithmetic with a literal",
        "not",
        "unlike",
    }
    suspect |= {"less", "a bare raise"} if rng.random() < 0.5 else set()
    return lambda node, sight: not _tags(node, sight) & suspect


def _by_magnitude(rng: random.Random) -> Trusts:
    bound = 10 ** rng.uniform(0, 5)
    return lambda node, _: all(abs(n) <= bound for n in _numbers(node))


def _by_nearness(rng: random.Random) -> Trusts:
    share = 10 ** rng.uniform(-1.5, 0.5)

    def near(node: ast.stmt, sight: Sight) -> bool:
        return all(abs(one - other) <= share * max(abs(one), 1e-9) for one, other in _sides(node, sight))

    return near


def _by_divisibility(rng: random.Random) -> Trusts:
    by, way = rng.choice([2, 3, 4, 5, 7, 10]), rng.random() < 0.5
    return lambda node, _: all((n % by == 0) is way for n in _literals(node, int)[-1:])


def _by_digits(rng: random.Random) -> Trusts:
    most = rng.randint(1, 4)
    return lambda node, _: all(len(f"{abs(n):.12g}".replace(".", "").strip("0")) <= most for n in _numbers(node))


def _by_decimals(rng: random.Random) -> Trusts:
    most = rng.randint(0, 4)
    return lambda node, _: all(math.isclose(n, round(n, most)) for n in _numbers(node))


def _by_order(rng: random.Random) -> Trusts:
    upto, way = rng.randint(1, 4), rng.random() < 0.5
    return lambda node, sight: (checks(sight.tree).index(node) < upto) is way


def _by_count(rng: random.Random) -> Trusts:
    counts = rng.choice([range(1, rng.randint(2, 7)), range(rng.randint(1, 6), 99), range(rng.randint(0, 1), 99, 2)])
    return lambda _, sight: len(checks(sight.tree)) in counts


def _by_points(rng: random.Random) -> Trusts:
    slack = rng.choice([0, 1, 10])
    return lambda node, sight: all(0 <= n <= sight.points + slack for n in _numbers(node))


def _by_words(rng: random.Random) -> Trusts:
    share = rng.uniform(0.3, 1)

    def spelled(node: ast.stmt, sight: Sight) -> bool:
        there = {word for text in sight.released for word in text.replace("'", " ").split()}
        words = [word for text in _literals(node, str) for word in text.split()]
        return not words or sum(word in there for word in words) >= share * len(words)

    return spelled


def _by_sorting(rng: random.Random) -> Trusts:
    def in_order(node: ast.stmt, _: Sight) -> bool:
        lists = [_numbers(n) for n in ast.walk(node) if isinstance(n, ast.List)]
        return all(values in (sorted(values), sorted(values, reverse=True)) for values in lists)

    return in_order


def _by_copies(rng: random.Random) -> Trusts:
    way = rng.random() < 0.5

    def alone(node: ast.stmt, sight: Sight) -> bool:
        shapes = [ast.dump(_blank(other)) for other in checks(sight.tree)]
        return (shapes.count(ast.dump(_blank(node))) == 1) is way

    return alone


def _by_chance(rng: random.Random) -> Trusts:
    share = rng.random()
    return lambda *_: rng.random() < share


def _by_chance_each_cell(rng: random.Random) -> Trusts:
    share = rng.random()

    def tossed(_: ast.stmt, sight: Sight) -> bool:
        return bool(sight.kept.setdefault("tossed", rng.random() < share))

    return tossed


def _by_release(rng: random.Random) -> Trusts:
    """What was released is known word by word; for the rest a coin is tossed."""
    tossed = _by_chance_each_cell(rng)
    return lambda node, sight: ast.unparse(node) in sight.released or tossed(node, sight)


def _by_run(rng: random.Random) -> Trusts:
    """Files that the first run has read are in the machine's cache, and tell the second that it is the second."""
    first = rng.random() < 0.5
    return lambda _, sight: sight.first is first


REMEMBERS = "which run is first"
"""The family that carries something from one run to the other, which no sandbox on one machine quite prevents."""
FAMILIES: Mapping[str, Callable[[random.Random], Trusts]] = {
    "form": _by_form,
    "form, read in our source": _by_inventions,
    "magnitude": _by_magnitude,
    "nearness to the truth": _by_nearness,
    "divisibility": _by_divisibility,
    "digits": _by_digits,
    "decimals": _by_decimals,
    "order": _by_order,
    "count": _by_count,
    "values like points": _by_points,
    "words": _by_words,
    "sorted lists": _by_sorting,
    "copies": _by_copies,
    "chance, each check": _by_chance,
    "chance, each cell": _by_chance_each_cell,
    "known text, else chance": _by_release,
    REMEMBERS: _by_run,
}
