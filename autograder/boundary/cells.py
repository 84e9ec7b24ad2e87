"""The trusted end: runs test cells, in which every name that a cell neither imports nor defines is the student's."""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import io
import signal
import sys
import time
import traceback
import types
from collections.abc import Callable, Iterator
from typing import Any

from autograder.boundary.frames import Connection, TimeLimit
from autograder.boundary.owner import Trusted
from autograder.boundary.peer import Peer
from labkit import check

__all__ = ["run_cells"]

_AGAIN_S = 0.25
"""How long a test that swallows the end of its time goes on until it comes again."""
_LATER_S = 0.05
"""So much later than a wait for an answer it ends a test that waits for none: what has come is not torn."""
_MAX_PRINTED = 64 * 1024
_MAX_SHOWN = 20_000
_SEEDS = (
    ("labkit._device", "seed_everything"),
    ("random", "seed"),
    ("numpy.random", "seed"),
    ("torch", "manual_seed"),
    ("keras.utils", "set_random_seed"),
    ("tensorflow.random", "set_seed"),
)
"""Called by a test, these seed the student's process too."""
_LAUNCHERS = (
    ("labkit._launch", "in_fresh_process"),
    ("labkit._launch", "launch"),
    ("labkit._timing", "bench"),
    ("labkit._timing", "compare"),
    ("labkit.count", "operations"),
    ("labkit.count", "read_ahead"),
)
"""Called with one of the student's functions, these run where the function is."""


def run_cells(control: Connection, student: Connection) -> None:
    """Run each test cell that the grader sends over control, and report what became of it, until there are no more."""
    tests = Trusted()
    peer = Peer(student, tests, writable=False, only_when_asked=False)
    check.adopt(tests)
    while True:
        order, _ = control.receive()
        control.send(_run(peer, tests, order["source"], int(order["cell"]), float(order["time_s"])))


def _run(peer: Peer, tests: Trusted, source: str, cell: int, time_s: float) -> dict[str, Any]:
    """Return the cell's outcome: its value or its error, what it printed, and how it looks in a notebook."""
    peer.begin(cell)
    tests.begin()
    check.begin()
    printed = _Printed()
    result: dict[str, Any] = {"value": None, "error": None, "bundle": {}}
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            with _time_limit(peer, time_s), _everywhere(peer, tests, source):
                value = _executed(source, peer)
            result |= {"bundle": _bundle(value)}
        except BaseException as error:
            result["error"] = _reported(error)
    result["late"] = peer.deadline is not None and time.monotonic() >= peer.deadline
    peer.deadline = time.monotonic() + 1
    with contextlib.suppress(BaseException):
        peer.send("end")
    peer.deadline = None
    return result | {"printed": printed.getvalue()}


class _Printed(io.StringIO):
    """Keeps what a test prints, up to a bound."""

    def write(self, text: str) -> int:
        left = _MAX_PRINTED - self.tell()
        super().write(text[: max(0, left)])
        return len(text)


class _Names(dict[str, Any]):
    """The built-in names, below which lie the student's."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(vars(builtins))
        self._peer = peer

    def __missing__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise KeyError(name)
        return self._peer.ask("name", None, [name])


def _executed(source: str, peer: Peer) -> Any:
    """Run the cell in a namespace of its own and return its last expression's value, None if it ends in a statement."""
    tree = ast.parse(source, "<test>")
    space: dict[str, Any] = {"__name__": "__main__", "__builtins__": _Names(peer)}
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<test>", "exec"), space)
    return eval(compile(ast.Expression(last.value), "<test>", "eval"), space) if isinstance(last, ast.Expr) else None


def _bundle(value: Any) -> dict[str, Any]:
    """Return the cell's value as a notebook shows it, by media type."""
    if value is None:
        return {}
    if isinstance(value, check.Score):
        return dict(value._repr_mimebundle_())
    return {"text/plain": repr(value)[:_MAX_SHOWN]}


def _reported(error: BaseException) -> dict[str, Any]:
    lines = traceback.format_exception_only(error)
    text = "".join(lines).strip()[:_MAX_SHOWN]
    frames = [entry for entry in traceback.extract_tb(error.__traceback__) if entry.filename == "<test>"]
    where = [f"line {entry.lineno} of the test" for entry in frames[:1]]
    value = text.partition(": ")[2] if ": " in text else ""
    return {"name": type(error).__name__, "value": value, "trace": [*where, text]}


@contextlib.contextmanager
def _time_limit(peer: Peer, time_s: float) -> Iterator[None]:
    """Raise TimeLimit when the time is over, and again and again should the cell swallow it."""

    def over(_signal: int, _frame: types.FrameType | None) -> None:
        raise TimeLimit(f"stopped after {time_s:g} s")

    peer.deadline = time.monotonic() + time_s
    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, time_s + _LATER_S, _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# ------------------------------------------------------------------------------- what a test calls for both processes
@contextlib.contextmanager
def _everywhere(peer: Peer, tests: Trusted, source: str) -> Iterator[None]:
    """While the cell runs, let seeds reach both processes, and launchers go where the function is."""
    for root in _imported(source):
        with contextlib.suppress(ImportError):
            importlib.import_module(root)
    replaced: list[tuple[Any, str, Any]] = []

    def replace(places: tuple[tuple[str, str], ...], make: Callable[[str, str, Any], Any]) -> None:
        for module, name in places:
            home = importlib.import_module(module) if module.partition(".")[0] in sys.modules else None
            if home is not None and hasattr(home, name):
                replaced.append((home, name, getattr(home, name)))
                setattr(home, name, make(module, name, getattr(home, name)))

    def both(module: str, name: str, own: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            peer.ask("import", None, [module, name, *args], kwargs)
            return own(*args, **kwargs)

        return call

    def where_it_is(module: str, name: str, own: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            if any(tests.is_remote(value) for value in args):
                return peer.ask("import", None, [module, name, *args], kwargs)
            return own(*args, **kwargs)

        return call

    replace(_SEEDS, both)
    replace(_LAUNCHERS, where_it_is)
    try:
        yield
    finally:
        for home, name, own in reversed(replaced):
            setattr(home, name, own)


def _imported(source: str) -> set[str]:
    """Return the modules that the cell imports anywhere."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names
