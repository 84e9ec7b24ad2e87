"""What hidden lines write is beside them whatever it is reached by: notebooks drawn by chance, and run.

Each has a locked cell, tests that bind names to parts of one another's data, and hidden lines that write a secret
somewhere. Whatever expression then shows it, in a later test without hidden lines, has to be found from the text alone.

`python -m tests.unit.autograder.grading.test_secrets_drawn 0 8000` says so of the notebooks of these numbers.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import sys
from typing import Any

import pytest

from autograder.grading.secrets import reached_by_hidden
from autograder.markers import strip_hidden

_NAMES = "abcde"
_LOCKED = """
import collections, contextlib, copy, functools, heapq, operator, types
STORE, REGISTERED = [], []
def keep(v): STORE.append(v)
def kept(): return STORE[-1]
def same(v): return v
def box():
    rows = []
    return (lambda: rows), rows.append
def register(f):
    REGISTERED.append(f)
    return f
class Holder:
    shared = []
    def __init__(self, own): self.own = own
    def put(self, v): self.own.append(v)
"""
_START = ["{x} = []", "{x} = [[], []]", "{x} = {{'k': []}}"]
_BINDING = [
    *_START, "{x} = {y}", "{x} = {y}[0]", "{x} = {y}['k']", "{x} = [{y}]", "{x} = {{'k': {y}}}", "{x} = ({y}, 1)",
    "{x} = lambda: {y}", "{x}: object = lambda: {y}", "def {x}(): return {y}", "def {x}(v): {y}.append(v)",
    "{x} = {y}.append", "{x} = functools.partial(str, {y})", "class {x}: rows = {y}", "{x} = {y}()",
    "{x} = iter([{y}])", "for {x} in [{y}]: pass", "{y}.append({x})", "{x} = {y} or []", "{x} = list({y})",
    "{x} = copy.copy({y})", "{x} = dict(k={y})", "{x} = [r for r in {y}]",
    "with contextlib.nullcontext({y}) as {x}: pass", "if True: {x} = {y}", "try: {x} = {y}\nfinally: pass",
    "{x} = types.SimpleNamespace(v={y})", "setattr({x}, 'v', {y})", "{x}.v = {y}", "globals()['{x}'] = {y}",
    "{x} = {y}.copy()", "{x} = {y}[:]", "{x} += {y}", "{x} = [*{y}]", "{x} = next(iter({y}))",
    "match {y}:\n    case [{x}, *_]: pass", "{x} = {y} if {y} else []", "{x} = {y}.get('k')", "{x} = {y}.v",
    "{x} = {y}.rows", "{x} = collections.ChainMap({{'k': {y}}})", "{x} = collections.defaultdict(lambda: {y})",
    "{x} = map(lambda r: {y}, [1])", "({x} := {y})", "{x} = {z} = {y}", "{x}, {z} = [{y}, {y}]",
    "{x} = lambda q={y}: q", "def {x}(q={y}): return q", "{x} = functools.lru_cache(lambda: {y})",
    "{x} = operator.itemgetter(0)([{y}])", "{x} = same({y})", "{x}, {z} = box()", "keep({y})", "{x} = kept()",
    "{x} = Holder({y})", "{x} = {y}.own", "Holder.shared = {y}", "{x} = Holder.shared",
    "@register\ndef {x}(): return {y}", "{x} = REGISTERED[0]",
]  # fmt: skip
_WRITING = [
    "{x}.append({s})", "{x}['k'] = {s}", "{x}[0] = {s}", "{x}[0].append({s})", "{x}['k'].append({s})", "{x}({s})",
    "{x}.v = {s}", "{x} += [{s}]", "next({x}).append({s})", "{x}().append({s})", "for r in {x}: r.append({s})",
    "{x}.rows.append({s})", "list.append({x}, {s})", "operator.iadd({x}, [{s}])", "heapq.heappush({x}, {s})",
    "{x}.extend([{s}])", "{x}.insert(0, {s})", "{x}.update(k={s})", "{x}.own.append({s})", "{x}.put({s})",
    "keep({s})", "Holder.shared.append({s})", "setattr({x}, 'v', {s})", "{x} = {s}", "q = {x}\nq.append({s})",
    "q = same({x})\nq.append({s})", "def w(): {x}.append({s})\nw()", "[r.append({s}) for r in [{x}]]",
    "{x}.setdefault('z', {s})", "(lambda r: r.append({s}))({x})", "getattr({x}, 'append')({s})",
    "q = list(map({x}.append, [{s}]))", "q = {x}.append\nq({s})", "{x}[:] = [{s}]",
    "any({x}.append({s}) for _ in [1])", "if {x}.append({s}) is None: pass", "assert {x}.append({s}) is None",
    "with contextlib.nullcontext({x}) as q: q.append({s})", "globals()['{x}'] = {s}",
]  # fmt: skip
_SHOWING = [
    *("{x}", "{x}()", "{x}[0]", "{x}['k']", "{x}.v", "{x}.rows", "[*{x}]", "{x}.own", "{x}[1]", "vars({x})"),
    *("{x}.__self__", "{x}.__defaults__"),
]
_ANYWHERE = ["STORE", "kept()", "Holder.shared", "REGISTERED[-1]()"]
_SECRET = "'SECRET'"


class _Notebook:
    """Cells drawn by chance, and run as they are drawn: what raises is left out.

    A loop, or a heap, that raises may have written before: then nothing can be said of what is left.
    """

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._half_done = False
        self._space: dict[str, Any] = {"f": lambda v: v}
        exec(_LOCKED, self._space)
        self.cells = [f"{_LOCKED}\n{self._drawn(_START, 2)}\n{self._drawn(_BINDING, self._chance.randint(0, 5))}"]
        if self._chance.random() < 0.5:
            self.cells.append(f"{self._drawn(_BINDING, 3)}\nassert f(1)")
        shown, hidden = self._drawn(_BINDING, self._chance.randint(0, 3)), self._drawn(_BINDING + 3 * _WRITING, 2)
        self.cells.append(f"{shown}\nassert f(1)\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS")
        if self._chance.random() < 0.4:
            self.cells.append(f"{self._drawn(_BINDING, 2)}\nassert f(1)")

    def _drawn(self, pool: list[str], number: int) -> str:
        found: list[str] = []
        for _ in range(20 * number):
            x, y, z = self._chance.choices(_NAMES, k=3)
            statement = self._chance.choice(pool).format(x=x, y=y, z=z, s=_SECRET)
            try:
                exec(statement, self._space)
                found.append(statement)
            except Exception:
                self._half_done |= statement.startswith(("for r in", "heapq"))
            if len(found) == number:
                break
        return "\n".join(found)

    def leaks(self) -> list[str]:
        """Return the expressions that show the secret now."""
        found: list[str] = []
        if self._half_done:
            return found
        for expression in [*_ANYWHERE, *(e.format(x=x) for e, x in itertools.product(_SHOWING, _NAMES))]:
            with contextlib.suppress(Exception):
                if "SECRET" in str(eval(expression, self._space)):
                    found.append(expression)
        return found


def missed(seed: int) -> tuple[int, list[str]]:
    """Return how many expressions show the secret of such a notebook, and those that are not found from its text."""
    notebook = _Notebook(seed)
    leaks = notebook.leaks()
    cells = [(cell, strip_hidden(cell)) for cell in notebook.cells]
    tests = [f"assert f(0), {leak}" for leak in leaks]
    return len(leaks), [
        "\n--\n".join([*notebook.cells, test]).replace(_LOCKED, "")
        for test in tests
        if len(cells) not in reached_by_hidden([*cells, (test, test)], [0])
    ]


@pytest.mark.parametrize("batch", range(4))
def test_whatever_shows_what_hidden_lines_wrote_is_found_from_the_text(batch: int) -> None:
    found = [missed(seed) for seed in range(100 * batch, 100 * batch + 100)]
    assert not [text for _, several in found for text in several]
    assert sum(number for number, _ in found) > 50


def main(first: int, last: int) -> None:
    """Print how many expressions show the secret in these notebooks, and those that are not found."""
    found = [missed(seed) for seed in range(first, last)]
    texts = [text for _, several in found for text in several]
    print(*texts, sep="\n\n")
    print(f"{sum(number for number, _ in found):,} expressions show it, {len(texts)} are not found")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
