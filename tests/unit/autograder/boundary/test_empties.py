"""An array of no items equals nothing that has some, in what is compiled as a test; libraries find NumPy as it is."""

from __future__ import annotations

import ast
import contextlib
import importlib
from array import array
from collections import deque
from typing import Any, NamedTuple

import numpy as np
import pytest

from autograder.boundary.empties import BELOW, COMPARING, compiled, with_items
from labkit import check

OWN = {(module, name) for module, name in COMPARING if module in {"numpy", "numpy.testing"}}


class Sized(NamedTuple):
    """A named tuple of a student's, whose field is called as an attribute of NumPy's arrays is."""

    size: Any


class Deep(NamedTuple):
    """Another one."""

    ndim: Any


def outcome(text: str, file: str = "<test>", **more: Any) -> Any:
    """Return what an expression of a test comes to, with NumPy's functions guarded; or the kind of its error."""
    guarded = {name: with_items(module, name, _own(module, name)) for module, name in sorted(OWN)}
    tree = ast.parse(text, mode="eval")
    try:
        return eval(
            compiled(tree, file, BELOW),
            {"np": np, "array": array, "deque": deque, "Sized": Sized, "Deep": Deep, **more, **guarded, **BELOW},
        )
    except AssertionError:
        return AssertionError


def _own(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


NOTHING = ["np.array([])", "np.empty((0, 1))", "[]", "()", "[[]]", "range(0)", "deque()", "array('d')", "bytearray()",
           "Sized([np.empty((0, 1, 1))])", "Deep(())"]  # fmt: skip


@pytest.mark.parametrize("nothing", NOTHING)
def test_nothing_is_equal_to_something(nothing: str) -> None:
    for other in ("4", "[1, 2]", "np.arange(3.0)", "np.float32(2)"):
        for pair in (f"{nothing}, {other}", f"{other}, {nothing}"):
            assert outcome(f"allclose({pair})") is False
            assert outcome(f"isclose({pair})") is False
            assert outcome(f"array_equiv({pair})") is False
            assert outcome(f"assert_allclose({pair})") is AssertionError
            assert outcome(f"assert_array_equal({pair})") is AssertionError
            assert outcome(f"assert_almost_equal({pair})") is AssertionError
    assert outcome(f"all({nothing})") is outcome(f"any({nothing})") is AssertionError


def test_two_of_no_items_are_equal_and_all_else_is_as_it_was() -> None:
    assert outcome("allclose(np.array([]), [])") is True
    assert outcome("assert_array_equal(np.empty((0, 2)), np.empty((0, 2)))") is None
    assert outcome("allclose([1, 2], [1, 2.0])") is True
    assert outcome("isclose([1, 2], [1, 3])").tolist() == [True, False]
    assert bool(outcome("all([True, 1])")) is True
    assert outcome("all(np.ones((2, 2)), axis=0)").tolist() == [True, True]


def test_libraries_compare_as_they_always_do() -> None:
    for library in (np.__file__, ast.__file__, check.__file__):
        assert outcome("allclose(np.array([]), 4)", file=library) is True
        assert bool(outcome("all(np.array([]))", file=library)) is True


def test_a_module_beside_the_notebook_is_no_library() -> None:
    assert outcome("allclose(np.array([]), 4)", file="/srv/course/source/hw/checks.py") is False


OPERATIONS = [
    "all(abs({} - np.array([1, 4, 9])) < 1e-9)", "({} == 4).all()", "[e for e in np.abs({} - np.array([2, 3]))]",
    "False not in ({} == [2.0, 4.0])", "sum({} != [2, 4]) <= 0", "np.prod({} == [2, 4])",
    "(np.array([1, 2]) - {}).any()",
    "np.count_nonzero({} - [1, 3, 6]) == 0", "(({} - 4) ** 2).sum() < 1e-9", "np.linalg.norm({} * np.ones(3)) < 1",
    "({} <= np.arange(3)).all()", "((np.ones((3, 2)) @ {}[..., None].repeat(2, 1)) == 0).all()",
]  # fmt: skip


@pytest.mark.parametrize("text", OPERATIONS)
def test_operators_say_nothing_of_nothing_beside_something(text: str) -> None:
    assert outcome(text.format("np.empty((0, 1))")) is AssertionError


def test_operators_of_nothing_alone_or_of_something_are_what_they_were() -> None:
    assert outcome("(np.array([]) == np.array([])).all()") == np.True_
    assert outcome("(2 * np.array([])).tolist()") == []
    assert outcome("(np.diff([1]) >= 0).all()") == np.True_
    assert outcome("(np.empty((0, 3)) @ np.ones((3, 4))).shape") == (0, 4)
    assert outcome("(np.array([4]) == 4).all()") == np.True_
    assert outcome("(np.ones((2, 2)) - 1).tolist()") == [[0, 0], [0, 0]]
    assert outcome("[] == [1], 'a' + 'b', 3 - 2, 7 > 3 > 1, {1} | {2}, 2 in [1, 2]") == (
        False, "ab", 1, True, {1, 2}, True)  # fmt: skip


def test_what_is_compared_is_known_by_its_name() -> None:
    assert outcome("allclose(rtol=1e-6, atol=1e-6, a=np.empty((0, 1)), b=[2, 4])") is False
    assert outcome("assert_allclose(rtol=1e-6, desired=[2, 4], actual=np.empty((0, 1)))") is AssertionError
    assert outcome("isclose(b=[2, 4], a=[2, 4], rtol=1e-6).tolist()") == [True, True]


def test_all_of_numpys_assertions_that_compare_are_known() -> None:
    other = {"assert_", "assert_no_gc_cycles", "assert_no_warnings", "assert_raises", "assert_raises_regex"}
    asserting = {name for name in np.testing.__all__ if name.startswith("assert")} - other
    assert asserting - {"assert_string_equal", "assert_warns"} <= {name for _, name in COMPARING}


def test_what_is_approximate_for_pytest_is_not_nothing() -> None:
    kind = type(pytest.approx(3.0))
    assert (kind.__module__, "ApproxScalar.__eq__") in COMPARING
    same = with_items(kind.__module__, "ApproxScalar.__eq__", kind.__eq__)
    empty: list[Any] = [np.array([]), np.empty((0, 1)), []]
    for nothing in empty:
        assert same(pytest.approx(3.0), nothing) is False
    assert not same(pytest.approx(3.0), np.float64(3.1))
    assert same(pytest.approx(3.0), np.array([3.0, 3.0])) is True
    assert same(pytest.approx(3.0), 3) is True


def test_tensors_of_no_items_are_read_as_torch_reads_them() -> None:
    torch = pytest.importorskip("torch")
    guarded = {name: with_items("torch", name, getattr(torch, name)) for name in ("allclose", "norm", "all")}
    space = {"torch": torch, **guarded, **BELOW}
    none = "torch.empty(0, 1, requires_grad=True)"
    assert eval(compiled(ast.parse(f"allclose({none}, torch.ones(2))", mode="eval"), "<test>", BELOW), space) is False
    for text in (f"norm({none})", f"all({none} > 1)", f"({none} == 1).all()", f"torch.ones(2) - {none}"):
        with pytest.raises(AssertionError, match="no items"):
            eval(compiled(ast.parse(text, mode="eval"), "<test>", BELOW), space)
    assert outcome("allclose(nothing, [1, 2])", nothing=torch.Size([])) is False, "a tuple, for NumPy"


_NOTHING = (
    "np.equal(none, [2, 4, 6]).all()",
    "np.square(np.subtract(none, [2, 4, 6])).sum() < 1e-9",
    "np.sum(np.abs(np.subtract([2, 4, 6], none))) == 0",
    "np.logical_xor(none > 3, np.array([True, False])).any()",
    "np.count_nonzero(np.not_equal(none, 2)) == 0",
    "np.maximum(none, [1, 2]).sum() == 0",
    "np.ones(3).__eq__(none).all()",
    "none.__rsub__(np.ones(3)).sum() == 0",
    "none.__ne__(2).any()",
    "operator.eq(none, np.ones(3)).all()",
    "operator.sub(none, np.ones(3)).any()",
    "torch.eq(torch.empty(0, 3), torch.ones(3)).all()",
    "torch.subtract(torch.empty(0), torch.ones(1)).sum() == 0",
    "torch.empty(0, 3).eq(torch.ones(3)).all()",
    "torch.ones(3).sub(torch.empty(0, 3)).sum() == 0",
    "d := np.empty((0, 3)); d -= np.ones(3); d.sum() == 0",
    "(F.cosine_similarity(torch.zeros(0, 1, 4), torch.ones(5, 4), dim=-1) > 0.999).all()",
    "F.mse_loss(torch.zeros(0, 5, 4), torch.ones(5, 4), reduction='sum') < 1",
    "torch.nn.MSELoss(reduction='sum')(torch.zeros(0, 5, 4), torch.ones(5, 4)) < 1",
    "F.pairwise_distance(torch.zeros(0, 1, 4), torch.ones(5, 4)).sum() < 1",
    "not torch.logical_xor(torch.empty(0, 1) > 0, torch.ones(3) > 0).any()",
    "torch.where(torch.empty(0, 3) > 0, torch.ones(3), torch.zeros(3)).sum() == 0",
    "np.isin(none, np.ones(3)).all()",
    "np.isin([], np.ones(3)).all()",
    "np.isin(none, [1, 2]).all()",
    "np.sum(np.clip((), np.ones(1), np.ones(1)) != ()) == 0",
    "np.isin(((),), np.ones(3)).all()",
    "len(np.setdiff1d(none, np.ones(3))) == 0",
    "[*np.broadcast(none, np.ones(3))] == []",
    "np.broadcast_arrays(none, np.ones(3))[0].sum() == 0",
    "np.einsum('ij,j->', np.empty((0, 3)), np.ones(3)) == 0",
    "np.vdot(np.empty((0, 3)), np.ones((0, 3))) or np.dot(np.empty((0, 3)), np.ones(3)).sum()",
    "np.where(none > 0, none, np.ones(3)).sum() == 0",
    "none.dot(np.ones((1, 3))).sum() == 0",
    "np.ufunc.reduce(np.add, none) is None or np.add.outer(none, np.ones(3)).sum() == 0",
    "scipy.spatial.distance.cdist(none, np.ones((3, 1))).sum() == 0",
    "d := np.ones((0, 3)); d *= np.ones(3); d.sum() == 0",
)
_SOMETHING = (
    "np.equal([1], [2]).all()",
    "np.subtract(np.empty(0), np.empty(0)).sum()",
    "np.maximum(np.empty(0), 0).shape",
    "np.add(np.empty((0, 3)), 1).shape",
    "np.matmul(np.empty((0, 3)), np.ones((3, 4))).shape",
    "np.concatenate([np.empty(0), np.ones(2)]).tolist()",
    "np.searchsorted(np.ones(3), np.empty(0)).shape",
    "operator.mul([], 3)",
    "np.array_equal(np.empty(0), np.ones(3))",
    "np.sum(np.ones(3), axis=())",
    "np.zeros(()).shape",
    "np.ones(6).reshape((2, 3)).tolist()",
    "np.full((2, 1), np.ones(1)).tolist()",
    "torch.nn.utils.rnn.pad_sequence([torch.ones(2)], batch_first=True).tolist()",
    "np.percentile(np.ones(3), q=[]).tolist()",
    "np.append(np.empty(0), np.ones(3)).tolist()",
    "np.empty((0, 3)).reshape((3, 0)).shape",
    "np.zeros((0, 3)).sum(axis=0).tolist()",
    "np.isin(np.empty(0), np.empty(0)).all()",
    "np.array([]).shape",
    "np.stack([np.empty(0), np.empty(0)]).shape",
    "torch.tensor([]).shape",
    "torch.nn.Linear(3, 2)(torch.empty(0, 3)).shape",
    "F.mse_loss(torch.ones(2), torch.ones(2)).item()",
    "np.random.default_rng(0).normal(size=(0,)).shape",
    "np.full((0, 2), 3).tolist()",
    "max([], default=3)",
    "operator.itemgetter(1)([1, 2])",
    "' '.join(['a', 'b'])",
    "(lambda self: self.__eq__(3))(3)",
    "torch.ones(3).sub(1).tolist()",
    "torch.eq(torch.empty(0), torch.empty(0)).all().item()",
    "d := np.ones(3); d -= 1; d.tolist()",
    "d := []; d += [1]; d",
    "d := 3; d **= 2; d",
    "[len(x) for x in ([], [1])]",
    "sorted({'a': 1}.items(), key=operator.itemgetter(0))",
    "type('T', (), {'f': lambda self: super(type(self), self).__repr__()[:1]})().f()",
)


def _run(text: str, guard: bool) -> object:
    import operator

    import torch

    scipy: Any = importlib.import_module("scipy.spatial") and importlib.import_module("scipy")

    *before, last = (part.strip().replace(":=", "=") for part in text.split(";"))
    below: dict[str, Any] = BELOW if guard else {}
    space = {"np": np, "none": np.empty((0, 1)), "torch": torch, "operator": operator, "scipy": scipy, **below}
    space["F"] = torch.nn.functional
    exec(compiled(ast.parse("\n".join(before)), "<test>", below), space)
    return eval(compiled(ast.parse(last, mode="eval"), "<test>", below), space)


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("text", _NOTHING)
def test_no_way_of_saying_an_operator_finds_nothing_alike(text: str) -> None:
    _run(text, guard=False)
    with pytest.raises(AssertionError):
        _run(text, guard=True)


@pytest.mark.parametrize("text", _SOMETHING)
def test_all_other_calls_give_what_they_gave(text: str) -> None:
    assert repr(_run(text, guard=True)) == repr(_run(text, guard=False))


def test_all_of_numpys_functions_of_two_arrays_say_nothing_of_nothing() -> None:
    """Those that a later version adds, too."""
    found = {name: getattr(np, name) for name in dir(np) if type(getattr(np, name)) is np.ufunc}
    assert len(found) > 80
    for name, function in found.items():
        if function.nin == 2 and name not in {"matmul", "vecdot", "matvec", "vecmat"}:
            for some in (np.ones(3), np.ones(3, int), np.array(["a"]), np.array(["2020-01-01"], "M8[D]")):
                with contextlib.suppress(TypeError):
                    function(some, some)
                    call: Any = BELOW["function of arrays"]
                    with pytest.raises(AssertionError):
                        call(function)(some[:0].reshape(0, 1), some)
                    break
            else:
                pytest.fail(f"{name} takes none of these")
