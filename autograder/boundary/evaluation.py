"""Which code evaluates texts or loads objects: a test that does is not run apart, where its values are the student's.

A plain value that a student's function returns is a number, a text or a container of such: nothing that can run, until
the test hands it to something that makes code of it. `sympy.simplify("...")` evaluates its argument as Python does,
`pickle.loads(...)` calls what the bytes name. (What is not known by its name here `audit` refuses when it happens.)
"""

from __future__ import annotations

import ast

from autograder.boundary.parsing import syntax_tree

__all__ = ["evaluates", "imported_names", "parsed"]

_BUILT_IN = {"eval", "exec", "compile", "__import__"}
_MODULES = {
    *("sympy", "numexpr", "asteval", "simpleeval"),  # texts
    *("jinja2", "mako", "patsy", "timeit", "doctest", "trace", "cProfile", "profile", "yaml"),
    *("pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "jsonpickle"),
    *("code", "codeop", "ctypes", "importlib", "runpy", "subprocess", "pty"),
}
_ATTRIBUTES = {
    *(
        "sympify",
        "parse_expr",
        "import_module",
        "run_module",
        "read_pickle",
        "unsafe_load",
        "full_load",
        "system",
        "popen",
        "model_from_json",
        "deserialize_keras_object",
        "load_model",
        "from_config",
        "from_formula",
        "dictConfig",
        "fileConfig",
        "allow_pickle",
        "create_subprocess_exec",
        "create_subprocess_shell",
    ),
    *("run_line_magic", "run_cell_magic", "run_cell", "getoutput"),
}
_BY_NAME = {"attrgetter", "getattr_static", "locate", "methodcaller", "resolve_name"}
"""What follows the names that a text says, which is the test's own only where it stands there."""
_ORDINARY = {"trace", "profile", "code"}
"""Names that other modules give to other things."""
_WITH_ARGUMENTS = {"eval", "query"}
"""Of pandas; `model.eval()` has none."""
_LOADERS = {"torch", "joblib", "numpy", "torch.jit"}
"""Modules whose `load` makes objects of bytes, whatever the module is called in the test."""


def evaluates(source: str) -> str:
    """Return the name with which a cell makes code of a text or of bytes, as a person would look for it; "" if none."""
    tree = parsed(source)
    called = imported_names(tree)
    return next((name for node in ast.walk(tree) if (name := _evaluating(node, called))), "")


def parsed(source: str) -> ast.Module:
    """Return the statements of a cell; none if it is no Python."""
    try:
        return syntax_tree(source)
    except SyntaxError:  # IPython's: such a test is not run apart anyway
        return ast.Module([], [])


def imported_names(tree: ast.Module) -> dict[str, str]:
    """Return what is imported, by the names that it is given."""
    found = {"np": "numpy"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _evaluating(node: ast.AST, called: dict[str, str]) -> str:
    if isinstance(node, ast.Name) and node.id in _BUILT_IN | _ATTRIBUTES:
        return node.id
    if isinstance(node, ast.keyword) and node.arg in _ATTRIBUTES:
        return node.arg or ""
    if isinstance(node, ast.Attribute):
        module = ast.unparse(node.value)
        loads = node.attr == "load" and called.get(module, module) in _LOADERS
        return node.attr if loads or node.attr in _ATTRIBUTES else ""
    if isinstance(node, ast.Call) and (name := getattr(node.func, "attr", getattr(node.func, "id", ""))) in _BY_NAME:
        return "" if all(isinstance(argument, ast.Constant) for argument in node.args) else name
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr if node.func.attr in _WITH_ARGUMENTS and (node.args or node.keywords) else ""
    if isinstance(node, ast.ImportFrom):
        package = (node.module or "").partition(".")[0]
        known = (_MODULES - _ORDINARY) | _BUILT_IN | _ATTRIBUTES | ({"load"} if node.module in _LOADERS else set())
        return package if package in _MODULES else next((a.name for a in node.names if a.name in known), "")
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    return next((name for name in names if name.partition(".")[0] in _MODULES), "")
