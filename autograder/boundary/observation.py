"""Which tests look at how something is computed, or at what it is: such a test is not run apart from student code.

A test that forbids `sum`, asks for warnings as errors, counts processor time, reads source code or looks for files says
something about the process in which the student's code runs; in another one it says nothing. One that asks whether a
result is the very argument, can be called, or has a method, asks a stand-in there, which has them all.
"""

from __future__ import annotations

import ast
import builtins
import collections.abc
import contextlib
from collections.abc import Collection, Iterator

from autograder.boundary.evaluation import imported_names, parsed
from autograder.boundary.observed_values import (
    Values,
    bindings,
    draws_after,
    full_name,
    full_names,
    numbers_taken,
    root_name,
)

__all__ = ["observes"]

_PROCESS = {
    *("process_time", "process_time_ns", "thread_time", "getrusage", "getsource", "getsourcelines"),
    *("getrecursionlimit", "setrecursionlimit", "settrace", "setprofile", "redirect_stdout", "redirect_stderr"),
    *("monkeypatch", "getstate", "get_state", "get_rng_state", "initial_seed", "bit_generator"),
    *("get_fignums", "active_count", "getcwd", "is_grad_enabled", "get_default_dtype", "geterr"),
    *(
        "MonkeyPatch",
        "mocker",
        "mock",
        "seterrcall",
        "capsys",
        "capfd",
        "caplog",
        "recwarn",
        "warns",
        "deprecated_call",
    ),
    *("assert_warns", "assert_no_warnings", "suppress_warnings", "clear_and_catch_warnings", "assertWarnsRegex"),
    *("assert_produces_warning", "capture_output", "captured_stdout", "captured_stderr", "captured_output", "dup2"),
    *("exists", "isfile", "is_file", "isdir", "is_dir", "listdir", "scandir", "iterdir", "glob", "rglob", "walk"),
}
_OBJECTS = {
    *("__code__", "__globals__", "__closure__", "__defaults__", "__wrapped__", "__dict__", "__slots__", "__class__"),
    *("__bases__", "__mro__", "__builtins__", "__cause__", "__context__", "__suppress_context__", "__traceback__"),
    *("shares_memory", "may_share_memory", "data_ptr", "untyped_storage", "getrefcount", "isgenerator", "isfunction"),
    *("isgeneratorfunction", "iscoroutinefunction", "ismethod", "isclass", "getmembers", "isabstract"),
    *("strides", "is_contiguous", "storage_offset", "_base", "_version", "_is_view", "getsizeof", "byte_bounds"),
    *("__array_interface__", "__array_struct__", "__cuda_array_interface__"),
}
_ABOUT_A_PROCESS = {"asyncio", "gc", "inspect", "multiprocessing", "os", "posix", "psutil", "sys", "traceback"}
"""Modules that tell of the process they are asked in. What they say of every process alike is:"""
_ALIKE = {
    *(
        f"sys.{name}"
        for name in ("byteorder", "exit", "flags", "float_info", "hash_info", "implementation", "int_info")
    ),
    *(f"sys.{name}" for name in ("maxsize", "maxunicode", "path", "platform", "stderr", "stdin", "stdout")),
    *(f"sys.{name}" for name in ("executable", "getdefaultencoding", "intern", "prefix", "version", "version_info")),
    *(f"os.{name}" for name in ("PathLike", "cpu_count", "environ", "fspath", "getenv", "linesep", "name", "sep")),
    *(f"os.path.{name}" for name in ("abspath", "basename", "commonprefix", "dirname", "expanduser", "join")),
    *(f"os.path.{name}" for name in ("normpath", "relpath", "sep", "split", "splitext")),
    *(f"asyncio.{name}" for name in ("TimeoutError", "gather", "run", "sleep", "wait_for")),
    *(f"traceback.{name}" for name in ("format_exc", "format_exception", "print_exc")),
    "multiprocessing.cpu_count",
}
_LAID_OUT = {"flags", "base", "stride", "storage"}
"""What arrays say of their memory, and other objects of other things."""
_MEMORY = {"as_strided", "csr_matrix", "csc_matrix", "bsr_matrix", "csr_array", "csc_array", "bsr_array"}
"""What reads and writes where its arguments say, without a look."""
_PROTOCOLS = {
    *collections.abc.__all__,
    *(name for name in contextlib.__all__ if name.startswith("Abstract")),
    *("SupportsInt", "SupportsFloat", "SupportsIndex", "SupportsAbs", "SupportsRound"),
}
_ASKING = {"callable", "id", "dir", "vars", "globals", "locals"}
_OBSERVERS = {
    *("mock", "tracemalloc", "dis", "line_profiler", "memory_profiler", "resource", "threading"),
    *("timeout_decorator", "wrapt_timeout_decorator", "func_timeout", "stopit"),
}
_ALARMS = {
    *(
        "alarm",
        "setitimer",
        "signal",
        "sigaction",
        "siginterrupt",
        "pause",
        "sigwait",
        "sigtimedwait",
        "pthread_sigmask",
    ),
    *("SIGALRM", "SIGVTALRM", "SIGPROF", "ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF", "Signals", "raise_signal"),
}
_RAISING = {"simplefilter": 0, "filterwarnings": 0, "errstate": None, "seterr": None}
"""What says what becomes of warnings, and which of its arguments does; None: all."""
_HARMLESS = {"ignore", "default", "once", "module", "always", "warn", None}


def observes(source: str, given: str = "", theirs: Collection[str] = ()) -> str:
    """Return that with which a test looks at the student's process or its objects, as a person would look for it.

    Nothing if it does not. given: what it brings along of locked cells, and modules beside the notebook that it
    imports. theirs: names that the student's cells bind.
    """
    tree = parsed(source)
    beside = parsed(given)
    called = imported_names(beside) | imported_names(tree)
    full = full_names(beside, tree)
    for looked in (tree, beside):
        if found := next((found for node in ast.walk(looked) if (found := _observing(node, called, full))), ""):
            return found
    for each in (_bound_anew(tree, theirs), _written(tree, called), _laid_out(tree, called), _kinds_compared(tree)):
        if found := next(each, ""):
            return found
    values = Values(tree, beside, theirs)
    return next(_laid_out(beside, called), "") or next(draws_after(values), "") or next(numbers_taken(values), "")


def _observing(node: ast.AST, called: dict[str, str], full: dict[str, str]) -> str:
    if isinstance(node, ast.Name | ast.Attribute) and full_name(node, full) in {f"signal.{name}" for name in _ALARMS}:
        return full_name(node, full)
    if isinstance(node, ast.Name):
        return node.id if node.id in _PROCESS | _OBJECTS | _MEMORY else _of_the_process(full_name(node, full))
    if isinstance(node, ast.Attribute):
        changed = not isinstance(node.ctx, ast.Load) and root_name(node.value) in called
        if changed:
            return ast.unparse(node)
        known = node.attr in _PROCESS | _OBJECTS | _MEMORY
        return node.attr if known else _of_the_process(full_name(node, full))
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return ast.unparse(node.value) if root_name(node.value) in {*called, "__builtins__", "globals", "vars"} else ""
    if isinstance(node, ast.Compare) and any(isinstance(o, ast.Is | ast.IsNot) for o in node.ops):
        sides = [node.left, *node.comparators]
        return "" if any(isinstance(s, ast.Constant) or root_name(s) == "NotImplemented" for s in sides) else "is"
    if isinstance(node, ast.Call):
        return _asking(node, called, full)
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
    if isinstance(node, ast.ImportFrom):
        names = [node.module or "", *(name for name in names if name not in _PROTOCOLS)]
    return next((name for name in names if set(name.split(".")) & (_OBSERVERS | _PROCESS | _OBJECTS | _MEMORY)), "")


def _of_the_process(name: str) -> str:
    """Return a full name that says something of one process, as `sys.modules` does; nothing of another."""
    alike = any(f"{known}.".startswith(f"{name}.") or name.startswith(f"{known}.") for known in _ALIKE)
    return "" if alike or name.partition(".")[0] not in _ABOUT_A_PROCESS else name


def _asking(node: ast.Call, called: dict[str, str], full: dict[str, str]) -> str:
    name = (full_name(node.func, full) or ast.unparse(node.func)).rpartition(".")[2]
    words = [*node.args, *(keyword.value for keyword in node.keywords)]
    texts = [word.value for word in words if isinstance(word, ast.Constant) and isinstance(word.value, str)]
    if name in _RAISING and not _harmless(node, _RAISING[name]):
        return name
    if name == "catch_warnings" and not all(k.arg in {"category", "module"} or _is_harmless(k) for k in node.keywords):
        return name
    if (
        name in {"setattr", "delattr"}
        and words
        and (root_name(words[0]) in called or isinstance(node.func, ast.Attribute))
    ):
        return name
    if replaced := next((text for text in texts[:1] if text.startswith(("builtins.", "__main__."))), ""):
        return replaced
    asked = {part for text in texts for part in text.split(".")} & (_OBJECTS | _LAID_OUT - {"base"})
    if name in {"getattr", "hasattr", "attrgetter", "methodcaller"} and any(part[:2] != "__" for part in asked):
        return min(asked)
    if isinstance(node.func, ast.Name) and name in _ASKING:
        return name
    if name in {"hasattr", "getattr"} and len(words) > 1:
        plain = isinstance(words[1], ast.Constant) and not str(words[1].value).startswith("__")
        return "" if plain else name
    if name in {"isinstance", "issubclass", "assertIsInstance"} and len(words) > 1:
        kinds = {part.id if isinstance(part, ast.Name) else part.attr for part in ast.walk(words[1])
                 if isinstance(part, ast.Name | ast.Attribute)}  # fmt: skip
        return next((f"{name} of {kind}" for kind in sorted(kinds & _PROTOCOLS)), "")
    return name if name in {"assertIs", "assertIsNot", "assertNoLogs", "assertLogs", "assertWarns"} else ""


def _harmless(node: ast.Call, place: int | None) -> bool:
    """Whether a call says of all that it names that a warning is to be no error."""
    words: list[ast.expr | ast.keyword] = [*node.args[: None if place is None else place + 1]]
    words += [keyword for keyword in node.keywords if place is None or keyword.arg in {"action", None}]
    return bool(words) and all(_is_harmless(word) for word in words)


def _is_harmless(word: ast.expr | ast.keyword) -> bool:
    value = word.value if isinstance(word, ast.keyword) else word
    return isinstance(value, ast.Constant) and value.value in _HARMLESS


def _bound_anew(tree: ast.Module, theirs: Collection[str]) -> Iterator[str]:
    """Yield built-in names and the student's that the test gives another meaning, for the student's code to meet."""
    inside = {part for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda)
              for part in ast.walk(node) if part is not node}  # fmt: skip
    for node in ast.walk(tree):
        names = [node.id] if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) else []
        names += [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
        yield from (f"another {n}" for n in names if node not in inside and (hasattr(builtins, n) or n in theirs))


def _written(tree: ast.Module, called: Collection[str]) -> Iterator[str]:
    """Yield what the student's code has returned and the test then writes to: it may be the very argument."""
    bound = {n.id: False for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            root = root_name(node.value.func)
            theirs = root not in called and not hasattr(builtins, root) and not (root in bound and not bound[root])
            bound |= {target.id: theirs for target in node.targets if isinstance(target, ast.Name) and theirs}
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            root = root_name(node)
            result = any(isinstance(part, ast.Call) for part in ast.walk(node.value)) and root not in {*called, *bound}
            if bound.get(root) or (result and not hasattr(builtins, root)):
                yield f"writing to {root}"


def _laid_out(tree: ast.Module, called: Collection[str]) -> Iterator[str]:
    """Yield what asks how an array lies in memory: one that has crossed is another's, packed and read-only.

    To set a flag of a test's own array asks nothing, and `base == 2` is about numbers.
    """
    nodes = list(ast.walk(tree))
    changed = {
        n.value for n in nodes if isinstance(n, ast.Attribute | ast.Subscript) and not isinstance(n.ctx, ast.Load)
    }
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr == "flags" and node not in changed:
            yield from () if isinstance(node.value, ast.Name) and node.value.id in called else ("flags",)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LAID_OUT:
            yield from (node.func.attr,) if node.func.attr in {"stride", "storage"} else ()
    named = {
        target.id for n in nodes for target, value in bindings(n) if isinstance(target, ast.Name) and _is_base(value)
    }
    asked = [part for node in nodes for part in _asked_whether(node)]
    yield from ("base" for part in asked if _is_base(part) or (isinstance(part, ast.Name) and part.id in named))


def _is_base(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr" and len(node.args) > 1:
        return isinstance(node.args[1], ast.Constant) and node.args[1].value == "base"
    node = node.value if isinstance(node, ast.NamedExpr) else node
    return isinstance(node, ast.Attribute) and node.attr == "base"


def _asked_whether(node: ast.AST) -> list[ast.expr]:
    """Return that of which a statement or expression asks whether it is None, or counts as true."""
    if isinstance(node, ast.Assert | ast.If | ast.While | ast.IfExp):
        return [node.test]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return [node.operand]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return sides if any(isinstance(side, ast.Constant) and side.value is None for side in sides) else []
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).rpartition(".")[2]
        return node.args if name in {"bool", "assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone"} else []
    return []


def _kinds_compared(tree: ast.Module) -> Iterator[str]:
    """Yield where a class is compared with the very one of a result: of a subclass only the value crosses."""
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

    def kinds(node: ast.AST) -> bool:
        """Whether `type` stands in this, of which neither a name is asked nor an object made."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id == "type":
                call, around = above[part], above.get(above[part])
                if not isinstance(call, ast.Call) or part is not call.func:
                    return True
                made = isinstance(around, ast.Call) and around.func is call
                if len(call.args) == 1 and not isinstance(around, ast.Attribute) and not made:
                    return not isinstance(call.args[0], ast.Constant)
        return False

    named = {target.id for node in ast.walk(tree) for target, value in bindings(node)
             if isinstance(target, ast.Name) and kinds(value)}  # fmt: skip
    for node in ast.walk(tree):
        sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2].startswith("assert"):
            sides = node.args
        if isinstance(node, ast.Match):
            sides = [node.subject]
        if any(kinds(side) or (isinstance(side, ast.Name) and side.id in named) for side in sides):
            yield "type"
