"""Takes an array of no items for no answer where a test compares it: NumPy broadcasts it, and everything holds of it.

`np.allclose(np.empty((0, 1)), 4)` is true, and `f(x) - y` has no item that could be too large. In a test, and in what
it has of locked cells and of modules of the instructor's, nothing is equal to something, nor subtracted from it, by an
operator, in place or by a method, nor is it given to a function of a library's beside something; two that are empty
are equal. A test in which the instructor's solution relies on that does not run apart.
"""

from __future__ import annotations

import ast
import copy
import functools
import operator
import sys
import sysconfig
from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, MethodWrapperType
from typing import Any

from autograder.boundary.handles import is_remote_tensor, is_stand_in, plain
from autograder.boundary.sizes import dimensions_of, is_array, libraries, size_of

__all__ = ["BELOW", "COMPARING", "compiled", "with_items"]

_FILES = ("<test>", "<given>")
"""What code of tests and of locked cells is compiled as."""
_LIBRARIES = (*{sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")},
              str(Path(__file__).parents[2]))  # fmt: skip
"""Where libraries lie, which compare as they always do; this package and labkit among them."""
_ASSERTING = (
    "assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal",
    "assert_array_almost_equal_nulp", "assert_array_compare", "assert_array_equal", "assert_array_less",
    "assert_array_max_ulp", "assert_equal",
)  # fmt: skip
_SAYING = {"allclose", "allequal", "array_equiv", "isclose"}
"""What returns whether two are alike."""
_OF_ONE = {"all", "any", "norm", "vector_norm", "reduce_all", "reduce_any"}
"""What says something of one array that holds of none, or is 0 for none."""
_COMPARED = ("a", "b", "x", "y", "x1", "x2", "actual", "desired", "expected", "input", "other", "input_tensor")
"""What the parameters are called with which such functions take arrays."""
COMPARING = (
    *(("numpy.testing", name) for name in _ASSERTING),
    *((module, name) for module in ("numpy", "torch") for name in ("allclose", "isclose", "all", "any")),
    *(("numpy.ma", name) for name in ("allclose", "allequal")),
    ("numpy", "array_equiv"),
    *((module, "norm") for module in ("numpy.linalg", "torch", "torch.linalg", "tensorflow")),
    ("torch.linalg", "vector_norm"),
    ("torch", "dist"),
    ("scipy.linalg", "norm"),
    ("torch.testing", "assert_close"),
    *(("tensorflow", name) for name in ("reduce_all", "reduce_any")),
    ("tensorflow.experimental.numpy", "allclose"),
    *(("keras.ops", name) for name in ("all", "any", "isclose", "norm")),
    *((module, "ApproxScalar.__eq__") for module in ("_pytest.approx", "_pytest.python_api")),
)
"""What is compared with, where that is loaded: modules and names. pytest's class has lain in two places."""


def with_items(_module: str, name: str, own: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that compares as `own`, but finds nothing equal to something, and nothing true of nothing."""
    of_one = name in _OF_ONE
    approximate = name == "ApproxScalar.__eq__"  # called by an operator of pytest's: never by a library

    @functools.wraps(own)
    def call(*args: Any, **kwargs: Any) -> Any:
        if approximate:
            return size_of(args[-1]) != 0 and own(*args, **kwargs)
        if _is_instructors(sys._getframe(1).f_code.co_filename):
            args, kwargs = _read_all(args, kwargs)
            given = [*args, *(kwargs[key] for key in _COMPARED if key in kwargs)]
            sizes = [size_of(value) for value in given[: 1 if of_one else 2]]
            if 0 in sizes and (of_one or any(sizes)):
                if name in _SAYING:
                    return False
                raise AssertionError(f"{name}: an array of no items says nothing")
        return own(*args, **kwargs)

    call._looks_itself = True  # type: ignore[attr-defined]
    return call


def compiled(tree: ast.Module | ast.Expression, file: str, below: Container[str]) -> CodeType:
    """Return the code of a test, or of a locked cell, in which nothing is compared with something by an operator.

    below: the names that it finds below its own. If those of `BELOW` are not among them, operators are Python's own:
    the checks of this course's labs compute what they expect of nothing, too.
    """
    mode = "eval" if isinstance(tree, ast.Expression) else "exec"
    if all(name in below for name in BELOW):
        tree = ast.fix_missing_locations(_Guarded().visit(copy.deepcopy(tree)))
    return compile(tree, file, mode)


class _Guarded(ast.NodeTransformer):
    """Puts calls of functions in `BELOW` in the places of the operators that broadcast."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return _call(node, node.op, node.left, node.right)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        return _call(node, node.ops[0], node.left, *node.comparators)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """`d -= want` stays as it is, in place; before that is seen what comes of `d - want`."""
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) and (name := f"{_named(type(node.op).__name__)} in place") in BELOW:
            left = ast.Name(node.target.id, ast.Load())
            node.value = ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [left, node.value], []), node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.func = ast.copy_location(ast.Call(ast.Name(_FUNCTION, ast.Load()), [node.func], []), node.func)
        return node


def _call(node: ast.expr, operation: ast.AST, *operands: ast.expr) -> ast.expr:
    """Return the call that stands for an operator of two operands; the node as it is for all others."""
    name = _named(type(operation).__name__)
    if name not in BELOW or len(operands) != 2:
        return node
    return ast.copy_location(ast.Call(ast.copy_location(ast.Name(name, ast.Load()), node), [*operands], []), node)


def _named(operation: str) -> str:
    """Return what the function of an operator is called in compiled code: no name that source could have."""
    return f"{operation} of arrays"


_OPERATORS = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv, "Pow": operator.pow,
    "MatMult": operator.matmul, "BitXor": operator.xor, "BitAnd": operator.and_, "BitOr": operator.or_,
    "Eq": operator.eq, "NotEq": operator.ne, "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt,
    "GtE": operator.ge,
}  # fmt: skip
_SPECIAL = {name: own.__name__.strip("_") for name, own in _OPERATORS.items()}
_BOUND = {BuiltinFunctionType, MethodType, MethodWrapperType}
_FUNCTION = "function of arrays"
"""What the function is called in compiled code through which a test's calls go."""
_ALSO_WITH_ONE = {"Sub", "Eq", "NotEq"}
"""Operators by which a single number is compared, too. By the others it scales or bounds: `2 * f([])`."""
_PLAIN = (int, float, bool, complex, str, list, tuple)


_FUNCTIONS = {own: name for name, own in _OPERATORS.items()}
_UFUNCS = {"subtract": "Sub", "equal": "Eq", "not_equal": "NotEq", "matmul": "MatMult"}
"""NumPy's functions of two arrays, by their names; all others follow the rule of `+`."""
_METHODS = {
    **{f"__{prefix}{name}__": rule for rule, name in _SPECIAL.items() for prefix in ("", "r", "i")},
    **dict.fromkeys(("sub", "sub_", "subtract", "subtract_"), "Sub"),
    **dict.fromkeys(("eq", "ne", "not_equal", "isclose"), "Eq"),
}
"""Methods of arrays and tensors that compare with a number, too."""
_NUMERIC = {"keras", "numpy", "scipy", "sklearn", "tensorflow", "torch"}
"""Libraries whose functions, classes and objects that can be called compute with arrays."""
_UNRELATED = {bytes, dict, list, set, str, tuple}
_TAKING_NOTHING = {
    "append",
    "array_equal",
    "concatenate",
    "delete",
    "digitize",
    "insert",
    "interp",
    "searchsorted",
    "take",
}
"""Their functions that broadcast nothing: where one of their arrays has no items they say what they say of nothing."""


def _read(value: Any) -> Any:
    """Return the value that an object of the student's holds, read once: what is looked at is what is computed with."""
    return plain(value) if is_stand_in(value) and not is_remote_tensor(type(value)) else value


def _read_two(left: Any, right: Any) -> tuple[Any, Any]:
    """Return what an operator computes with: of two objects of the student's, whose class may override it, arrays."""
    if is_stand_in(left) and is_stand_in(right):
        found = _read(left), _read(right)
        return found if any(map(is_array, found)) else (left, right)
    return _read(left), _read(right)


def _read_all(args: Iterable[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return tuple(map(_read, args)), {name: _read(value) for name, value in kwargs.items()}


def _guarded(name: str, own: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def of_arrays(left: Any, right: Any) -> Any:
        left, right = _read_two(left, right)
        return _looked_at(own(left, right), name, left, right)

    return of_arrays


def _in_place(name: str, own: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def of_arrays(left: Any, right: Any) -> Any:
        if type(left) not in _PLAIN and is_array(left) and not (size_of(left) and size_of(right)):
            _looked_at(own(left, right), name, left, right)
        return right

    return of_arrays


def _of_function(function: Any) -> Any:
    """Return what a test calls; in place of a library's function of arrays one that takes nothing beside something."""
    kind = type(function)
    if kind in {FunctionType, type} and str(getattr(function, "__module__", "")).partition(".")[0] not in _NUMERIC:
        return function  # as most are
    if kind is BuiltinFunctionType and (function.__module__ == "builtins" or type(function.__self__) in _UNRELATED):
        return function
    name = _FUNCTIONS.get(function) if kind is BuiltinFunctionType else None
    operands = []
    if type(function).__name__ == "ufunc" and function.nin == 2:
        name = _UFUNCS.get(function.__name__, "Add")
    elif name is None and type(function) in _BOUND and is_array(of := function.__self__):
        operands, name = [of], _METHODS.get(function.__name__)
    if name is None and not is_stand_in(function) and (operands or _computes(function)):
        return _beside(function, operands)
    return function if name is None else _as_operator(function, name, operands)


def _as_operator(function: Any, name: str, operands: list[Any]) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = _read_all(args, kwargs)
        left, right, *_ = [*operands, *args, None, None]
        found = function(*args, **kwargs)
        _looked_at(found[0] if type(found) is tuple and found else found, name, left, right)  # of divmod, both
        return found

    return call


def _beside(function: Any, operands: list[Any]) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = _read_all(args, kwargs)
        given = [*operands, *args, *kwargs.values()]
        arrays = [v for v in given if is_stand_in(v) or (is_array(v) and dimensions_of(v))]
        lists = [v for v in args if type(v) is list]  # by name they are callbacks, metrics and the like
        shapes = [v for v in args if type(v) is tuple]  # which say something only where they are none
        sizes = [size_of(v) for v in (*arrays, *lists)]
        if any(sizes) and 0 in (*sizes, *map(size_of, shapes)):
            raise AssertionError("an array of no items says nothing beside one that has some")
        return function(*args, **kwargs)

    return call


def _computes(function: Any) -> bool:
    """Whether this is a function or class of a library for numbers, which may broadcast what it is given."""
    of = getattr(function, "__self__", None) if type(function) in _BOUND else None
    homes = [getattr(function, "__module__", None), getattr(of, "__name__", None)]
    named = {home.partition(".")[0] for home in homes if type(home) is str}
    if not _NUMERIC & (named | libraries(type(function)) | libraries(type(of))):
        return False
    return getattr(function, "__name__", "") not in _TAKING_NOTHING and not hasattr(function, "_looks_itself")


def _looked_at(found: Any, name: str, left: Any, right: Any) -> Any:
    """Return what came of an operation; AssertionError if it is nothing, and came of nothing beside something."""
    if type(found) in _PLAIN or not is_array(found) or size_of(found):
        return found
    least = 0 if name in _ALSO_WITH_ONE else 1
    for nothing, something in ((left, right), (right, left)):
        dimensions = dimensions_of(nothing) if name == "MatMult" else 3  # (0, 3) @ (3, 4) is no broadcasting
        if dimensions > 2 and not size_of(nothing) and size_of(something) and dimensions_of(something) >= least:
            raise AssertionError("an array of no items says nothing beside one that has some")
    return found


BELOW = {
    _FUNCTION: _of_function,
    **{_named(name): _guarded(name, own) for name, own in _OPERATORS.items()},
    **{f"{_named(name)} in place": _in_place(name, own) for name, own in _OPERATORS.items()},
}
"""The names that such code finds below its own."""


@functools.cache
def _is_instructors(file: str) -> bool:
    """Whether the code of this file is a test's, a locked cell's, or a module's beside them, and no library's."""
    return file in _FILES or not (file.startswith("<") or file.startswith(_LIBRARIES))
