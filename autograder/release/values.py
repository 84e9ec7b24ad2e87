"""Finds out, for an expression of a test cell, what it is of the student's: see `counts`."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import dataclass, field

from autograder.release.counts import NOTHING, OWN, READ, THEIRS, Kind, Many, element, hold, join, join_all, known

__all__ = ["Values", "bind"]

_NUMBERS = {"abs", "bool", "complex", "float", "hasattr", "hash", "id", "int", "isinstance", "len", "repr", "round"}
_NUMBERS |= {"str", "type", "callable", "issubclass", "ord", "format"}
_COPIES = {"list", "tuple", "sorted", "set", "frozenset", "dict", "reversed", "iter", "Counter", "deque"}
_COMPUTE = {"np", "numpy", "torch", "math", "tf", "tensorflow", "itertools", "operator", "statistics"}
"""Libraries that compute in the test's process: what comes of their functions has been read."""
_VIEWS = {"items", "values", "keys", "copy"}

Calls = Callable[[str, ast.Call, "Values"], Kind | None]


@dataclass
class Values:
    """The kinds of names at one place of a cell.

    names: those of the function, on top of the cell's. students: the student's. call: returns what a call of a function
    of the test gives, or None if the name is none. seen: is told what of a comprehension runs as often as the student
    likes, if anything does.
    """

    names: dict[str, Kind]
    cell: dict[str, Kind]
    students: frozenset[str]
    call: Calls
    seen: Callable[[ast.expr | None], None]
    uncounted: int = 0
    unsized: dict[str, Kind] = field(default_factory=dict)

    def name(self, name: str) -> Kind:
        for names in (self.names, self.cell):
            if name in names:
                return names[name]
        return THEIRS if name in self.students else OWN

    def inner(self) -> Values:
        """Return a copy for a scope whose names end with it."""
        return Values(dict(self.names), self.cell, self.students, self.call, self.seen, self.uncounted, self.unsized)

    def kind(self, node: ast.expr | None) -> Kind:
        """Return what this expression is."""
        found = getattr(self, f"_{type(node).__name__.lower()}", None)
        if found is not None:
            result: Kind = found(node)
            return result
        parts = ast.iter_child_nodes(node) if node is not None else ()
        return computed([self.kind(part) for part in parts if isinstance(part, ast.expr)])

    # ------------------------------------------------------------------------------------------------------ by kind
    def _name(self, node: ast.Name) -> Kind:
        return self.name(node.id)

    def _tuple(self, node: ast.Tuple) -> Kind:
        if any(isinstance(part, ast.Starred) for part in node.elts):
            return self._list(node)
        return tuple(self.kind(part) for part in node.elts)

    def _list(self, node: ast.List | ast.Tuple | ast.Set) -> Kind:
        whole = [self.kind(part.value) for part in node.elts if isinstance(part, ast.Starred)]
        single = [self.kind(part) for part in node.elts if not isinstance(part, ast.Starred)]
        return hold(join_all([*single, *map(element, whole)]), all(map(known, whole)))

    _set = _list

    def _dict(self, node: ast.Dict) -> Kind:
        single = [self.kind(value) for key, value in zip(node.keys, node.values, strict=True) if key is not None]
        whole = [self.kind(value) for key, value in zip(node.keys, node.values, strict=True) if key is None]
        return hold(join_all([*single, *map(element, whole)]), all(map(known, whole)))

    def _starred(self, node: ast.Starred) -> Kind:
        return element(self.kind(node.value))

    def _attribute(self, node: ast.Attribute) -> Kind:
        owner = self.kind(node.value)
        return owner if owner in (OWN, READ) else THEIRS

    def _subscript(self, node: ast.Subscript) -> Kind:
        owner = self.kind(node.value)
        if isinstance(node.slice, ast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            whole = join_all(owner) if isinstance(owner, tuple) else element(owner)
            ends = all(self.kind(bound) is OWN for bound in bounds if bound is not None)
            return THEIRS if owner is THEIRS else hold(whole, known(owner) and ends)
        at = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(owner, tuple) and isinstance(at, int) and -len(owner) <= at < len(owner):
            return owner[at]
        return element(owner)

    def _binop(self, node: ast.BinOp) -> Kind:
        left, right = self.kind(node.left), self.kind(node.right)
        if isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List | ast.Tuple):
            return hold(element(left), right is OWN)
        if (
            isinstance(left, tuple | Many)
            and isinstance(right, tuple | Many)
            and isinstance(node.op, ast.Add | ast.BitOr)
        ):
            return hold(join(element(left), element(right)), known(left) and known(right))
        return THEIRS if left is right is THEIRS else computed([READ if k is THEIRS else k for k in (left, right)])

    def _compare(self, node: ast.Compare) -> Kind:
        kinds = [self.kind(part) for part in (node.left, *node.comparators)]
        if isinstance(node.ops[0], ast.In | ast.NotIn) and _own(kinds[:1]) and known(kinds[1]):
            return OWN  # a key of the test's
        if isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn):
            return OWN if _own(kinds) else READ
        return THEIRS if all(k is THEIRS for k in kinds) else computed([READ if k is THEIRS else k for k in kinds])

    def _ifexp(self, node: ast.IfExp) -> Kind:
        either = join(self.kind(node.body), self.kind(node.orelse))
        return either if self.kind(node.test) is OWN or not known(either) else hold(element(either), False)

    def _boolop(self, node: ast.BoolOp) -> Kind:
        return join_all(self.kind(value) for value in node.values)

    def _namedexpr(self, node: ast.NamedExpr) -> Kind:
        found = self.kind(node.value)
        bind(self, node.target, found)
        return found

    def _lambda(self, node: ast.Lambda) -> Kind:
        inside = self.inner()
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            inside.names[argument.arg] = OWN
        return THEIRS if inside.kind(node.body) not in (OWN, READ) else OWN

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp) -> Kind:
        inside, every, some = self.inner(), True, True
        for part in node.generators:
            over = inside.kind(part.iter)
            bind(inside, part.target, element(over))
            every &= known(over)
            some &= all(inside.kind(test) is OWN for test in part.ifs)
        value = node.value if isinstance(node, ast.DictComp) else node.elt
        self.seen(node if not every else value if not some else None)
        return hold(inside.kind(value), every and some)

    _generatorexp = _setcomp = _dictcomp = _listcomp

    # -------------------------------------------------------------------------------------------------------- calls
    def _call(self, node: ast.Call) -> Kind:
        arguments = [self.kind(argument) for argument in node.args]
        arguments += [self.kind(word.value) for word in node.keywords]
        function = node.func
        if isinstance(function, ast.Name):
            given = self.call(function.id, node, self)
            if given is not None:
                return given
            if function.id not in self.names and hasattr(builtins, function.id):
                return self._builtin(function.id, node, arguments)
            if function.id in _COPIES:
                return _copied(arguments[0] if arguments else OWN)
            if function.id == "launch":  # one value a rank, as boundary/everywhere.py sees to
                return hold(OWN if _own(arguments) else THEIRS, True)
        if isinstance(function, ast.Attribute):
            if function.attr == "collective":  # a dictionary a rank for each job: see boundary/ranks.py
                return OWN if _own(arguments) else hold(hold(THEIRS, True), True)
            if function.attr == "pairwise" and arguments:
                return hold((element(arguments[0]),) * 2, known(arguments[0]))
            if _root(function) in _COMPUTE:
                return computed([READ if kind is THEIRS else kind for kind in arguments], flat=True)
            owner = self.kind(function.value)
            if function.attr in _VIEWS and not arguments:
                views = function.attr == "items" and owner is not THEIRS
                return hold((OWN, element(owner)), known(owner)) if views else owner
            if owner is READ and THEIRS not in arguments:
                return READ
        return OWN if _own([*arguments, self.kind(function)]) else THEIRS

    def _builtin(self, name: str, node: ast.Call, arguments: list[Kind]) -> Kind:
        first = arguments[0] if arguments else OWN
        if name == "len" and known(first):
            return OWN
        if name in _NUMBERS or name == "range":
            return OWN if _own(arguments) else READ
        if name == "next" and isinstance(first, tuple | Many):
            return element(first)
        if name == "enumerate":
            return hold((OWN, element(first)), known(first))
        if name == "zip":
            strict = any(w.arg == "strict" and getattr(w.value, "value", None) is True for w in node.keywords)
            over = arguments[: len(node.args)]
            if node.args and isinstance(node.args[0], ast.Starred):
                ranks = self.kind(node.args[0].value)
                return hold(hold(element(over[0]), known(ranks)), known(over[0]))
            return hold(tuple(map(element, over)), any(map(known, over)) if strict else all(map(known, over)))
        if name in ("map", "filter") and arguments:
            over = arguments[1:]
            inner = join_all([THEIRS if first is THEIRS else OWN, *map(element, over)])
            return hold(inner, name == "map" and all(map(known, over)))
        if name in _COPIES:
            return _copied(first)
        return OWN if _own(arguments) else THEIRS if THEIRS in _flat(arguments) else READ


def computed(kinds: list[Kind], *, flat: bool = False) -> Kind:
    """Return what is computed from these in the test's process."""
    if _own(kinds):
        return OWN
    return READ if flat or THEIRS not in _flat(kinds) else THEIRS


def bind(values: Values, target: ast.expr, kind: Kind) -> None:
    """Give a name, or several, what is assigned to them."""
    if isinstance(target, ast.Name):
        values.names[target.id] = kind
    elif isinstance(target, ast.Starred):
        bind(values, target.value, hold(kind, False))
    elif isinstance(target, ast.Tuple | ast.List):
        parts = target.elts
        fits = (
            isinstance(kind, tuple) and len(kind) == len(parts) and not any(isinstance(p, ast.Starred) for p in parts)
        )
        for number, part in enumerate(parts):
            bind(values, part, kind[number] if fits and isinstance(kind, tuple) else element(kind))
    elif isinstance(target, ast.Subscript | ast.Attribute) and isinstance(root := _owner(target), ast.Name):
        scope = values.names if root.id in values.names else values.cell
        held = hold(join(element(values.name(root.id)), kind), known(values.name(root.id)) and not values.uncounted)
        if values.name(root.id) is not THEIRS:
            scope[root.id] = held


def _copied(kind: Kind) -> Kind:
    return Many(False, THEIRS) if kind is THEIRS else kind


def _own(kinds: list[Kind]) -> bool:
    return all(kind in (NOTHING, OWN) for kind in _flat(kinds)) and all(map(known, kinds))


def _flat(kinds: list[Kind]) -> list[Kind]:
    found: list[Kind] = []
    for kind in kinds:
        inner = list(kind) if isinstance(kind, tuple) else [kind.element] if isinstance(kind, Many) else []
        found += _flat(inner) if inner else [kind]
    return found


def _owner(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node


def _root(node: ast.expr) -> str:
    root = _owner(node)
    return root.id if isinstance(root, ast.Name) else ""
