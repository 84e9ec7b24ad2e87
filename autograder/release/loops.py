"""Finds checks of a test cell that run as often as the student's code likes, which may be never."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from autograder.release.counts import OWN, READ, THEIRS, Kind, element, hold, join, join_all, known, size
from autograder.release.vacuous import EVERY, NONE, Vacuous, called, condition_of, expects, parts_of, wholes
from autograder.release.values import Values, bind

__all__ = ["uncounted_checks"]

_READ_ONCE = (
    "zip(..., strict=True) with what is the test's; or read it once (list, np.asarray), compare the length of what was "
    "read, in this case, and go on with that"
)
_COMPARES = {"close", "equal", "shape", "at_least"}
_GROWS = {"append", "add", "extend", "update", "insert", "setdefault"}


def uncounted_checks(tree: ast.Module, students: Collection[str]) -> Iterator[Vacuous]:
    """Yield the loops, comprehensions and conditions with checks in them, over what the student's code made.

    students: names that are the students'. The cell is followed in its order, and into its functions with what they
    are given. A length that was compared counts only for what was read before, and until the case ends.
    """
    cell = _Cell(tree, students)
    cell.follow()
    for node in sorted(cell.found, key=lambda node: node.lineno):
        yield Vacuous(node.lineno, *_said(node))


def _said(node: ast.expr | ast.stmt) -> tuple[str, str]:
    if isinstance(node, ast.If | ast.While):
        return "the student's code says whether a check runs", "check something where it does not run, too"
    if isinstance(node, ast.For) and called(node.iter) == "zip":
        return "zip ends with the shorter one, which may be empty, or both are the student's", _READ_ONCE
    if isinstance(node, ast.Call):
        return "an empty answer passes, and may be another one than was measured", _READ_ONCE
    return "over an empty answer no check runs, and it may be another one than was measured", _READ_ONCE


class _Cell:
    """A test cell, followed from its first statement to its last."""

    def __init__(self, tree: ast.Module, students: Collection[str]) -> None:
        self._tree = tree
        self._functions = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        self._checking = _checking(self._functions)
        self._known: dict[tuple[ast.FunctionDef, tuple[Kind, ...]], Kind] = {}
        self._called: set[str] = set()
        self._values = Values({}, {}, frozenset(students), self._call, self._comprehension)
        self._values.names = self._values.cell
        self._returned: list[Kind] = []
        self.found: set[ast.expr | ast.stmt] = set()

    def follow(self) -> None:
        for name, function in self._functions.items():  # as values: what may ask the student's code
            inside = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)} - {name}
            if inside & self._values.students:
                self._values.cell[name] = THEIRS
        self._block(self._tree.body, self._values)
        for name in self._functions.keys() - self._called:  # the student's code calls it, if anything does
            self._enter(name, {}, THEIRS, self._values)

    # --------------------------------------------------------------------------------------------------- functions
    def _call(self, name: str, node: ast.Call, values: Values) -> Kind | None:
        function = self._functions.get(name)
        if function is None or (name in values.names and values.names is not values.cell):
            return None
        spec = function.args
        names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
        given: dict[str, Kind] = {}
        for number, argument in enumerate(node.args):
            if isinstance(argument, ast.Starred):
                rest = element(values.kind(argument.value))
                given |= dict.fromkeys(names[number:], rest) | ({spec.vararg.arg: rest} if spec.vararg else {})
            elif number < len(names):
                given[names[number]] = values.kind(argument)
            elif spec.vararg:
                more = given.get(spec.vararg.arg, OWN)
                given[spec.vararg.arg] = hold(join(element(more), values.kind(argument)), True)
        for word in node.keywords:
            if word.arg:
                given[word.arg] = values.kind(word.value)
        return self._enter(name, given, OWN, values)

    def _enter(self, name: str, given: dict[str, Kind], rest: Kind, values: Values) -> Kind:
        function, spec = self._functions[name], self._functions[name].args
        self._called.add(name)
        every = [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
        every += [a.arg for a in (spec.vararg, spec.kwarg) if a]
        kinds = {argument: given.get(argument, rest) for argument in every}
        key = function, tuple(kinds.values())
        if key in self._known:
            return self._known[key]
        self._known[key] = OWN  # where it calls itself
        outer, self._returned = self._returned, []
        inside = values.inner()
        if function in self._tree.body or values.names is values.cell:
            inside.names = {}  # else it stands in the function that calls it, and sees its names
        inside.names |= kinds
        inside.uncounted, inside.unsized = 0, {}
        self._block(function.body, inside)
        yields = any(isinstance(n, ast.Yield | ast.YieldFrom) for n in ast.walk(function))
        result = hold(join_all(self._returned), False) if yields else join_all(self._returned)
        self._known[key] = THEIRS if yields and THEIRS in inside.names.values() else result
        self._returned = outer
        return self._known[key]

    # -------------------------------------------------------------------------------------------------- statements
    def _block(self, body: Sequence[ast.stmt], values: Values) -> None:
        for number, statement in enumerate(body):
            self._statement(statement, values)
            if isinstance(statement, ast.If) and values.kind(statement.test) is not OWN:
                leaves = any(_leaves(part) and not self._checks(part) for part in (statement.body, statement.orelse))
                if leaves and self._checks(body[number + 1 :]):
                    self.found.add(statement)

    def _statement(self, node: ast.stmt, values: Values) -> None:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            self._assign(node, values)
        elif isinstance(node, ast.For):
            self._loop(node, values)
        elif isinstance(node, ast.While | ast.If):
            self._branch(node, values)
        elif isinstance(node, ast.With):
            self._with(node, values)
        elif isinstance(node, ast.Try):
            for body in (node.body, *(handler.body for handler in node.handlers), node.orelse, node.finalbody):
                self._block(body, values)
        elif isinstance(node, ast.Return):
            self._returned.append(values.kind(node.value))
        elif isinstance(node, ast.Expr | ast.Assert):
            self._expression(node, values)
        elif isinstance(node, ast.FunctionDef):
            self._functions[node.name] = node
        elif isinstance(node, ast.ClassDef):
            self._functions |= {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}

    def _assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, values: Values) -> None:
        if node.value is None:
            return
        kind = values.kind(node.value)
        if isinstance(node, ast.AugAssign):
            before = values.kind(node.target)
            grows = isinstance(before, tuple) or before not in (OWN, READ, THEIRS) or isinstance(node.value, ast.List)
            both = known(before) and known(kind) and not values.uncounted
            kind = hold(join(element(before), element(kind)), both) if grows else join(before, kind)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            bind(values, target, kind)

    def _loop(self, node: ast.For, values: Values) -> None:
        over = values.kind(node.iter)
        if not known(over) and self._checks(node.body):
            self.found.add(node)
        values.uncounted += not known(over)
        for _ in range(2):  # what the body leaves is there when it begins again
            before = dict(values.names)
            bind(values, node.target, element(over))
            self._block(node.body, values)
            if isinstance(node.iter, ast.Tuple | ast.List) and isinstance(node.target, ast.Name):
                for part in node.iter.elts:  # each went by the loop's name
                    if isinstance(part, ast.Name):
                        scope = values.names if part.id in values.names else values.cell
                        scope[part.id] = join(values.name(part.id), values.name(node.target.id))
            _merge(values, before)
        values.uncounted -= not known(over)
        self._block(node.orelse, values)

    def _branch(self, node: ast.While | ast.If, values: Values) -> None:
        theirs = values.kind(node.test) is not OWN
        checks = [self._checks(body) for body in (node.body, node.orelse)]
        ends = any(isinstance(n, ast.Raise) for body in (node.body, node.orelse) for n in body)
        if theirs and any(checks) and not all(checks) and not ends:
            self.found.add(node)
        values.uncounted += theirs
        before = dict(values.names)
        self._block(node.body, values)
        after = dict(values.names)
        values.names.clear()
        values.names.update(before)
        self._block(node.orelse, values)
        _merge(values, after)
        values.uncounted -= theirs

    def _with(self, node: ast.With, values: Values) -> None:
        for item in node.items:
            kind = values.kind(item.context_expr)
            if item.optional_vars is not None:
                bind(values, item.optional_vars, kind)
        case = any(called(item.context_expr) in {"case", "hidden_case"} for item in node.items)
        if case:
            values.unsized.clear()
        self._block(node.body, values)
        if case:  # if it fails, the next one runs all the same
            values.names.update(values.unsized)
            values.unsized.clear()

    def _expression(self, node: ast.Expr | ast.Assert, values: Values) -> None:
        value = node.value if isinstance(node, ast.Expr) else node.test
        values.kind(value)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _GROWS:
            owner = value.func.value
            if isinstance(owner, ast.Name) and value.args and values.kind(owner) is not THEIRS:
                bind(values, ast.Subscript(owner, ast.Constant(0), ast.Store()), values.kind(value.args[-1]))
        condition = condition_of(value if isinstance(node, ast.Expr) else node)
        if condition is not None:
            self._condition(condition, values)
        compared = value if condition is None else condition
        if condition is not None or called(value) in _COMPARES:
            for name in _sized(compared, values):
                values.unsized.setdefault(name, values.name(name))
                values.names[name] = size(values.name(name))

    def _condition(self, condition: ast.expr, values: Values) -> None:
        """Of no elements all holds, and nothing of it any."""
        for call, negated in parts_of(condition):
            about = call.args[0] if call.args else getattr(call.func, "value", None)
            if called(call) in (NONE if negated else EVERY) and about is not None and not known(values.kind(about)):
                self.found.add(call)

    # ------------------------------------------------------------------------------------------------------- checks
    def _comprehension(self, node: ast.expr | None) -> None:
        if node is not None and self._checks([node]):
            self.found.add(node)

    def _checks(self, body: Sequence[ast.AST]) -> bool:
        return any(expects(n) or called(n) in self._checking for part in body for n in ast.walk(part))


def _checking(functions: dict[str, ast.FunctionDef]) -> set[str]:
    """Return the functions of the test that check something, or call one that does."""
    found: set[str] = set()
    for _ in functions:
        found |= {name for name, f in functions.items() for n in ast.walk(f) if expects(n) or called(n) in found}
    return found


def _leaves(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return | ast.Break | ast.Continue)


def _merge(values: Values, other: dict[str, Kind]) -> None:
    for name, kind in other.items():
        values.names[name] = join(values.names.get(name, kind), kind)


def _sized(node: ast.expr, values: Values) -> Iterator[str]:
    """Yield the names whose size is compared with something of the test's here."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for value in node.values:
            yield from _sized(value, values)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        yield from _sides(node.left, node.comparators[0], values, sizes_only=True)
    elif isinstance(node, ast.Call) and called(node) in {*_COMPARES, "array_equal"} and len(node.args) > 1:
        yield from _sides(node.args[0], node.args[1], values, sizes_only=called(node) == "at_least")


def _sides(left: ast.expr, right: ast.expr, values: Values, *, sizes_only: bool) -> Iterator[str]:
    for side, other in ((left, right), (right, left)):
        if not known(values.kind(other)) or values.kind(other) is THEIRS:
            continue
        about: Iterator[ast.expr] = wholes(side)
        if isinstance(side, ast.Attribute) and side.attr in {"shape", "size"}:
            about = wholes(side.value)
        elif isinstance(side, ast.Call) and called(side) in {"len", "shape", "size"} and side.args:
            about = wholes(side.args[0])
        elif sizes_only and not isinstance(other, ast.List | ast.Tuple | ast.Dict | ast.Set):
            continue
        yield from (part.id for part in about if isinstance(part, ast.Name) and values.kind(part) is not THEIRS)
