"""What a test calls that must reach the student's process as well, or run there: seeds and launchers."""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from autograder.boundary.empties import COMPARING, with_items
from autograder.boundary.peer import Peer
from autograder.boundary.trusted import Trusted

if TYPE_CHECKING:
    from autograder.boundary.ranks import Host

__all__ = ["everywhere"]

_SEEDS = (
    ("labkit._device", "seed_everything"),
    ("random", "seed"),
    ("numpy.random", "seed"),
    ("torch", "manual_seed"),
    ("keras.utils", "set_random_seed"),
    ("tensorflow.random", "set_seed"),
)
"""Called by a test, these seed the student's process too."""
_FRESH = ("labkit._launch.fresh_process", "in_fresh_process")
_LAUNCHERS = (
    ("labkit._launch.launcher", "launch"),
    ("labkit._timing", "bench"),
    ("labkit._timing", "compare"),
    ("labkit.count", "computed"),
    ("labkit.count", "operations"),
    ("labkit.count", "read_ahead"),
)
"""Called with one of the student's functions, these run where the function is."""
_AT_HAND = {"keras", "labkit", "numpy", "random", "tensorflow", "torch"}
"""Libraries of which a module costs little to load where the library is."""
for _module, _ in (_FRESH, *_LAUNCHERS, ("numpy.random", "seed"), ("numpy.testing", "")):
    importlib.import_module(_module)  # now, where a process is pre-warmed: the first test of each would wait for it


@contextlib.contextmanager
def everywhere(peer: Peer, tests: Trusted, source: str, host: Host | None = None) -> Iterator[Callable[[], None]]:
    """While the cell runs, let seeds reach both processes, and launchers go where the function is.

    host: who starts the ranks of collectives. Yields a function that does so with what has been imported since.
    """
    for root in _imported(source):
        with contextlib.suppress(ImportError):
            importlib.import_module(root)
    replaced: dict[tuple[str, str], tuple[Any, str, Any]] = {}

    def replace(places: Iterable[tuple[str, str]], make: Callable[[str, str, Any], Any]) -> None:
        for module, name in places:
            *inside, last = name.split(".")
            home = functools.reduce(lambda found, part: getattr(found, part, None), inside, _loaded(module))
            if home is not None and hasattr(home, last) and (module, name) not in replaced:
                replaced[module, name] = home, last, getattr(home, last)
                setattr(home, last, make(module, name, getattr(home, last)))

    def replace_all() -> None:
        replace(COMPARING, with_items)
        replace(_SEEDS, functools.partial(_both, peer))
        replace((_FRESH,), lambda _module, _name, own: _computed_apart(peer, host, tests, own))
        replace(_LAUNCHERS, functools.partial(_where_it_is, peer, tests))
        replace((("labkit.count", "collective"),), lambda _module, _name, own: _between_ranks(peer, host, tests, own))

    replace_all()
    try:
        yield replace_all
    finally:
        for home, name, own in reversed(replaced.values()):
            setattr(home, name, own)


def _loaded(module: str) -> Any:
    """Return a module of a library that is loaded; None if it is not, or if asking for it would load one."""
    root = module.partition(".")[0]
    return importlib.import_module(module) if root in sys.modules and root in _AT_HAND else sys.modules.get(module)


def _both(peer: Peer, module: str, name: str, own: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is called in the student's process, too."""

    def call(*args: Any, **kwargs: Any) -> Any:
        peer.ask("import", None, [module, name, *args], kwargs)
        return own(*args, **kwargs)

    return call


def _where_it_is(peer: Peer, tests: Trusted, module: str, name: str, own: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is called in the student's process if it is handed something from there."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not any(tests.is_remote(value) for value in args):
            return own(*args, **kwargs)
        found = peer.ask("import", None, [module, name, *args], kwargs)
        if name == "launch" and not (type(found) is list and len(found) == args[1]):
            raise TypeError("launch: expected a list with one value a rank")  # else loops over ranks compare nothing
        return found

    return call


def _computed_apart(peer: Peer, host: Host | None, tests: Trusted, own: Callable[..., Any]) -> Callable[..., Any]:
    """Return labkit.in_fresh_process as tests have it: what only computes does so apart from the student."""
    there = _where_it_is(peer, tests, *_FRESH, own)

    def call(fn: Any, *args: Any, **kwargs: Any) -> Any:
        options = {name: value for name, value in kwargs.items() if name != "only_compute"}
        apart = kwargs.get("only_compute") is True and not options.keys() - {"timeout_s"}
        if host is None or not apart or not tests.is_remote(fn):
            return there(fn, *args, **kwargs)
        from autograder.boundary.ranks import computed

        return computed(peer, host, fn, *args, **options)

    return call


def _between_ranks(peer: Peer, host: Host | None, tests: Trusted, own: Callable[..., Any]) -> Callable[..., Any]:
    """Return labkit.count.collective as tests have it: between ranks of the student's the messages are seen here."""

    def call(fn: Any, *args: Any, **kwargs: Any) -> Any:
        if not tests.is_remote(fn):
            return own(fn, *args, **kwargs)
        from autograder.boundary.ranks import collective

        return collective(peer, host, fn, *args, **kwargs)

    return call


def _imported(source: str) -> set[str]:
    """Return the modules that the cell imports anywhere."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names
