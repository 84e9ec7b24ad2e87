"""Which class a stand-in says that its object has, the signature of a test's function, and results that are dropped."""

from __future__ import annotations

import collections
import inspect
from pathlib import Path
from typing import Any

import pytest

from autograder.boundary import discarded
from autograder.boundary.classes import DEFAULT, class_of, parameters_of, signature_of


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["__main__.Queue", "collections.deque", "builtins.object"], collections.deque),
        (["collections.OrderedDict", "builtins.dict"], collections.OrderedDict),
        (["builtins.type", "builtins.object"], type),
        (["builtins.float", "builtins.object"], None),
        (["numpy.ndarray"], None),
        (["nowhere.at_all", "deque", ""], None),
        ([], None),
    ],
)
def test_a_stand_in_passes_for_no_class_whose_values_are_taken_without_asking(names: list[str], expected: Any) -> None:
    assert class_of(names, trusted=True) is expected


@pytest.mark.parametrize("text", ["x", "x, y", "x, y=1", "*xs", "**named", "x, *, key", "x, /, y=2, *more, z=3", ""])
def test_a_signature_says_all_but_the_values_of_defaults(text: str) -> None:
    own: Any = eval(f"lambda {text}: None")
    found = signature_of(parameters_of(own))
    assert [(p.name, p.kind) for p in found.parameters.values()] == [
        (p.name, p.kind) for p in inspect.signature(own).parameters.values()
    ]
    assert {p.default for p in found.parameters.values()} <= {inspect.Parameter.empty, DEFAULT}


@pytest.mark.parametrize(
    "said", [None, "four", [1, 2], [["x"]], [["x", 9, True]], [["x y", 1, False]], [["if", 1, False]]]
)
def test_a_function_that_says_nothing_of_its_arguments_takes_any(said: Any) -> None:
    assert [*signature_of(said).parameters] == ["args", "kwargs"]


def test_a_function_around_one_of_the_student_s_is_not_followed_to_it() -> None:
    def around(x: int) -> int:
        return x

    around.__wrapped__ = object()  # type: ignore[attr-defined]
    assert parameters_of(around) == [["x", 1, False]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("look()", True),
        ("x = look()", False),
        ("assert look() is not None", False),
        ("len([look()])", False),
        ("for _ in range(1): look()", True),
        ("[look() for _ in range(1)]", False),
    ],
)
def test_a_result_is_dropped_where_nothing_is_done_with_it(text: str, expected: bool) -> None:
    found: list[bool] = []
    within = str(Path(discarded.__file__).with_name("proxy.py"))  # as what stands for a student's function is
    space: dict[str, Any] = {"is_discarded": discarded.is_discarded, "note": found.append}
    exec(compile("def look():\n    note(is_discarded())\n    return [1]", within, "exec"), space)
    exec(compile(text, "<test>", "exec"), space)
    assert found == [expected]
