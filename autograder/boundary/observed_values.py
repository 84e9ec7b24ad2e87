"""Which values of a test may be the student's, by its text: what it draws after a call of his, what it asks a tensor.

A call of the student's that draws from a global generator leaves that of another process as it was. And a tensor that
requires gradients refuses `numpy()` where it is, but not as the numbers that have crossed.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

import numpy as np

__all__ = ["Values", "bindings", "draws_after", "full_name", "full_names", "numbers_taken", "root_name"]

_SEEDS = {
    *("random.seed", "numpy.random.seed", "torch.manual_seed", "torch.random.manual_seed", "torch.seed"),
    *("tensorflow.random.set_seed", "keras.utils.set_random_seed", "tensorflow.keras.utils.set_random_seed"),
}
_GENERATORS = {"random", "numpy.random", "tensorflow.random"}
_NO_DRAW = {"seed", "set_seed", "default_rng", "getstate", "setstate", "get_state", "set_state", "experimental"}
_TORCH = {"rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial", "poisson"}
_TORCH_DRAWS = {*(f"torch.{name}" for name in _TORCH), *(f"torch.{name}_like" for name in ("rand", "randn", "randint"))}
_MODULES = {"np", "torch", "tf", "keras", "tensorflow", "numpy", "scipy", "pandas", "pd", "plt", "pytest", "sklearn"}
"""What a notebook calls modules, besides those of the standard library; a test may use them without an import."""
_USUAL = {"tf": "tensorflow"}
_DEPTH = 3
"""How many loops, one in another, are gone through twice."""
_OF_ARRAYS = {*dir(np.ndarray), "numpy", "detach", "cpu", "backward"}
_WITHOUT_GRADIENTS = {
    *("detach", "detach_", "argmax", "argmin", "argsort", "long", "int", "bool", "item", "tolist", "state_dict"),
}
"""What of a tensor requires no gradients, whatever the tensor does."""
_WITHOUT = {"data", "grad", "shape", *_WITHOUT_GRADIENTS}
_GRADIENTS_OFF = {"no_grad", "inference_mode"}


def full_names(*trees: ast.Module) -> dict[str, str]:
    """Return what is imported, or is another name of it, by the names that it is given."""
    found = {"np": "numpy"}
    nodes = [node for tree in trees for node in ast.walk(tree)]
    for node in nodes:
        if isinstance(node, ast.Import):
            tops = {alias.name.partition(".")[0] for alias in node.names if not alias.asname}
            found |= {**{top: top for top in tops}, **{a.asname: a.name for a in node.names if a.asname}}
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute) and root_name(node.value) in found:
            found |= {t.id: full_name(node.value, found) for t in node.targets if isinstance(t, ast.Name)}
    return found


def full_name(node: ast.AST, called: dict[str, str]) -> str:
    """Return the name of a function as its module has it; nothing if the text names none."""
    if isinstance(node, ast.Attribute):
        before = full_name(node.value, called)
        return f"{before}.{node.attr}" if before else ""
    return called.get(node.id, _USUAL.get(node.id, node.id)) if isinstance(node, ast.Name) else ""


def root_name(node: ast.AST) -> str:
    """Return the name at the beginning of an expression: np of np.random.x, vars of vars(x)[0]; else nothing."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _names(*nodes: ast.AST) -> set[str]:
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


class Values:
    """What the names of a test stand for: what is its own, or what may be the student's."""

    def __init__(self, tree: ast.Module, given: ast.Module, theirs: Collection[str]) -> None:
        self.tree = tree
        self.called = full_names(given, tree)
        self._nodes = list(ast.walk(tree))
        self._modules = (_MODULES | sys.stdlib_module_names | {"self", "cls", *dir(builtins), *self.called}) - set(
            theirs
        )
        self._off = {part for node in self._nodes if isinstance(node, ast.With) and _turns_off(node)
                     for part in ast.walk(node) if isinstance(part, ast.Call)}  # fmt: skip
        self.bound: defaultdict[str, list[ast.expr]] = defaultdict(list)
        self._unknown: set[str] = set()
        for node in (*self._nodes, *given.body):
            for target, value in bindings(node):
                for name in _names(target):
                    self.bound[name].append(value)
        for node in given.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                parts = (part for part in ast.walk(node) if isinstance(part, ast.Name))
                self.bound[node.name] += [part for part in parts if part.id in theirs]
        self._bind_functions()
        self._own = (self._modules | self.bound.keys()) - self._unknown
        while others := {n for n in self._own & self.bound.keys() if not all(map(self.own, self.bound[n]))}:
            self._own -= others

    def _bind_functions(self) -> None:
        """Note what functions of the test return, and what may be handed to them."""
        calls: defaultdict[str, list[ast.Call]] = defaultdict(list)
        for node in self._nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                calls[node.func.id].append(node)
        called = {call.func for found in calls.values() for call in found}
        handed_on = {n.id for n in self._nodes if isinstance(n, ast.Name) and n not in called}
        for node in self._nodes:
            if isinstance(node, ast.FunctionDef | ast.Lambda):
                name = node.name if isinstance(node, ast.FunctionDef) else ""
                if name in calls and name not in handed_on:
                    for call in calls[name]:
                        self._hand(node.args, call)
                else:
                    self._unknown |= {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)} - {"self", "cls"}
                if name:
                    self.bound[name] += [n.value for n in ast.walk(node) if isinstance(n, ast.Return) and n.value]
            elif isinstance(node, ast.ClassDef | ast.ExceptHandler) and node.name:
                self.bound[node.name] += []

    def _hand(self, arguments: ast.arguments, call: ast.Call) -> None:
        """Note what a call hands to each argument; by a star, anything to all."""
        places = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        starred = [a for a in call.args if isinstance(a, ast.Starred)] + [v for k, v in named.items() if k is None]
        for place, name in enumerate(a.arg for a in ast.walk(arguments) if isinstance(a, ast.arg)):
            at = places.index(name) if name in places else place
            handed = [named[name]] if name in named else [*call.args[at : at + 1]]
            self.bound[name] += call.args if starred or name not in {*places, *named} else handed

    def own(self, node: ast.AST) -> bool:
        """Whether this is surely the test's own, or a number that requires no gradient."""
        if isinstance(node, ast.Compare) or node in self._off:
            return True
        if isinstance(node, ast.Attribute):
            return node.attr in _WITHOUT or self.own(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _WITHOUT_GRADIENTS:
                return True
            if node.func.attr == "requires_grad_" and any(
                isinstance(a, ast.Constant) and not a.value for a in node.args
            ):
                return True
        if isinstance(node, ast.Name):
            return node.id in self._own or not isinstance(node.ctx, ast.Load)
        return all(self.own(child) for child in ast.iter_child_nodes(node))

    def asks_student(self, node: ast.Call) -> bool:
        """Whether this call runs the student's code: a function or object of his, or one that is handed a function."""
        root, name = root_name(node.func), ast.unparse(node.func).rpartition(".")[2]
        handed = [w.id for w in (*node.args, *(k.value for k in node.keywords)) if isinstance(w, ast.Name)]
        if name.startswith("assert"):
            return False
        if any(word not in self._own | self.bound.keys() | self._unknown for word in handed):
            return True
        return bool(root) and root not in self._own and not (root in self.bound and name in _OF_ARRAYS)


def bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what a statement binds, and to what."""
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value:
        yield node.target, node.value
    elif isinstance(node, ast.For | ast.comprehension):
        yield node.target, node.iter
    elif isinstance(node, ast.withitem) and node.optional_vars:
        yield node.optional_vars, node.context_expr


def _turns_off(node: ast.With) -> bool:
    """Whether no gradient is kept in what this statement holds."""
    named = [ast.unparse(item.context_expr).partition("(")[0].rpartition(".")[2] for item in node.items]
    return bool(set(named) & _GRADIENTS_OFF)


def numbers_taken(values: Values) -> Iterator[str]:
    """Yield where `numpy()` is asked of a torch tensor that may be the student's, and may require gradients."""
    modules = {name.partition(".")[0] for name in values.called.values()}
    names = _names(values.tree) | modules
    if "torch" in names or not names & {"tensorflow", "tf", "keras"}:
        for node in ast.walk(values.tree):
            asked = node.func if isinstance(node, ast.Call) and not node.args and not node.keywords else None
            if isinstance(asked, ast.Attribute) and asked.attr == "numpy" and not values.own(asked.value):
                yield "numpy() of what may require gradients"


def draws_after(values: Values) -> Iterator[str]:
    """Yield what a test draws from a global generator that it has seeded, after a call of the student's.

    What goes to the student's code in its turn is an input of the test; anything else may be there to show that his
    code has drawn nothing, or as much as it should.
    """
    course = _Course(values)
    functions = [node.body for node in ast.walk(values.tree) if isinstance(node, ast.FunctionDef)]
    for statements in (values.tree.body, *functions):
        seeded = after = False
        for what, node in course.of(statements, repeat=_DEPTH):
            if what == "draw" and after and not course.goes_in(node):
                yield f"{ast.unparse(node.func)} after a call"
            seeded = seeded or what == "seed"
            after = what != "seed" and (after or (seeded and what == "student"))


class _Course:
    """In which order a test seeds, draws, and calls the student's code."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._above = {child: node for node in ast.walk(values.tree) for child in ast.iter_child_nodes(node)}
        self._inside: dict[str, set[str]] = {}
        functions = [node for node in ast.walk(values.tree) if isinstance(node, ast.FunctionDef)]
        for _ in range(3):  # functions that call others
            self._inside = {f.name: {what for what, _ in self.of(f.body, repeat=0)} for f in functions}
        self._going_in = self._names_going_in()
        for function in functions:  # what it draws after a seed of its own is seen there
            inside = self._inside[function.name]
            drawn = any(what == "draw" and not self.goes_in(node) for what, node in self.of(function.body, repeat=0))
            self._inside[function.name] = inside if drawn and "seed" not in inside else inside - {"draw"}

    def of(self, nodes: Iterable[ast.AST], *, repeat: int) -> Iterator[tuple[str, ast.Call]]:
        """Yield what happens, in order; a loop is gone through twice, if it is not in too many."""
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            loop = repeat > 0 and isinstance(node, ast.For | ast.While | ast.ListComp | ast.GeneratorExp)
            for _ in range(2 if loop else 1):
                yield from self.of(ast.iter_child_nodes(node), repeat=repeat - loop)
            if isinstance(node, ast.Call):
                yield from ((what, node) for what in self._what(node))

    def _what(self, node: ast.Call) -> list[str]:
        name = full_name(node.func, self._values.called)
        module, _, last = name.rpartition(".")
        if name in _SEEDS:
            return ["seed"]
        if name in _TORCH_DRAWS and all(keyword.arg != "generator" for keyword in node.keywords):
            return ["draw"]
        if module in _GENERATORS and last not in _NO_DRAW and last.islower():
            return ["draw"]
        inside = self._inside.get(name, set())
        student = self._values.asks_student(node) or "student" in inside
        return [what for what in ("seed", "student", "draw") if what in inside or (what == "student" and student)]

    def _names_going_in(self) -> set[str]:
        """Return the names of what goes to the student's code, and of what is made for it."""
        nodes = list(ast.walk(self._values.tree))
        calls = [node for node in nodes if isinstance(node, ast.Call) and "student" in self._what(node)]
        found = _names(*(word for call in calls for word in (*call.args, *call.keywords)))
        found |= self._beside(calls)
        made = [(_names(target), _names(value)) for node in nodes for target, value in bindings(node)]
        while more := {name for targets, names in made if targets & found for name in names} - found:
            found |= more
        return found & self._values.bound.keys()

    def _beside(self, calls: Iterable[ast.Call]) -> set[str]:
        """Return the names that stand in an assignment beside a call of the student's: what it returns is used up."""
        found: set[str] = set()
        for call in calls:
            part: ast.AST | None = call
            while part is not None and not isinstance(part, ast.stmt):
                part = self._above.get(part)
            found |= _names(part.value) if isinstance(part, ast.Assign) else set()
        return found

    def goes_in(self, node: ast.Call) -> bool:
        """Whether what is drawn here goes to the student's code, or into something that does."""
        if full_name(node.func, self._values.called).endswith(".shuffle") and _names(*node.args) & self._going_in:
            return True
        part: ast.AST = node
        while above := self._above.get(part):
            targets = [target for target, value in bindings(above) if value is part]
            if _names(*targets) & self._going_in:
                return True
            call = above if isinstance(above, ast.Call) and part is not above.func else None
            if call and ("student" in self._what(call) or root_name(call.func) in self._going_in):
                return True
            part = above
        return False
