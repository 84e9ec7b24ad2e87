"""Ways in which an honest student writes the same answer: for a function, for a class, for a whole task cell.

What an answer returns stays what it was; how it comes about changes: decorators, closures, threads, logs, magics. No
test may take a point for it. `rewritten` draws ways for all that a cell defines.
"""

from __future__ import annotations

import ast
import copy
import random
from typing import Any, NamedTuple, TypeVar

from autograder.boundary.parsing import syntax_tree

__all__ = ["NAMES", "Rewritten", "rewritten"]

Made = TypeVar("Made")


class _Way(NamedTuple):
    """What a way needs at the top of the cell, and the text around a function's BODY."""

    before: str
    around: str


_AROUND = {
    "calls are counted": _Way("import collections\n_CALLS = collections.Counter()", "_CALLS['{name}'] += 1\nBODY"),
    "arguments are kept": _Way(
        "import collections\n_KEPT = collections.deque(maxlen=3)", "_KEPT.append(({given}))\nBODY"
    ),
    "in a context": _Way(
        "import contextlib\n@contextlib.contextmanager\ndef _phase(name):\n    yield name",
        "with _phase('{name}') as phase_:\n    BODY",
    ),
    "nested": _Way("", "def run_():\n    BODY\nreturn run_()"),
    "in a thread": _Way(
        "from concurrent.futures import ThreadPoolExecutor",
        "def run_():\n    BODY\nwith ThreadPoolExecutor(1) as pool_:\n    return pool_.submit(run_).result()",
    ),
    "under a lock": _Way("import threading\n_LOCK = threading.RLock()", "with _LOCK:\n    BODY"),
    "logged": _Way(
        "import logging\nlogging.basicConfig(level=logging.INFO)\n_LOG = logging.getLogger(__name__)\n_TIMES = set()",
        "if '{name}' not in _TIMES:\n    _TIMES.add('{name}')\n    _LOG.info('{name} of %s', ({given}))\nBODY",
    ),
    "printed": _Way(
        "_PRINTED = []", "if len(_PRINTED) < 5:\n    _PRINTED.append(0)\n    print('{name}', {given})\nBODY"
    ),
    "timed": _Way(
        "import time\n_SECONDS = {{}}",
        "begin_ = time.perf_counter()\ntry:\n    BODY\nfinally:\n    _SECONDS['{name}'] = time.perf_counter() - begin_",
    ),
    "errors are noted": _Way(
        "_ERRORS = []",
        "try:\n    BODY\nexcept (ValueError, TypeError) as error_:\n    _ERRORS.append(error_)\n    raise",
    ),
    "warned of": _Way("import warnings", "warnings.warn('{name} is slow', stacklevel=2)\nBODY"),
    "warnings caught": _Way("import warnings", "with warnings.catch_warnings():\n    BODY"),
    "matplotlib named": _Way("", "import matplotlib.pyplot as plt\nif '{name}' == '':\n    plt.show()\nBODY"),
    "imports inside": _Way("", "import itertools, math, operator\nimport numpy as np\nBODY"),
    "local names looked at": _Way(
        "", "names_ = sorted(locals())\nassert all(type(name) is str for name in names_)\nBODY"
    ),
    "numpy's errors scoped": _Way("import numpy", "with numpy.errstate(all='ignore'):\n    BODY"),
    "print options scoped": _Way("import numpy", "with numpy.printoptions(precision=3):\n    BODY"),
    "quiet": _Way("import contextlib, io", "with contextlib.redirect_stdout(io.StringIO()):\n    BODY"),
    "cleaned up": _Way(
        "import contextlib", "with contextlib.ExitStack() as stack_:\n    stack_.callback(len, ())\n    BODY"
    ),
    "shown as text": _Way(
        "", "as_text_ = ' '.join(f'{{each!r:.40}}' for each in ({given}))\nassert as_text_ is not None\nBODY"
    ),
    "its frame asked": _Way("import inspect", "assert inspect.currentframe().f_code.co_name\nBODY"),
}
_OVER = {
    "decorated": _Way(
        "import functools\ndef _traced(function):\n    @functools.wraps(function)\n    def inner(*args, **named):\n"
        "        return function(*args, **named)\n    return inner",
        "_traced",
    ),
    "decorated by a class": _Way(
        "import functools\nclass _Counted:\n    def __init__(self, function):\n"
        "        self.function, self.calls = function, 0\n        functools.update_wrapper(self, function)\n"
        "    def __call__(self, *args, **named):\n        self.calls += 1\n"
        "        return self.function(*args, **named)\n    def __get__(self, owner, kind=None):\n"
        "        return self if owner is None else functools.partial(self, owner)",
        "_Counted",
    ),
    "overloaded": _Way("import functools", "functools.singledispatch"),
}
_INSTEAD = {
    "a closure": "def _make_{name}():\n    calls = 0\n    DEFINITION\n    return {name}\n{name} = _make_{name}()",
    "static": "class _Tools_{name}:\n    DEFINITION\n{name} = _Tools_{name}.{name}",
    "partial": "import functools\nDEFINITION\n{name} = functools.partial({name})",
    "a lambda": "DEFINITION\n_{name} = {name}\n{name} = lambda *args, **named: _{name}(*args, **named)",
    "a bound method": "class _Own_{name}:\n    calls = 0\n    def run(self, *args, **named):\n        DEFINITION\n"
    "        self.calls += 1\n        return {name}(*args, **named)\n{name} = _Own_{name}().run",
    "made by exec": "DEFINITION\nexec('_{name} = {name}')\n{name} = _{name}",
}
_CLASSES = {
    "methods in a base": "class _Base_{name}BASES:\n    BODY\nclass {name}(_Base_{name}):\n    pass",
    "in a function": "def _make_{name}():\n    DEFINITION\n    return {name}\n{name} = _make_{name}()",
    "instances counted": "DEFINITION\n_init_{name} = {name}.__init__\n_COUNT_{name} = [0]\n"
    "def _count_{name}(self, *args, **named):\n    _COUNT_{name}[0] += 1\n    _init_{name}(self, *args, **named)\n"
    "{name}.__init__ = _count_{name}",
    "shown": "DEFINITION\n{name}.__repr__ = lambda self: f'{name}({{len(vars(self))}} attributes)'",
    "kept by weak references": "import weakref\nDEFINITION\n_ALIVE_{name} = []\n_made_{name} = {name}.__init__\n"
    "def _keep_{name}(self, *args, **named):\n    _ALIVE_{name}.append(weakref.ref(self))\n"
    "    _made_{name}(self, *args, **named)\n{name}.__init__ = _keep_{name}",
    "a mixin": "class _Mixin_{name}:\n    def describe(self):\n        return type(self).__name__\n"
    "DEFINITION\n{name} = type('{name}', (_Mixin_{name}, {name}), {{}})",
}
_PLAIN_CLASSES = {
    "a metaclass": "class _Meta_{name}(type):\n    def __call__(cls, *args, **named):\n"
    "        return super().__call__(*args, **named)\nDEFINITION[metaclass=_Meta_{name}]",
    "abstract": "import abc\nDEFINITION[abc.ABC]",
    "generic": "import typing\n_T = typing.TypeVar('_T')\nDEFINITION[typing.Generic[_T]]",
}
_CELLS = {
    "timed": "%%time\n{text}",
    "captured": "%%capture\n{text}",
    "matplotlib": "%matplotlib inline\n%config InlineBackend.figure_format = 'retina'\n{text}",
    "reloads": "%load_ext autoreload\n%autoreload 2\n{text}",
    "a shell": "!echo ready\n{text}",
    "seeds": "import random\nimport numpy as np\nrandom.seed(0)\nnp.random.seed(0)\n{text}",
    "print options": "import numpy as np\nnp.set_printoptions(precision=3, suppress=True)\n{text}",
    "no warnings": "import warnings\nwarnings.filterwarnings('ignore')\n{text}",
    "deep": "import sys\nsys.setrecursionlimit(10_000)\n{text}",
    "an environment": "import os\nos.environ['OMP_NUM_THREADS'] = '1'\nos.makedirs('scratch', exist_ok=True)\n{text}",
    "a style": "import matplotlib.pyplot as plt\nplt.style.use('ggplot')\nplt.rcParams['font.size'] = 8\n{text}",
    "a log file": "import logging\nlogging.getLogger().addHandler(logging.FileHandler('own.log'))\n{text}",
    "everything of math": "from math import *\nfrom itertools import *\n{text}",
    "looked at": "{text}\nprint(sorted(n for n in dir() if not n.startswith('_'))[:3])\n%who",
    "timed again": "{text}\n%timeit -n 1 -r 1 sum(range(10))",
    "garbage": "import gc\ngc.collect()\n{text}\ngc.collect()",
    "two in one": "{text}\n\n{text}",
    "displayed": "{text}\nfrom IPython.display import Markdown, display\ndisplay(Markdown('**done**'))",
}


def _loops(node: ast.FunctionDef) -> tuple[str, ast.FunctionDef] | None:
    """Each `for` goes over a bar of progress."""
    loops = [each for each in ast.walk(node) if isinstance(each, ast.For)]
    for loop in loops:
        loop.iter = ast.Call(ast.Name("_Bar", ast.Load()), [loop.iter], [])
    bar = (
        "class _Bar:\n    def __init__(self, items):\n        self.items, self.done = items, 0\n"
        "    def __iter__(self):\n        for item in self.items:\n            yield item\n            self.done += 1"
    )
    return (bar, node) if loops else None


def _typed(node: ast.FunctionDef) -> tuple[str, ast.FunctionDef] | None:
    """Arguments, what is returned and what is assigned have types."""
    given = _parameters(node)
    for each in ast.walk(node.args):
        if isinstance(each, ast.arg):
            each.annotation = _expression("typing.Any")
    node.returns = _expression("'np.ndarray | None'")

    class Typed(ast.NodeTransformer):
        def visit_Assign(self, found: ast.Assign) -> ast.stmt:
            target = found.targets[0]
            if len(found.targets) > 1 or not isinstance(target, ast.Name) or target.id in given | bound:
                return found
            return ast.AnnAssign(target, _expression("object"), found.value, 1)

    bound = {name for each in ast.walk(node) if isinstance(each, ast.Global | ast.Nonlocal) for name in each.names}
    Typed().visit(node)
    return "import typing", node


def _own_errors(node: ast.FunctionDef) -> tuple[str, ast.FunctionDef] | None:
    """What is raised is of a class of the student's own."""
    raised = [each for each in ast.walk(node) if isinstance(each, ast.Raise) and isinstance(each.exc, ast.Call)]
    calls = [each.exc for each in raised if isinstance(each.exc, ast.Call) and isinstance(each.exc.func, ast.Name)]
    kinds = {call.func.id for call in calls if isinstance(call.func, ast.Name)} & {
        "ValueError",
        "TypeError",
        "KeyError",
    }
    for call in calls:
        if isinstance(call.func, ast.Name) and call.func.id in kinds:
            call.func.id = f"_Own{call.func.id}"
    lines = [
        f"class _Own{kind}({kind}):\n    def __init__(self, *args):\n        super().__init__(*args)\n"
        "        self.hint = 'look again'"
        for kind in sorted(kinds)
    ]
    return ("\n".join(lines), node) if kinds else None


def _another_default(node: ast.FunctionDef) -> tuple[str, ast.FunctionDef] | None:
    """One more argument, by name only, with a default that changes: what many take for a cache."""
    if node.args.kwarg:
        return None
    node.args.kwonlyargs.append(ast.arg("_calls"))
    node.args.kw_defaults.append(_expression("[0]"))
    return "", _with_body(node, "_calls[0] += 1\nBODY")


_CHANGED = {
    "bars of progress": _loops,
    "typed": _typed,
    "own errors": _own_errors,
    "one more default": _another_default,
}
_OF_FUNCTIONS = sorted({**_AROUND, **_OVER, **_INSTEAD, **_CHANGED})
_OF_CLASSES = sorted({**_CLASSES, **_PLAIN_CLASSES})
NAMES = sorted({*_OF_FUNCTIONS, *_OF_CLASSES, *(f"cell: {name}" for name in _CELLS)})


class Rewritten(NamedTuple):
    """A cell's new source, and which ways were taken for what: "softmax: in a thread"."""

    source: str
    taken: tuple[str, ...]


def rewritten(source: str, draw: random.Random, *, only: str = "", most: int = 2) -> Rewritten:
    """Return a task cell with each function, method and class of it, and the cell itself, written in other ways.

    only: the one way that is taken, wherever it can be. most: so many ways at most are drawn for one definition.
    """
    cell = _Cell(draw, only, most)
    body = [new for node in syntax_tree(source).body for new in cell.statement(node)]
    before = [node for text in dict.fromkeys(cell.before) for node in syntax_tree(text).body]
    text = ast.unparse(ast.fix_missing_locations(ast.Module([*before, *body], [])))
    names = [f"cell: {name}" for name in _CELLS]
    for name in cell.drawn(names, 1):
        text = _CELLS[name.removeprefix("cell: ")].replace("{text}", text)
        cell.taken.append(name)
    return Rewritten(text, tuple(cell.taken))


class _Cell:
    def __init__(self, draw: random.Random, only: str, most: int) -> None:
        self._draw, self._only, self._most = draw, only, most
        self.before: list[str] = []
        self.taken: list[str] = []

    def drawn(self, names: list[str], most: int) -> list[str]:
        if self._only:
            return [self._only] if self._only in names else []
        return self._draw.sample(names, min(self._draw.randint(0, most), len(names)))

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.ClassDef):
            for at, method in enumerate(node.body):
                if isinstance(method, ast.FunctionDef) and not method.decorator_list:
                    node.body[at] = self._function(method, f"{node.name}.", 1)[0]
            return self._class(node)
        return self._function(node, "", self._most) if isinstance(node, ast.FunctionDef) else [node]

    def _function(self, node: ast.FunctionDef, owner: str, most: int) -> list[ast.stmt]:
        names = [name for name in _OF_FUNCTIONS if not owner or name not in {*_INSTEAD, "overloaded"}]
        statements: list[ast.stmt] = [node]
        for name in self.drawn(names, most):
            found = _written(copy.deepcopy(node), name) if len(statements) == 1 else None
            if found is not None:
                before, statements = found
                self.before += [before] if before else []
                self.taken.append(f"{owner}{node.name}: {name}")
                node = statements[0] if isinstance(statements[0], ast.FunctionDef) else node
        return statements

    def _class(self, node: ast.ClassDef) -> list[ast.stmt]:
        for name in self.drawn(_OF_CLASSES, 1):
            if (found := _written_class(copy.deepcopy(node), name)) is not None:
                self.taken.append(f"{node.name}: {name}")
                return found
        return [node]


def _written(node: ast.FunctionDef, name: str) -> tuple[str, list[ast.stmt]] | None:
    """Return what goes before, and the statements that take the function's place; None where it cannot be so."""
    inside = set(map(type, ast.walk(node)))
    if ast.Yield in inside or ast.YieldFrom in inside or (node.name.startswith("__") and name in _OVER):
        return None
    if name in _CHANGED:
        changed = _CHANGED[name](node)
        return (changed[0], [changed[1]]) if changed else None
    if name in _AROUND:
        way = _AROUND[name]
        if "def run_" in way.around and any(isinstance(n, ast.Name) and n.id == "super" for n in ast.walk(node)):
            return None
        return way.before.replace("{{", "{").replace("}}", "}"), [_with_body(node, way.around)]
    if name in _OVER:
        if name == "overloaded" and not (node.args.posonlyargs or node.args.args):
            return None
        node.decorator_list.insert(0, _expression(_OVER[name].around))
        return _OVER[name].before, [node]
    return "", _filled(_INSTEAD[name], node)


def _written_class(node: ast.ClassDef, name: str) -> list[ast.stmt] | None:
    if name in _PLAIN_CLASSES:
        if node.bases or node.keywords or node.decorator_list:
            return None
        text, _, more = _PLAIN_CLASSES[name].format(name=node.name).partition("DEFINITION[")
        example = syntax_tree(f"class _({more[:-1]}):\n    pass").body[0]
        assert isinstance(example, ast.ClassDef)
        node.bases, node.keywords = example.bases, example.keywords
        return [*syntax_tree(text).body, node]
    if name == "methods in a base":
        if node.decorator_list or node.keywords:
            return None
        base = copy.deepcopy(node)
        base.name = f"_Base_{node.name}"
        node.bases, node.body = [_expression(base.name)], [ast.Pass()]
        return [base, node]
    if name in {"instances counted", "kept by weak references"} and not _has_init(node):
        return None
    return _filled(_CLASSES[name], node)


def _has_init(node: ast.ClassDef) -> bool:
    return any(isinstance(each, ast.FunctionDef) and each.name == "__init__" for each in node.body)


def _filled(template: str, node: ast.FunctionDef | ast.ClassDef) -> list[ast.stmt]:
    """Return a template's statements with the definition in its place."""
    tree = syntax_tree(template.format(name=node.name))
    if template == _INSTEAD["static"]:
        node.decorator_list.insert(0, _expression("staticmethod"))
    _replace(tree, "DEFINITION", [node])
    return tree.body


def _with_body(node: ast.FunctionDef, around: str) -> ast.FunctionDef:
    """Return the function with the statements of its body, after the docstring, within this text."""
    given = sorted(_parameters(node))
    tree = syntax_tree(around.format(name=node.name, given="".join(f"{name}, " for name in given)))
    documented = ast.get_docstring(node) is not None
    doc, body = node.body[:documented], node.body[documented:]
    if "def run_" in around:
        stored = {
            n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
        }
        if rebound := sorted(stored & set(given)):
            body = [ast.Nonlocal(rebound), *body]
    _replace(tree, "BODY", body or [ast.Pass()])
    node.body = [*doc, *tree.body]
    return node


def _replace(tree: ast.AST, name: str, by: list[ast.stmt]) -> None:
    for node in list(ast.walk(tree)):
        for field in ("body", "orelse", "finalbody"):
            found = getattr(node, field, None)
            if not isinstance(found, list):
                continue
            for at, each in enumerate(found):
                if isinstance(each, ast.Expr) and isinstance(each.value, ast.Name) and each.value.id == name:
                    found[at : at + 1] = by
                    return


def _parameters(node: ast.FunctionDef) -> set[str]:
    return {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}


def _expression(text: str) -> Any:
    return ast.parse(text, mode="eval").body
