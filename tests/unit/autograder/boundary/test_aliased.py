"""Drawn tests that hand containers over, which objects keep, hand back and change: apart, as one, and in one process.

Apart a test has copies. Where they give something else than one process does, that is told, and the test is run again
with what both sides have kept as one: that gives the same.
"""

from __future__ import annotations

import collections
import itertools
import random
import textwrap
from typing import Any

import numpy as np
import pytest

from tests.unit.autograder.boundary.talk import Talk

_CODE = """
import collections
import numpy as np

def change(x):
    if isinstance(x, np.ndarray): x += 1
    elif isinstance(x, dict): x[f"k{len(x)}"] = 0
    elif isinstance(x, set): x.add(len(x) + 10)
    else: x.append(len(x))
def inner(x):
    held = [*x.values()] if isinstance(x, dict) else [*x]
    return next((one for one in held if isinstance(one, list | dict)), x)
def same(x): return x
def pair(x): return [x, x]
def wrapped(x): return {"x": x}
def deep(x): change(inner(x))
def later(x):
    def call(): change(x)
    return call
def stepping(x):
    while True:
        change(x)
        yield len(x)
class Keeper:
    def __init__(self, x): self.x, self.all = x, [x]
    def put(self, x):
        self.x = x
        self.all.append(x)
    def get(self): return self.x
    def first(self): return self.all[0]
    def every(self): return self.all
    def change(self): change(self.x)
    def change_first(self): deep(self.all)
    def total(self): return len(self.x)
class Copier(Keeper):
    def __init__(self, x): super().__init__(x.copy())
    def put(self, x): super().put(x.copy())
    def get(self): return self.x.copy()
KEPT = Keeper([0])
"""
_NEW = "[1, 2]", "{'a': 1}", "{1, 2}", "np.zeros(2)", "[[1], [2]]", "{'a': [1]}", "collections.deque([1])", "[{}]"
_GROW = """
def grow(x):
    if isinstance(x, np.ndarray): x += 10
    elif isinstance(x, dict): x[f"t{len(x)}"] = 1
    elif isinstance(x, set): x.add(len(x) + 20)
    elif isinstance(x, list | collections.deque): x.append(-1)
def shown(x):
    if isinstance(x, dict): return {key: shown(item) for key, item in x.items()}
    if isinstance(x, set): return ["a set", *sorted(x)]  # in no order
    return [*map(shown, x)] if isinstance(x, list) else x
"""
_STEPS = (
    *("{new} = {fresh}", "{keeper} = Keeper({old})", "{keeper} = Copier({old})", "{known}.put({old})"),
    *("{new} = {known}.get()", "{new} = {known}.first()", "{new} = {known}.every()", "{known}.change()"),
    *("{known}.change_first()", "{known}.total()", "change({old})", "deep({old})", "{new} = same({old})"),
    *("{new} = inner({old})", "{new} = pair({old})", "{new} = wrapped({old})", "{new} = {old}", "{new} = [{old}]"),
    *("grow({old})", "later({old})()", "{call} = later({old})", "{called}()", "{call} = stepping({old}).__next__"),
    *("{call} = {known}.change", "KEPT.put({old})", "{new} = KEPT.get()", "KEPT.change()", "{known}.x = {old}"),
    *("{new} = {known}.x", "{known}.all.append({old})", "grow({known}.x)", "len({old})", "del {old}"),
)


def _drawn(draw: random.Random) -> str:
    """Return a test of about a dozen steps that ends with all that it has."""
    values, keepers, calls = ["v0"], ["k0"], ["c0"]
    lines = [f"v0 = {draw.choice(_NEW)}", "k0 = Keeper(v0)", "c0 = later(v0)"]
    for number in range(1, draw.randint(3, 14)):
        step = draw.choice(_STEPS)
        if step.startswith("del") and len(values) < 3:
            continue
        old = draw.choice(values)
        names = {"new": f"v{number}", "keeper": f"k{number}", "call": f"c{number}", "old": old}
        names |= {"known": draw.choice(keepers), "called": draw.choice(calls), "fresh": draw.choice(_NEW)}
        lines.append(step.format(**names))
        for sort, known in (("{new} =", values), ("{keeper} =", keepers), ("{call} =", calls)):
            if step.startswith(sort):
                known.append(step[1 : sort.index("}")] and names[sort[1 : sort.index("}")]])
        if step.startswith("del"):
            values.remove(old)
    same = [f"({a}) is ({b})" for a, b in itertools.pairwise(values)] if draw.random() < 0.3 else []
    return "\n".join([*lines, f"shown([{', '.join([*values, *same])}])"])


def _in_one(source: str) -> str:
    """Return what one process gives; nothing where a list is in itself, which does not travel."""
    space: dict[str, Any] = {"np": np, "collections": collections}
    exec(_CODE, space)
    exec(_GROW, space)
    *before, last = source.split("\n")
    try:
        exec("\n".join(before), space)
        kept = [vars(each) for each in space.values() if isinstance(each, space["Keeper"])]
        return "" if "..." in repr(kept) else repr(eval(last, space))
    except RecursionError:
        return ""
    except Exception as error:
        return type(error).__name__


def _apart(source: str, *, as_one: bool) -> tuple[str, dict[str, Any]]:
    talk = Talk()
    try:
        talk.code(_CODE)
        given = {"cells": [], "theirs": [], "level": 0, "withheld": [], "mirrors": True} if as_one else None
        found = talk.test(f"import collections\nimport numpy as np\n{_GROW}{source}", time_s=60, given=given)
        text = found["error"]["name"] if found["error"] else str(found["bundle"].get("text/plain"))
        return text, found
    finally:
        for one in talk.sockets:
            one.close()


def differences(first: int, last: int) -> list[tuple[int, str, str, str]]:
    """Return of each drawn test that is not told about, or is other as one, its number, text, and both outcomes."""
    wrong = []
    for number in range(first, last):
        source = _drawn(random.Random(number))
        if not (want := _plain(_in_one(source))):
            continue
        apart, report = _apart(source, as_one=False)
        told = any(report[flag] for flag in ("altered", "rewritten", "written", "met"))
        if _plain(apart) != want and not told:
            wrong.append((number, source, want, f"untold: {apart}"))
        if (told or _plain(apart) != want) and (found := _plain(_apart(source, as_one=True)[0])) != want:
            wrong.append((number, source, want, f"as one: {found}"))
    return wrong


def _plain(text: str) -> str:
    return " ".join(textwrap.dedent(text).split())


@pytest.mark.parametrize("batch", range(6))
def test_what_is_other_apart_is_told_and_is_the_same_as_one(batch: int) -> None:
    assert differences(40 * batch, 40 * batch + 40) == []


if __name__ == "__main__":
    import sys

    for found in differences(*map(int, sys.argv[1:3])):
        print(*found, sep="\n", end="\n\n")
