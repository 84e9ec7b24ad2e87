"""What locked cells defined, for a test that needs it in the student's process: as it is there, or made again.

A student's cell may bind the same name for a use of its own, and goes on with that. A test means what stands in the
locked cell. So that is made again where the name has come to mean something else, beside the student's names and not
in their place. What is unchanged stays the object that it was, with all that has been done with it. Whether they are is
seen of functions, classes and imports, and of data that the student's code has made (see as_left). Other data that is
asked for here is made anew: it costs little, and comes out as it did.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import re
import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.boundary.as_left import is_as_left, shadowed
from autograder.boundary.locked import STAR, Statement, all_statements, only_imports

__all__ = ["Unmade", "made_again"]

_PARTS = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount", "co_kwonlyargcount",
          "co_posonlyargcount", "co_name")  # fmt: skip
_MOST_WRAPPED = 10
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class Unmade:
    """Stands for a name of a locked cell that means something else now, and that cannot be made again."""


def made_again(namespace: Mapping[str, Any], cells: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return by name what locked cells mean, where the namespace has another, and data in any case.

    cells: of each its imports, functions, classes and data, as texts.
    """
    found = _parsed(cells)
    asking = _asking(found)
    kept = _kept(found, asking | _under_classes(found), namespace)
    bound = [{n: same or n in kept for n, same in made.bound(namespace).items()} for made in found]
    changed = {name for names in bound for name, same in names.items() if not same}
    changed |= (foreign := shadowed(namespace) - {name for names in bound for name in names})
    while more := {n for s, made in zip(bound, found, strict=True) if made.uses & changed for n in s} - changed - kept:
        changed |= more
    space = {name: value for name, value in namespace.items() if name not in changed}
    for made, names in zip(found, bound, strict=True):
        if names.keys() & changed or (made.acts and made.uses <= {*changed, *space} and not made.uses & kept):
            made.make(space)
    left = {name: namespace[name] if name in asking else Unmade() for name in changed if name in namespace}
    return {n: v for n, v in (left | {n: space[n] for n in changed if n in space}).items() if n not in foreign}


def _kept(found: Sequence[_Made], asking: Collection[str], namespace: Mapping[str, Any]) -> set[str]:
    """Return the names of data that is as its cell has left it, and need not be made again.

    What one statement fills, or hands to the student's code with what that has made, is kept together or not at all.
    """
    statements = [made.statement for made in found if made.acts or made.statement.gives_data]
    data = {name for s in statements for name in s.binds}
    together = [
        (s.touches | s.binds) & (set(asking) if isinstance(s.node, ast.Assign | ast.AnnAssign) else data)
        for s in statements
    ]
    together = [names for names in together if names & set(asking)]
    kept = {name for name in {*asking}.union(*together) if is_as_left(namespace, name)}
    while apart := [names for names in together if names & kept and names - kept]:
        kept -= {name for names in apart for name in names}
    return kept


def _under_classes(found: Sequence[_Made]) -> set[str]:
    """Return the names of data that classes use, or what they use does: made anew it would make other classes.

    And an object of the student's would be of none of these.
    """
    uses = {name: made.uses for made in found for name in made.statement.binds}
    names = {name for made in found if made.statement.is_class for name in made.uses}
    while more := {n for name in names & uses.keys() for n in uses[name]} - names:
        names |= more
    return {name for made in found if made.statement.gives_data for name in made.statement.binds} & names


def _asking(found: Sequence[_Made]) -> set[str]:
    """Return the names of data that needs what none of these binds: the student's code makes it, perhaps only once.

    `Account("Ann")` may be refused a second time. Then it is what it is.
    """
    bound = {name for made in found for name in made.statement.binds} | set(dir(builtins))
    data = [made for made in found if made.statement.gives_data]
    names = {name for made in data if made.statement.uses - bound for name in made.statement.binds}
    while more := {n for made in data if made.uses & names for n in made.statement.binds} - names:
        names |= more
    return names


def _parsed(cells: Sequence[Sequence[str]]) -> list[_Made]:
    """Return the statements of these texts, each with its cell's imports."""
    found = iter(all_statements(tuple(text for cell in cells for text in cell)))
    made: list[_Made] = []
    for cell in cells:
        some = [next(found) for _ in cell]
        imports = tuple(one.node for one in some if isinstance(one.node, ast.Import | ast.ImportFrom))
        for one in some:
            made.append(_Made(one, imports, _needed(one, made) if one.is_class else ()))
    return made


def _needed(statement: Statement, earlier: Sequence[_Made]) -> tuple[ast.stmt, ...]:
    """Return what binds the names that a statement looks up, wherever it stands before: an import of another cell."""
    names, needed = {*statement.uses}, list[ast.stmt]()
    for one in reversed(earlier):
        if one.statement.binds & {*names, STAR} and not one.statement.calls:
            needed.insert(0, one.node)
            names |= one.uses
    return tuple(needed)


@dataclass(frozen=True)
class _Made:
    """A statement that binds names, and its cell's imports: calls of what they bind are compiled otherwise.

    needed: what stands before it, in any cell, and binds what a definition of a class looks up.
    """

    statement: Statement
    beside: tuple[ast.stmt, ...]
    needed: tuple[ast.stmt, ...] = ()

    @property
    def node(self) -> ast.stmt:
        """The statement itself."""
        return self.statement.node

    @property
    def acts(self) -> bool:
        """Whether it binds nothing: it is there because it acts on data, or seeds what that is drawn from."""
        return not (self.statement.defines or only_imports(self.node) or self.statement.binds)

    @property
    def uses(self) -> frozenset[str]:
        """The names that it looks up, wherever they are bound."""
        return frozenset(found.id for found in ast.walk(self.node) if isinstance(found, ast.Name))

    def make(self, space: dict[str, Any]) -> None:
        """Run it, if it can be run."""
        with contextlib.suppress(Exception):
            exec(_compiled([self.node]), space)

    def bound(self, namespace: Mapping[str, Any]) -> dict[str, bool]:
        """Return the names that it binds, and whether the namespace has for each what it would give."""
        if isinstance(self.node, ast.FunctionDef):
            return {self.node.name: self._is_of(namespace.get(self.node.name), self.node, namespace)}
        if isinstance(self.node, ast.ClassDef):
            return {self.node.name: self._is_class(namespace.get(self.node.name), self.node, namespace)}
        if self.statement.is_class:
            return {self.statement.name: self._is_made_class(namespace.get(self.statement.name))}
        if not only_imports(self.node):
            return dict.fromkeys(self.statement.binds, False)
        scratch: dict[str, Any] = {}
        self.make(scratch)
        scratch.pop("__builtins__", None)
        return {name: name in namespace and namespace[name] is value for name, value in scratch.items()}

    def _is_class(self, found: Any, node: ast.ClassDef, namespace: Mapping[str, Any]) -> bool:
        """Whether this is the class of a definition: the methods are those of its text, whatever was added."""
        bodies = [code for code in _codes(_compiled([*self.beside, node])) if code.co_name == node.name]
        if not isinstance(found, type) or found.__name__ != node.name or not bodies:
            return False
        decorated = {part.name for part in node.body if isinstance(part, ast.FunctionDef) and part.decorator_list}
        methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)}
        for code in (code for code in _codes(bodies[0]) if code.co_name in methods):
            there = list(_functions(vars(found).get(code.co_name)))
            same = any(_alike(function.__code__, code) and function.__globals__ is namespace for function in there)
            if not same and (there or code.co_name not in decorated):  # else a decorator has made what hides it
                return False
        return bool(methods) or all(_is_still(vars(found), part) for part in node.body)

    def _is_made_class(self, found: Any) -> bool:
        """Whether this is what the factory of a definition gives, with nothing added: `namedtuple("Point", "x y")`."""
        space: dict[str, Any] = {"__name__": "__main__"}
        for node in [*self.needed, self.node]:
            with contextlib.suppress(Exception):
                exec(_compiled([node]), space)
        made = space.get(self.statement.name)
        if not isinstance(found, type) or not isinstance(made, type) or type(found) is not type(made):
            return False
        mine, there = vars(made), vars(found)
        same = (found.__name__, found.__bases__, there.keys()) == (made.__name__, made.__bases__, mine.keys())
        return same and all(_alike_members(mine[name], there[name], (made, found)) for name in mine)

    def _is_of(self, found: Any, node: ast.FunctionDef, namespace: Mapping[str, Any]) -> bool:
        """Whether this is the function of a definition, as it is or in wrappers that say what they wrap."""
        for _ in range(_MOST_WRAPPED if node.decorator_list else 0):
            if isinstance(found, types.FunctionType) and not hasattr(found, "__wrapped__"):
                break
            found = getattr(found, "__wrapped__", None)
        if not isinstance(found, types.FunctionType) or found.__globals__ is not namespace:
            return False
        codes = _codes(_compiled([*self.beside, node]))
        if not any(_alike(found.__code__, code) for code in codes if code.co_name == node.name):  # else of a default
            return False
        if node.decorator_list or not (node.args.defaults or any(node.args.kw_defaults)):
            return True
        space = dict(namespace)
        self.make(space)
        return _defaults(found) == _defaults(space.get(node.name))


def _compiled(nodes: Sequence[ast.stmt]) -> types.CodeType:
    return compile(ast.Module([*nodes], []), "<given>", "exec", dont_inherit=True)


def _is_still(members: Mapping[str, Any], part: ast.stmt) -> bool:
    """Whether what this part of a class's body sets to a constant is that, or a member of an Enum with this value."""
    if not isinstance(part, ast.Assign) or not isinstance(part.value, ast.Constant):
        return True
    names = [target.id for target in part.targets if isinstance(target, ast.Name)]
    found = [getattr(members.get(name), "value", members.get(name)) for name in names]
    return all(type(value) is type(part.value.value) and value == part.value.value for value in found)


def _codes(code: types.CodeType) -> list[types.CodeType]:
    return [const for const in code.co_consts if isinstance(const, types.CodeType)]


def _functions(member: Any) -> Iterator[types.FunctionType]:
    """Yield the functions of a class's member: itself, what it wraps, or the parts of a property."""
    parts = [member.fget, member.fset, member.fdel] if isinstance(member, property) else [member]
    for _ in range(_MOST_WRAPPED):
        yield from (part for part in parts if isinstance(part, types.FunctionType))
        parts = [getattr(part, "__wrapped__", getattr(part, "__func__", None)) for part in parts]


def _alike_members(one: Any, other: Any, of: tuple[type, type]) -> bool:
    """Whether members of two classes are the same: functions by their code, others by what they say of themselves.

    Those of an Enum are of the class itself.
    """
    if type(one) is not type(other) and (type(one), type(other)) != of:
        return False
    mine, there = list(_functions(one)), list(_functions(other))
    if len(mine) != len(there):
        return False
    if not mine:
        said = [x.__reduce__() if type(x).__name__ == "_tuplegetter" else x for x in (one, other)]
        return len({_ADDRESS.sub("", repr(x)) for x in said}) == 1
    return all(_alike(a.__code__, b.__code__) for a, b in zip(mine, there, strict=True))


def _defaults(function: Any) -> tuple[str, str]:
    return repr(getattr(function, "__defaults__", None)), repr(getattr(function, "__kwdefaults__", None))


def _alike(one: types.CodeType, other: types.CodeType) -> bool:
    """Whether two functions do the same, wherever they stand."""
    if any(getattr(one, part) != getattr(other, part) for part in _PARTS) or len(one.co_consts) != len(other.co_consts):
        return False
    for a, b in zip(one.co_consts, other.co_consts, strict=True):
        both = isinstance(a, types.CodeType) and isinstance(b, types.CodeType)
        if not (_alike(a, b) if both else type(a) is type(b) and repr(a) == repr(b)):
            return False
    return True
