"""Rules that change calls, and what is special to arrays and tensors: axes, dtypes, copies, state between calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from autograder.proof.python_rules import ExpressionRule, StatementRule, call, with_fields
from autograder.proof.sites import Function

__all__ = ["DECORATORS", "EXPRESSIONS", "OF_ARGUMENTS", "OF_METHODS", "STATEMENTS"]

_DTYPES: Mapping[str, tuple[str, ...]] = {
    "float64": ("float32",), "double": ("float32",), "float32": ("float16", "float64"), "float16": ("float32",),
    "half": ("float32",), "bfloat16": ("float16", "float32"), "int64": ("int32",), "int32": ("int64", "int16"),
    "int16": ("int32",), "int8": ("uint8", "int32"), "uint8": ("int8", "int32"), "uint16": ("uint8", "int16"),
    "uint32": ("uint16", "int64"), "uint64": ("uint32",), "bool": ("int64",), "bool_": ("int64",),
}  # fmt: skip
_FRAMEWORKS = {"np", "numpy", "torch", "tf", "jnp", "keras", "nn"}
_TWINS: Mapping[str, tuple[str, ...]] = {
    "min": ("max",), "max": ("min",), "minimum": ("maximum",), "maximum": ("minimum",), "amin": ("amax",),
    "amax": ("amin",), "argmin": ("argmax",), "argmax": ("argmin",), "floor": ("ceil", "round"),
    "ceil": ("floor", "round"), "round": ("floor",), "zeros": ("ones",), "ones": ("zeros",),
    "zeros_like": ("ones_like",), "ones_like": ("zeros_like",), "any": ("all",), "all": ("any",), "sum": ("mean",),
    "mean": ("sum", "median"), "median": ("mean",), "append": ("extend",), "logical_and": ("logical_or",),
    "logical_or": ("logical_and",), "cumsum": ("cumprod",), "argsort": ("sort",), "rint": ("floor",), "std": ("var",),
    "var": ("std",), "isfinite": ("isnan",), "floor_divide": ("true_divide",), "sqrt": ("cbrt",),
}  # fmt: skip
_TRANSPARENT = {
    "abs", "array", "as_tensor", "asarray", "ascontiguousarray", "bool", "deepcopy", "dict", "float", "int", "list",
    "reversed", "round", "set", "sorted", "sqrt", "tensor", "tuple", "rint", "floor", "ceil", "copy",
}  # fmt: skip
"""Functions without which their argument may still pass for their result."""
_METHODS = {
    "astype", "clone", "clip", "clamp", "contiguous", "copy", "detach", "double", "flatten", "float", "half", "int",
    "item", "long", "numpy", "ravel", "reshape", "squeeze", "sum", "mean", "to", "tolist", "transpose", "type",
    "unsqueeze", "view", "strip", "items", "keys", "values", "sort", "sqrt", "abs", "max", "min", "round", "cpu",
}  # fmt: skip
_AXES = {"axis", "dim", "axes", "dims", "keepdim", "keepdims"}
_MADE_EMPTY = {"dict", "list", "set", "zeros", "zeros_like", "empty", "ones", "full", "Counter", "defaultdict", "deque"}
_TIES = {"argmax", "argmin", "argsort", "max", "min", "sort", "sorted"}
_ROUNDINGS = {"rint", "round"}
_RANGES = {"range", "arange", "linspace"}


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


# -------------------------------------------------------------------------------------------------------------- calls
def _argument_order(node: ast.AST) -> Iterator[ast.AST]:
    for index in range(len(node.args) - 1 if isinstance(node, ast.Call) else 0):
        assert isinstance(node, ast.Call)
        left, right = node.args[index : index + 2]
        if ast.dump(left) != ast.dump(right) and not any(isinstance(a, ast.Starred) for a in (left, right)):
            yield with_fields(node, args=[*node.args[:index], right, left, *node.args[index + 2 :]])


def _argument_dropped(node: ast.AST) -> Iterator[ast.AST]:
    if not isinstance(node, ast.Call):
        return
    for index in range(len(node.keywords)):
        yield with_fields(node, keywords=node.keywords[:index] + node.keywords[index + 1 :])
    if len(node.args) > 1:
        yield with_fields(node, args=node.args[:-1])


def _range(node: ast.AST) -> Iterator[ast.AST]:
    """One more, one less, and from 1: of what is counted or cut."""
    if isinstance(node, ast.Call) and _name(node.func) in _RANGES and node.args:
        for index, bound in enumerate(node.args):
            if not isinstance(bound, ast.Constant):
                for operator in (ast.Add(), ast.Sub()):
                    moved = ast.BinOp(bound, operator, ast.Constant(1))
                    yield with_fields(node, args=[*node.args[:index], moved, *node.args[index + 1 :]])
        if len(node.args) == 1:
            yield with_fields(node, args=[ast.Constant(1), *node.args])


def _twin(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Call):
        for other in _TWINS.get(_name(node.func), ()):
            function = node.func
            renamed = (
                with_fields(function, id=other) if isinstance(function, ast.Name) else with_fields(function, attr=other)
            )
            yield with_fields(node, func=renamed)


def _call_dropped(node: ast.AST) -> Iterator[ast.AST]:
    """The argument for its copy, its conversion or its order; a method left out, `.T` too."""
    if isinstance(node, ast.Call):
        function = node.func
        if _name(function) in _TRANSPARENT and node.args and not isinstance(node.args[0], ast.Starred):
            yield node.args[0]
        if (
            isinstance(function, ast.Attribute)
            and function.attr in _METHODS
            and _name(function.value) not in _FRAMEWORKS
        ):
            yield function.value
    elif (
        isinstance(node, ast.Attribute) and node.attr in {"T", "mT", "data", "real"} and isinstance(node.ctx, ast.Load)
    ):
        yield node.value


def _tie(node: ast.AST) -> Iterator[ast.AST]:
    """Of equal items the last in place of the first."""
    if isinstance(node, ast.Call) and _name(node.func) in _TIES:
        yield with_fields(node, func=call("unseen.ties", node.func))


def _half(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Call) and _name(node.func) in _ROUNDINGS:
        yield with_fields(node, func=call("unseen.half_up", node.func))


# ------------------------------------------------------------------------------------------------------------- arrays
def _axis(node: ast.AST) -> Iterator[ast.AST]:
    """axis=0 for axis=1, for the last, and for all."""
    if isinstance(node, ast.keyword) and node.arg in _AXES and not _is_bool(node.value):
        try:
            value = ast.literal_eval(node.value)
        except ValueError:
            return
        for other in (
            {0: (1, None), 1: (0, None), -1: (0, None), None: (0,)}.get(value, (0, None))
            if not isinstance(value, tuple)
            else (None,)
        ):
            yield with_fields(node, value=ast.Constant(other))


def _is_bool(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _dtype(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Attribute) and _name(node.value) in _FRAMEWORKS:
        for other in _DTYPES.get(node.attr, ()):
            yield with_fields(node, attr=other)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from (ast.Constant(other) for other in _DTYPES.get(node.value, ()))
    elif isinstance(node, ast.keyword) and node.arg == "dtype" and _name(node.value) in {"float", "int", "bool"}:
        yield with_fields(
            node, value=ast.Constant({"float": "float32", "int": "int32", "bool": "int64"}[_name(node.value)])
        )


def _kept(node: ast.AST) -> Iterator[ast.AST]:
    """What is made afresh in each call is made once, and shared by all calls."""
    if _holds_nothing_yet(node) or (isinstance(node, ast.Call) and _name(node.func) in _MADE_EMPTY):
        assert isinstance(node, ast.expr)
        no_arguments = ast.arguments([], [], None, [], [], None, [])
        yield call("wrongly.kept", ast.Constant(ast.unparse(node)), ast.Lambda(no_arguments, node))


def _holds_nothing_yet(node: ast.AST) -> bool:
    if isinstance(node, ast.Dict):
        return not node.keys or any(map(_holds_nothing_yet, node.values))
    if isinstance(node, ast.List):
        return isinstance(node.ctx, ast.Load) and (not node.elts or any(map(_holds_nothing_yet, node.elts)))
    return False


# --------------------------------------------------------------------------------------------------------- statements
def _shared(node: ast.stmt, function: Function) -> Iterator[ast.stmt]:
    """State of an instance kept by its class."""
    if not (isinstance(node, ast.Assign) and function.method):
        return
    for index, target in enumerate(node.targets):
        if isinstance(target, ast.Attribute) and _name(target.value) == "self":
            owner = with_fields(target, value=call("type", ast.Name("self", ast.Load())))
            yield with_fields(node, targets=[*node.targets[:index], owner, *node.targets[index + 1 :]])  # type: ignore[misc]


def _in_place(node: ast.stmt, function: Function) -> Iterator[ast.stmt]:
    """A new value of a parameter's name written into the argument."""
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    if isinstance(target, ast.Name) and target.id in function.parameters:
        inside = ast.Subscript(ast.Name(target.id, ast.Load()), ast.Constant(...), ast.Store())
        yield with_fields(node, targets=[inside])  # type: ignore[misc]


EXPRESSIONS: Mapping[str, ExpressionRule] = {
    "arguments swapped": _argument_order,
    "argument dropped": _argument_dropped,
    "range": _range,
    "another function": _twin,
    "call dropped": _call_dropped,
    "axis": _axis,
    "dtype": _dtype,
    "state kept": _kept,
    "tie": _tie,
    "half": _half,
}
STATEMENTS: Mapping[str, StatementRule] = {"state shared": _shared, "changed in place": _in_place}
DECORATORS: Mapping[str, tuple[str, ...]] = {
    "dtype": ("wrongly.narrowed", "wrongly.widened"),
    "rounded": ("wrongly.rounded",),
    "cached": ("wrongly.cached_by_shape", "wrongly.cached_by_first_call"),
    "shared result": ("unseen.cached_by_length",),
    "result reused": ("wrongly.one_buffer", "wrongly.one_list"),
    "type of result": (
        "wrongly.zero_dimensional", "wrongly.list_for_tuple", "wrongly.tuple_for_list", "wrongly.tensor_for_number",
    ),
}  # fmt: skip
"""Faults of `autograder.proof.wrongly` and `unseen` that are put before a whole function."""
OF_METHODS: Mapping[str, tuple[str, ...]] = {"shared result": ("unseen.cached_by_class",)}
OF_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "changed in place": ("wrongly.changing",),
    "coarse argument": ("wrongly.coarse",),
    "sign": ("wrongly.unsigned",),
    "order of items": ("unseen.ordered",),
    "repeated items": ("unseen.distinct",),
    "side of 1": ("unseen.squeezed",),
    "generator": ("unseen.advanced", "unseen.copied"),
}
"""Those that take an argument's name."""
