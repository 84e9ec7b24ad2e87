"""The trusted end: runs test cells, in which every name that a cell neither imports nor defines is the student's."""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import io
import sys
import time
import traceback
import types
from collections.abc import Callable, Collection, Mapping
from typing import Any

from autograder.boundary.audit import Sentry
from autograder.boundary.drift import drifted
from autograder.boundary.empties import BELOW, compiled
from autograder.boundary.end import End, stopped
from autograder.boundary.everywhere import everywhere
from autograder.boundary.exact import TYPES
from autograder.boundary.frames import Carrier, Connection
from autograder.boundary.given import DATA, names_made, trusted_names
from autograder.boundary.handles import FRESH_S, is_object, module_name, stands
from autograder.boundary.judging import Judge
from autograder.boundary.left import Left
from autograder.boundary.locked import CHANGES, all_statements, names_in
from autograder.boundary.needed import reached
from autograder.boundary.operations import compares
from autograder.boundary.peer import Peer
from autograder.boundary.ranks import Host
from autograder.boundary.settings import as_there
from autograder.boundary.templates import BUILT_IN
from autograder.boundary.trusted import Trusted
from autograder.boundary.verdicts import verdicts
from labkit import check

__all__ = ["run_cells"]

_MAX_PRINTED = 64 * 1024
_MAX_SHOWN = 20_000
_MAX_BELIEVED = 100
_ALIASES = {
    "F": "torch.nn.functional",
    "nn": "torch.nn",
    "np": "numpy",
    "pd": "pandas",
    "plt": "matplotlib.pyplot",
    "sp": "scipy",
    "tf": "tensorflow",
}


def run_cells(
    control: Connection,
    student: Connection,
    begin: Callable[[], None] = lambda: None,
    host: Carrier | None = None,
) -> None:
    """Run each test cell that the grader sends over control, and report what became of it, until there are no more.

    begin: called before each. host: the connection to the process that starts ranks for collectives, if there is one.
    """
    tests = Trusted()
    peer = Peer(student, tests, writable=False, only_when_asked=False)
    check.adopt(tests)
    sentry, left = Sentry(), Left()
    starts_ranks = Host(host) if host else None
    while True:
        order, _ = control.receive()
        if "stop" in order:  # a cell that has ended meanwhile
            continue
        cell = int(order["cell"])
        end = End(
            cell, float(order["computing_s"]), float(order["waiting_s"]), functools.partial(stopped, control, cell)
        )
        begin()
        with sentry.watching():
            found = _run(peer, tests, order["source"], end, order["given"], left, order["leaves"], starts_ranks)
        control.send(found)


def _run(
    peer: Peer,
    tests: Trusted,
    source: str,
    end: End,
    given: Mapping[str, Any] | None = None,
    left: Left | None = None,
    leaves: str = "",
    host: Host | None = None,
) -> dict[str, Any]:
    """Return the cell's outcome: its value or its error, what it printed, and how it looks in a notebook.

    given: the arguments of given.trusted_names, but for the test, and the names that are live. left: of the tests
    before. leaves: what of this one counts as a locked cell for those below. In given, look: say which data is another
    in the student's process, which is the instructor's now; tried: a trial has shown that the instructor's solution
    needs nothing that is refused to operators of tests; items: that no result of it is an array without any.
    """
    given, left = dict(given or {}), left or Left()
    left.begin(given.get("cells", ()), {*given.get("theirs", ()), *given.pop("live", ())})
    look, tried, mirrors, items = (given.pop(name, False) for name in ("look", "tried", "mirrors", "items"))
    peer.begin(end.cell, holds=left.holds, mirrors=mirrors)
    texts = [source, *given.get("cells", ())]
    sources = texts if tried else []  # a lab's own tests ask for functions
    begin = functools.partial(tests.begin, peer, nothing=not items, sources=sources, again=tried)
    begin()
    check.begin()
    printed = _Printed()
    result: dict[str, Any] = {"value": None, "error": None, "bundle": {}, "differ": [], "less": []}
    names = _Names(peer, given["theirs"] if given else None, left, tests, tried=tried)
    space: dict[str, Any] = {}
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            finer = as_there(peer.ask, texts)
            with end.awaited(peer), finer, everywhere(peer, tests, source, host) as loaded:
                with contextlib.redirect_stdout(io.StringIO()):
                    result |= names.give(given, source, look=look)
                    loaded()
                    if look:
                        begin()  # what was looked at until now the test may never meet
                value = _executed(source, names, space)
            result |= {"bundle": _bundle(value)}
        except BaseException as error:
            result["error"] = _reported(error)
    left.note(leaves, space, names, tests.changes_heard.handed)
    result["late"] = end.came()
    if not result["late"]:
        _last_word(peer, names.look_back)
    seen = _seen(peer, tests)
    _last_word(peer, lambda: tests.before_asking(peer), lambda: peer.send("end", holds=left.holds))
    return result | {"printed": printed.getvalue(), "asked": sorted(names.asked), "kept": left.bound(leaves), **seen}


def _seen(peer: Peer, tests: Trusted) -> dict[str, Any]:
    """Return what a second look at the test depends on: see execution.results.Report."""
    changes = tests.changes_heard
    found = {name: getattr(changes, name) for name in ("altered", "rewritten")}
    found |= {"written": changes.crossed.written(), "nothing": changes.nothing or peer.empty}
    found |= {"believed": sorted(peer.believed)[:_MAX_BELIEVED]}
    unlike = tests.valued or peer.hashed or peer.withheld
    return found | {"met": tests.met or peer.withheld, "valued": unlike, "refused": peer.refused}


def _last_word(peer: Peer, *steps: Callable[[], None]) -> None:
    """Take steps with the student's process at the end of a test: what it has emptied at last, and that it is over."""
    peer.deadline = time.monotonic() + 1
    for step in steps:
        with contextlib.suppress(BaseException):
            step()
    peer.deadline = None


_STANDING = {*TYPES, type(None)} - {dict, list, set, tuple}
"""Classes of what a name means that stands until something is done."""


class _Printed(io.StringIO):
    """Keeps what a test prints, up to a bound."""

    def write(self, text: str) -> int:
        left = _MAX_PRINTED - self.tell()
        super().write(text[: max(0, left)])
        return len(text)


class _Names(dict[str, Any]):
    """The built-in names and those of locked cells that are the grader's, below which lie the student's."""

    def __init__(
        self, peer: Peer, theirs: Collection[str] | None, left: Left, tests: Trusted, *, tried: bool = False
    ) -> None:
        known = vars(builtins) | BUILT_IN | (BELOW if tried else {})
        super().__init__({name: value for name, value in known.items() if name not in (theirs or ())})
        self._peer, self._tests = peer, tests
        self._left = left
        self._theirs = theirs
        self.tried = tried
        self._read: dict[str, tuple[int, float, Any]] = {}
        self.asked: set[str] = set()
        """What the student's process was asked for, there or not."""
        self._made: frozenset[str] = frozenset()
        self._goes_on = False

    def below(self) -> _Names:
        """Return what functions of locked cells find where they find no name: all built-in names, and the student's."""
        names = _Names(self._peer, self._theirs, self._left, self._tests, tried=self.tried)
        names.update(vars(builtins) | BUILT_IN)
        names.asked, names._read = self.asked, self._read
        return names

    def give(self, given: Mapping[str, Any], source: str, *, look: bool) -> dict[str, list[str]]:
        """Give the test what the locked cells and the tests above give it; return what there is to report of that."""

        judged = _judged(given)

        def make() -> Mapping[str, Any]:
            known: dict[str, Any] = {"left": self._left.values, "unbound": self._left.unbound, "kept": judged}
            return trusted_names(**given, test=source, beneath=self.below(), **known) if given else {}

        made = make()
        self._made = reached(given.get("cells", ()), frozenset(made)) if made else frozenset()
        self._goes_on = bool(self._left.values.keys() & self._left.handed & names_in(source)[0])
        self._left.keep(given.get("cells", ()), {name: made[name] for name in judged & made.keys()})
        self.update(made)
        self.update(self._left.values)  # what came of a test above, and not what its text alone would give
        if not look:
            return {}
        differ, less = drifted({n: made[n] for n in made.keys() - self._left.values}, self._of_kernel, make)
        return {"differ": differ, "less": less}

    def look_back(self) -> None:
        """Ask, at the end, what the student's code has changed in its own process of what the test has here, made anew.

        That is what it handed over, data of locked cells, and what a test before handed over.
        """
        changes = self._tests.changes_heard
        changes.look_back(self._peer, earlier=self._goes_on)
        found = self._peer.ask("strayed", None, [sorted(self._made)]) if self._made else None
        changed = self._made.intersection(found if type(found) is list else ())
        told = [f"{name} of a locked cell" for name in changed]
        told += ["what a test above has handed over"] if changes.earlier else []
        self._peer.believed |= {f"{CHANGES}{each}" for each in told}

    def _of_kernel(self, name: str) -> Any:
        """Return what the student's process has under a name; a number or text as it was, until something is done."""
        turn, until_s, found = self._read.get(name, (-1, 0.0, None))
        if not stands(self._peer, turn, until_s):
            found = self._peer.ask("name", None, [name])
            if type(found) in _STANDING or is_object(found):  # what a test may change is a copy each time
                self._read[name] = self._peer.turn, time.monotonic() + FRESH_S, found
            self._tests.emptied.came(name, found)
        return found

    def __missing__(self, name: str) -> Any:
        if name in self._left.values:
            return self._left.values[name]
        if name in self._left.unbound or (name.startswith("__") and name.endswith("__")):
            raise KeyError(name)
        self.asked.add(name)
        found = self._of_kernel(name)
        if is_object(found) and self._theirs is not None and name not in self._theirs and compares(name):
            return Judge(found, name)  # imported in a way that the grader does not know: the student's may be another
        return _own_module(name, module_name(found)) or found


def _judged(given: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of data that trusted_names, with these arguments, makes by asking the student's process."""
    cells, theirs = tuple(given.get("cells", ())), {*given.get("theirs", ()), *given.get("withheld", ())}
    found = verdicts(all_statements(cells, True), names_made(cells, theirs, DATA))
    return frozenset(name for statement in found for name in statement.binds)


def _own_module(name: str, module: str) -> Any:
    """Return the grader's own module where the student's process has imported one under its usual name; else None."""
    return sys.modules.get(module) if module and (name == module or _ALIASES.get(name) == module) else None


def _executed(source: str, names: _Names, bound: dict[str, Any]) -> Any:
    """Run the cell in a namespace of its own and return its last expression's value, None if it ends in a statement.

    bound: is told what the cell has bound, however it ends.
    """
    tree = ast.parse(source, "<test>")
    module = types.ModuleType("__main__")  # unittest.main looks for its tests there
    space = vars(module)
    space["__builtins__"] = names
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    before, sys.modules["__main__"] = sys.modules["__main__"], module
    try:
        exec(compiled(tree, "<test>", names), space)
        if not isinstance(last, ast.Expr):
            return None
        return eval(compiled(ast.Expression(last.value), "<test>", names), space)
    finally:
        sys.modules["__main__"] = before
        bound.update(space)


def _bundle(value: Any) -> dict[str, Any]:
    """Return the cell's value as a notebook shows it, by media type."""
    if value is None:
        return {}
    if isinstance(value, check.Score):
        return dict(value._repr_mimebundle_())
    return {"text/plain": repr(value)[:_MAX_SHOWN]}


def _reported(error: BaseException) -> dict[str, Any]:
    lines = [type(error).__name__]
    with contextlib.suppress(Exception):  # what it holds may be anything
        lines = traceback.format_exception_only(error)
    text = "".join(lines).strip()[:_MAX_SHOWN]
    frames = [entry for entry in traceback.extract_tb(error.__traceback__) if entry.filename == "<test>"]
    where = [f"line {entry.lineno} of the test" for entry in frames[:1]]
    value = text.partition(": ")[2] if ": " in text else ""
    return {"name": type(error).__name__, "value": value, "trace": [*where, text]}
