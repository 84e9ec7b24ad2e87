"""A text that a student may have written, used as a template or as a name, reaches nothing private of the test's."""

from __future__ import annotations

import string
import types
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.boundary import templates
from autograder.boundary.templates import BUILT_IN, Reached, guard


@dataclass
class Person:
    name: str
    home: dict[str, Any]

    def greet(self) -> str:
        return self.name


class Pair(NamedTuple):
    x: int
    y: int


want = 144
ANN = Person("ann", {"town": "Ulm", "size": [3, 4]})
OBJECTS = {
    "p": ANN,
    "pair": Pair(1, 2),
    "third": Fraction(1, 3),
    "array": np.arange(6).reshape(2, 3)[1:],
    "np": np,
    "f": ANN.greet,
    "g": (n for n in range(1)),
    "error": ValueError("expected 144"),
    "kind": Person,
    "space": types.SimpleNamespace(np=np, of=Person, plain=2),
}
PLAIN = [
    "{p.name} of {p.home[town]}",
    "{p.name:>{p.home[size][0]}}",
    "{p.home[size][1]:05.1f}|{p.name!r}",
    "{pair.x}{pair[1]}",
    "{third.numerator}/{third.denominator}",
    "{array.shape} {array.dtype} {array[0][1]}",
    "{space.plain}",
    "{{p.__init__}} {p.name}",
]
PRIVATE = [
    "{p.__init__.__globals__[want]}",
    "{p.name:{p.__init__}}",
    "{p.__class__}",
    "{p.greet}",
    "{p.home.keys}",
    "{pair._replace.__globals__[_sys].modules[__main__].want}",
    "{third.__add__.__globals__[sys].modules[__main__].want}",
    "{third.limit_denominator}",
    "{array.base}",
    "{array.ctypes}",
    "{np.sys}",
    "{f.__func__}",
    "{g.gi_frame.f_globals}",
    "{error.args}",
    "{kind.mro}",
    "{space.np.sys}",
    "{space.of.greet}",
]


@pytest.fixture(autouse=True)
def _on() -> Iterator[None]:
    guard(lambda: True)
    yield
    guard(lambda: False)


@pytest.mark.parametrize("text", PLAIN)
def test_a_template_may_ask_for_what_lies_open(text: str) -> None:
    expected = _untouched(text)
    assert text.format(**OBJECTS) == expected
    assert text.format_map(OBJECTS) == expected
    assert string.Formatter().format(text, **OBJECTS) == expected


@pytest.mark.parametrize("text", PRIVATE)
def test_it_reaches_nothing_else_however_it_is_filled_in(text: str) -> None:
    for fill in (text.format, string.Formatter().format, lambda *_, **them: text.format_map(them)):
        source = () if fill == text.format or getattr(fill, "__name__", "") == "<lambda>" else (text,)
        with pytest.raises(Reached):
            fill(*source, **OBJECTS)


def outcome(fill: Any) -> Any:
    """Return what a template comes to, or the kind of its error."""
    try:
        return fill()
    except (ValueError, LookupError, AttributeError, TypeError, Reached) as error:
        return type(error)


@pytest.mark.parametrize("text", ["{.real} {[0]}", "{} {[1]}", "{0.real}{1[0]}", "{.real:{}}", "{.real:{[0]}.1f}",
                                  "{.}", "{0.real} {[0]}", "{[0]} {1}", "{.real} {p}", "{1[0]:{0.real}}"])  # fmt: skip
def test_fields_without_a_name_are_numbered_as_ever(text: str) -> None:
    given = (7, [5, 6])
    assert outcome(lambda: text.format(*given, p="x")) == outcome(lambda: _untouched(text, *given, p="x"))
    native = templates._ORIGINALS["format_map"]
    assert outcome(lambda: text.format_map({"p": "x"})) == outcome(lambda: native(text, {"p": "x"}))


@given(st.text(alphabet="{}[].:!019p_ra ", max_size=12))
def test_any_other_template_says_or_refuses_what_it_always_did(text: str) -> None:
    found = outcome(lambda: text.format(7, p="x"))
    assert found in (outcome(lambda: _untouched(text, 7, p="x")), Reached)


def test_nothing_is_refused_where_no_test_runs() -> None:
    guard(lambda: False)
    template = "{p.__class__.__name__}"
    assert template.format(p=ANN) == "Person"
    assert BUILT_IN["getattr"](ANN, "".join(["__", "class__"])) is Person


def _untouched(text: str, *args: Any, **options: Any) -> str:
    return templates._ORIGINALS["format"](text, *args, **(options or OBJECTS))


def test_a_private_name_has_to_stand_in_the_code_that_asks_for_it() -> None:
    ask = BUILT_IN["getattr"]
    assert ask(ANN, "name") == "ann"
    assert ask(ANN, "__class__") is Person
    assert [ask(3, name) is not None for name in ("__add__", "__sub__")] == [True, True]
    assert ask(ANN, "none", 5) == 5
    built = "".join(["__", "init", "__"])
    with pytest.raises(Reached, match="'__init__' is asked for by a text"):
        ask(ANN, built)
