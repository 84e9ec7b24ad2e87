"""Names of tests and locked cells that may stand for one object or a part of it: what fills one fills the other."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from autograder.boundary.scopes import filled, root_of, run_at_once

__all__ = ["Aliases", "stored", "written"]

Functions = Mapping[str, frozenset[str]]
"""Those that the cells define, and classes, with the names that each may hand out: what it reads, or holds itself."""

_VIEWS = {
    "as_tensor", "asanyarray", "asarray", "atleast_1d", "atleast_2d", "atleast_3d", "attrgetter", "broadcast_to",
    "cached_property", "chain", "ChainMap", "closing", "copy", "cycle", "DataFrame", "defaultdict", "deque", "diag",
    "diagonal", "enter_context", "flip", "from_numpy", "frombuffer", "islice", "itemgetter", "MappingProxyType",
    "memoryview", "moveaxis", "namedtuple", "nullcontext", "OrderedDict", "partial", "product", "ravel", "reduce",
    "repeat", "replace", "reshape", "rollaxis", "Series", "SimpleNamespace", "squeeze", "starmap", "swapaxes", "tee",
    "transpose", "UserDict", "UserList", "view_as_real", "zip_longest",
}  # fmt: skip
"""Functions of libraries whose result may be part of what they are given."""
_BUILT_IN = {
    "dict", "enumerate", "filter", "frozenset", "getattr", "iter", "list", "map", "max", "min", "next", "reversed",
    "set", "sorted", "tuple", "vars", "zip",
}  # fmt: skip
"""Python's own: the result holds the same items."""
_WRITING = {
    "__iadd__", "__setitem__", "add", "append", "appendleft", "extend", "extendleft", "fill", "insert", "push", "put",
    "register", "send", "setdefault", "update", "write", "writelines",
}  # fmt: skip
"""Methods that write, wherever their value goes."""
_COMPUTING = {
    "add", "all", "allclose", "any", "append", "arange", "arctan2", "argmax", "argmin", "argsort", "array",
    "array_equal", "asarray_chkfinite", "atan2", "avg_pool2d", "bincount", "ceil", "clip", "comb", "concatenate",
    "conv1d", "conv2d", "corrcoef", "cos", "cosh", "cov", "cross", "cross_entropy", "cumsum", "default_rng", "det",
    "diff", "divide", "dot", "dropout", "dumps", "eig", "eigh", "einsum", "embedding", "empty", "empty_like", "equal",
    "erf", "exp", "eye", "factorial", "fft", "floor", "full", "full_like", "gamma", "gcd", "gelu", "histogram",
    "hstack", "hypot", "interp", "inv", "isclose", "isfinite", "isinstance", "isnan", "kron", "layer_norm", "len",
    "linear", "linspace", "log", "log_softmax", "lstsq", "manual_seed", "matmul", "max_pool2d", "maximum", "mean",
    "median", "minimum", "mm", "mse_loss", "multinomial", "multiply", "norm", "normal", "one_hot", "ones",
    "ones_like", "outer", "pad", "percentile", "perf_counter", "permutation", "pinv", "polyfit", "polyval", "power",
    "prod", "quantile", "rand", "randint", "randn", "random", "relu", "round", "searchsorted", "seed", "sigmoid",
    "sign", "sin", "sinh", "sleep", "softmax", "solve", "sort", "sqrt", "stack", "std", "subtract", "sum", "svd",
    "tanh", "tensor", "tensordot", "tile", "time", "trace", "uniform", "unique", "var", "vstack", "where", "zeros",
    "zeros_like",
}  # fmt: skip
"""Functions of libraries whose result is new: numbers, or arrays that share nothing."""
_TO_THE_FIRST = {
    "concat", "copyto", "fill_diagonal", "heapify", "heappush", "heappushpop", "heapreplace", "iadd", "iand",
    "iconcat", "imul", "insort", "insort_left", "insort_right", "ior", "isub", "ixor", "place", "put_along_axis",
    "putmask", "setattr", "setitem", "shuffle",
}  # fmt: skip
"""Functions that write to what they are given first, as `list.append(rows, 3)` does."""
_READING = {
    "abs", "all", "any", "argmax", "argmin", "argsort", "astype", "clone", "close", "copy", "count", "cpu", "cumsum",
    "detach", "dim", "dot", "double", "endswith", "equal", "flatten", "float", "format", "get", "index", "item",
    "items", "join", "keys", "long", "lower", "max", "mean", "min", "ndim", "norm", "numel", "numpy", "permute",
    "ravel", "repeat", "reshape", "round", "size", "split", "squeeze", "startswith", "std", "strip", "sum", "T", "to",
    "tobytes", "tolist", "transpose", "unsqueeze", "upper", "values", "var", "view",
}  # fmt: skip
"""Methods of arrays, texts and containers that write nothing."""


class Aliases:
    """Pairs of names that a statement ties: `pairs = tables["small"]`, `for row in rows`, `tables.append(row)`.

    Of names that the cells bind: neither modules nor what the student's code defines ties anything.
    """

    def __init__(self) -> None:
        self._tied: defaultdict[str, set[str]] = defaultdict(set)
        self._late: defaultdict[str, set[str]] = defaultdict(set)

    def read(self, statement: ast.stmt, functions: Functions, names: Collection[str], *, keep: bool) -> None:
        """Take what a statement ties, among these names. A student's function gets copies, and returns others.

        keep: what it binds anew stays tied to what it was, for lines above may have written to that.
        """
        names = {*names, *stored(statement)}
        functions = {name: frozenset({name}) for name in names} | dict(functions)  # data that is called, too
        pairs = [(one, others) for part in run_at_once(statement) for one, others in _ties(part, functions)]
        if not keep:
            self._bind_anew(statement, pairs)
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._read_definition(statement, functions, names)
        late = {
            name for part in ast.walk(statement) if isinstance(part, ast.Lambda) for name in _roots(part, functions)
        }
        bound = {one for one, _ in pairs} | stored(statement)
        for name in late:
            self._late[name] |= bound
        for one, others in [*pairs, *((one, late) for one in bound)]:
            for other in others & names - {one} if one in names else ():
                self._tied[one].add(other)
                self._tied[other].add(one)

    def _bind_anew(self, statement: ast.stmt, pairs: list[tuple[str, set[str]]]) -> None:
        """Untie a name that surely means something else from here on; what it tied stays tied."""
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        again = {target.id for target in targets if isinstance(target, ast.Name)}
        for name in again - {name for one, others in pairs if one in again for name in others}:
            before = {other for other, tied in self._tied.items() if name in tied}
            for other in before:
                self._tied[other] = (self._tied[other] | self._tied[name]) - {name, other}
            self._tied.pop(name, None)

    def _read_definition(
        self,
        statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
        functions: Functions,
        names: Collection[str],
    ) -> None:
        """Take what a function has as defaults, and what a decorator keeps it in."""
        for default in _defaults(statement):
            for name in _roots(default, functions) & set(names) - {statement.name}:
                self._tied[statement.name].add(name)
                self._tied[name].add(statement.name)
        for decorator in statement.decorator_list:
            for name in {part.id for part in ast.walk(statement) if isinstance(part, ast.Name)} & set(names):
                self._tied[name].add(statement.name)  # if the name is another function's by then, too
            self._tied[statement.name] |= functions.get(root_of(decorator, calls=True), frozenset()) - {statement.name}

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
                left += [*self._tied.get(name, ()), *self._late.get(name, ())]
        return found


def stored(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds, in its comprehensions too."""
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


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
        if isinstance(part, ast.Call) and part.args and _name_of(part.func) in _WRITING | _TO_THE_FIRST:
            found |= _roots(part.args[0], functions)
        if isinstance(part, ast.Call):
            called, named = root_of(part.func), isinstance(part.func, ast.Name | ast.Attribute)
            if isinstance(part.func, ast.Attribute) and part.func.attr in _READING:
                continue
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
    elif isinstance(part, ast.Call) and len(part.args) > 1 and _name_of(part.func) in _TO_THE_FIRST:
        for one in _roots(part.args[0], functions):
            yield one, {name for each in part.args[1:] for name in _roots(each, functions)}
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
        name = _name_of(value.func)
        of_cells = isinstance(value.func, ast.Name) and value.func.id in functions
        through = of_cells or name in _VIEWS or (isinstance(value.func, ast.Name) and name in _BUILT_IN)
        through |= not isinstance(value.func, ast.Name | ast.Attribute)
        through |= root_of(value.func) in functions and name not in _COMPUTING
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


def _name_of(function: ast.expr) -> str:
    return str(getattr(function, "attr", getattr(function, "id", "")))


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(word.value for word in call.keywords)]
