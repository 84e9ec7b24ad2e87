"""Random programs are run: each name that one reads before it has bound it is among those that it may read first."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.grading.secrets import read_first

NAMES = ("a", "b", "c", "f", "g")


class Watched(dict[str, Any]):
    """The globals of a run: what earlier cells have left, and which of that was read under its name."""

    def __init__(self, left: dict[str, Any]) -> None:
        super().__init__(left)
        self.left = left
        self.leaked: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        if name in self.left and value is self.left[name]:
            self.leaked.add(name)
        return value


class Check:
    """As labkit's check: a case keeps errors to itself, `unchanged` does not."""

    @contextlib.contextmanager
    def case(self) -> Iterator[int]:
        with contextlib.suppress(Exception):
            yield 1

    @contextlib.contextmanager
    def unchanged(self) -> Iterator[int]:
        yield 1


class Thing:
    """What earlier cells have left under a name: it can be called, gone through, added and entered."""

    def __call__(self, *_: Any) -> Thing:
        return self

    def __iter__(self) -> Iterator[int]:
        return iter([1])

    def __add__(self, _: Any) -> Thing:
        return self

    __radd__ = __add__

    def __enter__(self) -> Thing:
        return self

    def __exit__(self, *_: object) -> bool:
        return True  # whatever it is, it may end an error quietly


name = st.sampled_from(NAMES)
expression = st.recursive(
    st.one_of(name, st.just("1"), st.just("boom()"), st.just("maybe()")),
    lambda inner: st.one_of(
        st.builds("({} + {})".format, inner, inner),
        st.builds("ident({})".format, inner),
        st.builds("[{1} for {0} in [1]]".format, name, inner),
        st.builds("[{1} for {0} in {0}]".format, name, inner),
        st.builds("(lambda {0}: {1})(1)".format, name, inner),
        st.builds("(lambda: {})()".format, inner),
        st.builds("({} if maybe() else {})".format, inner, inner),
        st.builds("({} := {})".format, name, inner),
        st.builds("[({} := {}) for _ in []]".format, name, inner),
        st.builds("(lambda: ({} := {}))()".format, name, inner),
    ),
    max_leaves=3,
)
simple = st.one_of(
    st.builds("{} = {}".format, name, expression),
    st.builds("{} += {}".format, name, expression),
    st.builds("{}, {} = ident((1, {}))".format, name, name, expression),
    st.builds("{}".format, expression),
    st.builds("import math as {}".format, name),
    st.builds("del {}".format, name),
    st.builds("{}: int".format, name),
    st.builds("{}: int = {}".format, name, expression),
    st.builds("assert ident({})".format, expression),
)


def indented(body: list[str]) -> str:
    """Return these lines as a block."""
    return "\n".join(f"    {line}" for part in body for line in part.split("\n"))


def blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return statements that hold others."""
    body = st.lists(inner, min_size=1, max_size=3).map(indented)
    return st.one_of(
        st.builds("if maybe():\n{}\nelse:\n{}".format, body, body),
        st.builds("for {} in {}:\n{}".format, name, st.sampled_from(["[1]", "[]", "ident([1, 2])"]), body),
        st.builds("while maybe():\n{}".format, body),
        st.builds("try:\n{}\nexcept Exception as {}:\n{}".format, body, name, body),
        st.builds("try:\n{}\nfinally:\n{}".format, body, body),
        st.builds("with check.case() as {}:\n{}".format, name, body),
        st.builds("with check.case():\n{}".format, body),
        st.builds("with check.unchanged() as {}:\n{}".format, name, body),
        st.builds("with check.unchanged(), {}:\n{}".format, name, body),
        st.builds("def {}(x=1):\n{}".format, name, body),
        st.builds("def {}():\n    return {}".format, name, expression),
        st.builds("def {}({}):\n{}".format, name, name, body),
        st.builds("def {0}():\n    global {1}\n{2}".format, name, name, body),
        st.builds("@cache\ndef {}():\n{}".format, name, body),
        st.builds("@ident\ndef {}():\n{}".format, name, body),
        st.builds("class {}:\n{}".format, name, body),
        st.builds("class {}:\n    def run(self):\n        return {}".format, name, expression),
        st.builds("{0} = {1}\n{0}()".format, name, name),
    )


programs = st.lists(st.recursive(simple, blocks, max_leaves=6), min_size=1, max_size=6).map("\n".join)


@settings(max_examples=500, deadline=None)
@given(programs, st.lists(st.booleans(), max_size=12))
def test_whatever_a_cell_reads_before_it_has_bound_it_is_among_what_it_may_read_first(
    source: str, turns: list[bool]
) -> None:
    try:
        code = compile(source, "<cell>", "exec")
    except SyntaxError:  # `global` after a use, a default after an assignment expression
        return
    left = list(turns)

    def boom() -> None:
        raise ValueError("the student's code failed")

    def maybe() -> bool:
        return left.pop() if left else False

    there = Watched({name: Thing() for name in NAMES})
    there |= {"check": Check(), "boom": boom, "maybe": maybe}
    there |= {"ident": lambda value: value, "cache": lambda function: function, "__builtins__": __builtins__}
    with contextlib.suppress(Exception):
        exec(code, there)
    assert there.leaked <= read_first(source), source
