"""Names of tests and locked cells that may stand for one object or a part of it: what fills one fills the other."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from autograder.boundary.scopes import filled, root_of, run_at_once

__all__ = ["Aliases", "written"]

Functions = Mapping[str, frozenset[str]]
"""Those that the cells define, and classes, with the names that each may hand out: what it reads, or holds itself."""

_VIEWS = {
    *("asanyarray", "asarray", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_to", "copy", "diag", "diagonal"),
    *("flip", "moveaxis", "ravel", "reshape", "rollaxis", "squeeze", "swapaxes", "transpose", "view_as_real"),
    *("chain", "islice", "partial", "tee", "zip_longest"),
}
"""Functions of libraries whose result may be part of what they are given."""
_BUILT_IN = {
    *("dict", "enumerate", "filter", "frozenset", "getattr", "iter", "list", "map", "max", "min", "next", "reversed"),
    *("set", "sorted", "tuple", "vars", "zip"),
}
"""Python's own: the result holds the same items."""
_WRITING = {
    *(
        "add",
        "append",
        "appendleft",
        "extend",
        "extendleft",
        "insert",
        "put",
        "register",
        "send",
        "setdefault",
        "update",
    ),
    *("write", "writelines", "push", "fill", "__setitem__", "__iadd__"),
}
"""Methods that write, wherever their value goes."""


class Aliases:
    """Pairs of names that a statement ties: `pairs = tables["small"]`, `for row in rows`, `tables.append(row)`."""

    def __init__(self) -> None:
        self._tied: defaultdict[str, set[str]] = defaultdict(set)
        self._late: defaultdict[str, set[str]] = defaultdict(set)

    def read(self, statement: ast.stmt, functions: Functions) -> None:
        """Take what a statement ties. A student's function gets copies, and returns others."""
        for decorator in getattr(statement, "decorator_list", ()):
            for name in {part.id for part in ast.walk(statement) if isinstance(part, ast.Name)}:
                self._tied[name].add(statement.name)  # type: ignore[attr-defined]  # if it is another's by then, too
            held = functions.get(root_of(decorator, calls=True), ())
            for name in {*held} - {statement.name}:  # type: ignore[attr-defined]
                self._tied[statement.name].add(name)  # type: ignore[attr-defined]
        late = {
            name for part in ast.walk(statement) if isinstance(part, ast.Lambda) for name in _roots(part, functions)
        }
        for part in run_at_once(statement):
            for one, others in _ties(part, functions):
                for other in late & others:
                    self._late[other].add(one)
                for other in others - {one}:
                    self._tied[one].add(other)
                    self._tied[other].add(one)

    def define(self, functions: Functions) -> None:
        """Take which data functions read: who fills that has what they say. They fill nothing of it by themselves."""
        for function, names in functions.items():
            for name in names - {function}:
                self._tied[name].add(function)

    def readers(self, names: Collection[str], functions: Functions) -> set[str]:
        """Return the functions that read one of these names, whatever it means by now, and what holds one of them."""
        found = {function for function, read in functions.items() if not read.isdisjoint(names)}
        return self.of(found.union(*(self._late.get(name, ()) for name in names)))

    def of(self, names: Collection[str]) -> set[str]:
        """Return these names, and all that are tied to them, directly or by others."""
        found, left = set[str](), [*names]
        while left:
            if (name := left.pop()) not in found:
                found.add(name)
                left += self._tied.get(name, ())
        return found


def written(statement: ast.stmt, functions: Functions) -> set[str]:
    """Return the names whose objects a statement may write to: items, attributes, methods, functions of the cells.

    Among them is whatever is called, or has something called: `put(3)`, where `get, put = box()`.
    """
    found = set[str]()
    for part in run_at_once(statement):
        if isinstance(part, ast.stmt):
            found |= filled(part)
        if isinstance(part, ast.AugAssign) or (
            isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load)
        ):
            found.add(root_of(part.target if isinstance(part, ast.AugAssign) else part))
        if isinstance(part, ast.Attribute) and part.attr in _WRITING:  # called, or handed on to be
            found |= _roots(part.value, functions)
        if isinstance(part, ast.Call):
            called, named = root_of(part.func), isinstance(part.func, ast.Name | ast.Attribute)
            if called in functions or not named:
                parts = [*_given(part), *([] if named else [part.func])]
                found |= {name for each in parts for name in _roots(each, functions)}
            else:
                found.add(called)
    return found - {""}


def _ties(part: ast.AST, functions: Functions) -> Iterator[tuple[str, set[str]]]:
    """Yield a name, and those that it may stand for a part of."""
    if isinstance(part, ast.Assign):
        yield from _bound(part.targets, part.value, functions)
    elif isinstance(part, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and part.value is not None:
        yield from _bound([part.target], part.value, functions)
    elif isinstance(part, ast.For | ast.AsyncFor | ast.comprehension):
        yield from _bound([part.target], part.iter, functions)
    elif isinstance(part, ast.Match):
        patterns = [node for case in part.cases for node in ast.walk(case.pattern)]
        names = {getattr(node, "name", None) or getattr(node, "rest", None) for node in patterns} - {None}
        for name in names:
            yield str(name), _roots(part.subject, functions)
    elif isinstance(part, ast.withitem) and part.optional_vars is not None:
        yield from _bound([part.optional_vars], part.context_expr, functions)
    elif isinstance(part, ast.Call) and (owner := root_of(part.func)):
        given = {name for each in _given(part) for name in _roots(each, functions)}
        for one in functions.get(owner, ()) if isinstance(part.func, ast.Name) else [owner]:
            yield one, given  # which it may keep


def _bound(targets: list[ast.expr], value: ast.expr, functions: Functions) -> Iterator[tuple[str, set[str]]]:
    roots = _roots(value, functions)
    for target in targets:
        names = {node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        together = names if isinstance(value, ast.Call) else set()  # what one call has made may share something
        for name in names | ({root_of(target)} - {""}):
            yield name, roots | together


def _roots(value: ast.AST, functions: Functions) -> set[str]:
    """Return the names whose objects a value may be, be a part of, or hold."""
    parts: list[ast.AST]
    if isinstance(value, ast.Call):
        name = getattr(value.func, "attr", getattr(value.func, "id", ""))
        of_cells = isinstance(value.func, ast.Name) and value.func.id in functions
        through = of_cells or name in _VIEWS or (isinstance(value.func, ast.Name) and name in _BUILT_IN)
        through |= not isinstance(value.func, ast.Name | ast.Attribute)
        if of_cells:
            return {*functions[name], *(root for part in _given(value) for root in _roots(part, functions))}
        parts = [*_given(value)] if through else []
        parts += [value.func.value] if isinstance(value.func, ast.Attribute) else []
    elif isinstance(value, ast.Attribute | ast.Subscript | ast.Starred | ast.NamedExpr):
        parts = [value.value]
    elif isinstance(value, ast.Name):
        return {value.id}
    elif isinstance(value, ast.Lambda):
        return {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    elif isinstance(value, ast.Compare | ast.Constant | ast.UnaryOp | ast.JoinedStr):
        return set()
    else:
        parts = [*ast.iter_child_nodes(value)]
    return {name for part in parts for name in _roots(part, functions)}


def _defaults(statement: ast.stmt) -> list[ast.expr]:
    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return []
    return [*statement.args.defaults, *filter(None, statement.args.kw_defaults)]


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(word.value for word in call.keywords)]
