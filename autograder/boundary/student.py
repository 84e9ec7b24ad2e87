"""The student's end: answers what the test cells ask of the student's objects, in the process of the student's kernel.

Everything in this process is in the student's hands, this module too. It is written to serve honest code well; nothing
that it sends is believed by the other end.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.boundary import DESCRIPTOR, as_left, own_classes
from autograder.boundary.again import taken_again
from autograder.boundary.emptied import empty
from autograder.boundary.exact import TYPES
from autograder.boundary.frames import Connection, ProcessDied, WireError
from autograder.boundary.functions import standing_for, tell_of_attributes
from autograder.boundary.given_again import Unmade, made_again
from autograder.boundary.handles import handle_of
from autograder.boundary.operations import ABOUT_CHANGES, ARITHMETIC, COMPARISONS, OF_TUPLES, OPERATIONS, UNARY
from autograder.boundary.peer import Peer
from autograder.boundary.proxy import SHAPES, make
from autograder.boundary.remembered import Remembered
from autograder.boundary.settings import settings
from autograder.boundary.shown import hashes
from autograder.boundary.student_ranks import answer_until_end, packed
from autograder.boundary.student_values import RANDOM_SOURCES, changed, reduced, snapshot
from autograder.boundary.tensors import numbers_of, travels

__all__ = ["Agent", "serve"]


class _Changes:
    """See owner.ChangesMade."""

    def __init__(self, earlier: list[tuple[Any, Any]] | None = None) -> None:
        self._watched: dict[int, tuple[Any, Any, Any]] = {}
        self.remembered = Remembered(earlier)

    def snapshot(self, mutable: list[Any]) -> list[Any]:
        return [snapshot(value) for value in mutable]

    def watch(self, mutable: list[Any], places: Any) -> None:
        """Remember arguments as they came: an object may keep one, and change it in a later call."""
        for place, number in places or ():
            self._watched[number] = mutable[place], snapshot(mutable[place]), _asks(mutable[place])

    def changes(self, peer: Peer, mutable: list[Any], before: list[Any]) -> dict[str, Any]:
        """Return which of them were changed, by their place, with what they are now; and the gradients that are new."""
        places = [place for place, (value, old) in enumerate(zip(mutable, before, strict=True)) if changed(value, old)]
        found: dict[str, Any] = {"values": {place: mutable[place] for place in places}} if places else {}
        gradients = peer.leaves.gradients()
        return found | ({"gradients": gradients} if gradients else {})

    def rewritten(self) -> Iterator[tuple[int | str, int]]:
        return self.remembered.rewritten()

    def given(self, number: int, values: list[Any], size: int) -> None:
        self.remembered.given(number, values, size)

    def note(self, number: Any, arguments: list[Any], results: list[Any], *about: Any) -> None:
        self.remembered.note(number, arguments, results, *about)

    def forget(self, numbers: Any) -> None:
        self.remembered.forget(numbers)

    def since(self) -> list[int]:
        """Return the numbers of watched arguments that have been changed since."""
        watched = self._watched.items()
        return [number for number, (value, old, asked) in watched if changed(value, old) or _asks(value) is not asked]


def _asks(value: Any) -> Any:
    """Whether a tensor asks for its gradient; None for what is no tensor of PyTorch's."""
    return getattr(value, "requires_grad", None)


class Agent:
    """See owner.Owner; here the other end may name, look at and call everything."""

    graphs_stay = True
    fatal: tuple[type[BaseException], ...] = (KeyboardInterrupt, ProcessDied)
    changes_heard = None

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {}
        self._given: Mapping[str, Any] = {}
        self._random: dict[int, Any] = {}
        self.changes_made = _Changes()

    def begin(self, namespace: dict[str, Any], given: Mapping[str, Any] | None = None) -> None:
        """Forget what belongs to an earlier cell. given: names that mean something else than in the namespace."""
        self.namespace = namespace
        own_classes.begin(namespace)
        self._given = given or {}
        self._random = {}
        self.changes_made = _Changes(self.changes_made.remembered.carried())

    def name(self, value: Any, encode: Callable[[Any], Any]) -> dict[str, Any] | None:
        return None

    def find(self, reference: Mapping[str, Any], decode: Callable[[Any], Any]) -> Any:
        kind = reference.get("t")
        if kind == "name":
            return _resolved(str(reference["m"]), str(reference["q"]))
        if kind == "random":
            number = int(reference["n"])
            if reference["s"] is not None:  # else it goes on from where it is
                self._random[number] = RANDOM_SOURCES[reference["c"]][2](decode(reference["s"]))
            return self._random[number]
        raise WireError(f"a value of kind {kind!r}")

    def stand_in(
        self, peer: Peer, handle: int, description: Mapping[str, Any], decode: Callable[[Any], Any], known: Any
    ) -> Any:
        if known is not None:
            return known
        proxy = make(peer, handle, description)
        of_function = description.get("c") == ["builtins.function"]
        if not of_function:
            return proxy
        return standing_for(proxy, handle, proxy.__signature__, generates=description.get("g") is True)

    def handle_of(self, value: Any) -> int | None:
        return handle_of(value)

    def describe(self, value: Any, encode: Callable[[Any], Any]) -> dict[str, Any]:
        """The classes of an object, the name of a module, the numbers of a tensor whose graph stays here."""
        kind = type(value)
        found: dict[str, Any] = {"c": [f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__[:20]]}
        found["z"] = SHAPES.of(value)
        if (hashed := hashes(kind)) is not None:
            found["s"] = hashed
        if overrides := _overrides(kind):
            found["o"] = overrides
        if isinstance(value, types.ModuleType):
            found["m"] = value.__name__
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Tensor):
            with numbers_of(torch, value) as (numbers, transformed), contextlib.suppress(WireError):
                if travels(numbers):  # if too large it is an object like others
                    leaf, graph = (False, True) if transformed else (value.is_leaf, value.requires_grad)
                    found |= {"x": encode(numbers), "leaf": leaf, "graph": graph}
        return found

    def before_asking(self, peer: Peer) -> None:
        """Nothing."""

    def place_of(self, peer: Peer, value: Any) -> None:
        """Nowhere: the test's end has copies."""

    def own_at(self, place: Any, value: Any) -> Any:
        return taken_again(self.changes_made.remembered, place, value)

    def perform(self, operation: str, target: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
        if operation == "name":
            return self._named(*arguments)
        if operation == "empty":
            return empty(self._named(arguments[0]))
        if operation == "value":
            return reduced(target)
        if operation == "settings":
            return settings()
        if operation in ABOUT_CHANGES:
            return self._changed(operation, arguments)
        if operation == "import":
            return _resolved(*arguments[:2])(*arguments[2:], **options)
        if operation == "call":
            try:
                return target(*arguments, **options)
            finally:
                tell_of_attributes()
        if operation == "packed":
            return packed(target)
        if operation in {"isinstance", "issubclass"}:
            return OPERATIONS[operation]((target, *self._in_place_of(target)), *arguments)
        return OPERATIONS[operation](target, *arguments)

    def _changed(self, operation: str, arguments: list[Any]) -> Any:
        """Return what the test's end asks about changes; a list without items would be a result of nothing."""
        if operation == "changed":
            return self.changes_made.since()
        if operation == "strayed":
            return as_left.strayed(*arguments) or None
        if operation == "altered":
            return self.changes_made.remembered.altered(*arguments) or None
        return getattr(self.changes_made.remembered, operation)(*arguments)

    def _named(self, name: str) -> Any:
        found = self._given.get(name, self.namespace.get(name))
        if isinstance(found, Unmade) or (name not in self._given and name not in self.namespace):
            raise NameError(f"name {name!r} is not defined", name=name)
        return found

    def _in_place_of(self, kind: Any) -> list[type]:
        """Return the student's own class under the name of a locked one that was made again: its objects are these."""
        names = [name for name, made in self._given.items() if made is kind]
        return [own for name in names if isinstance(own := self.namespace.get(name), type)]


def _overrides(kind: type) -> list[str]:
    """Return what a class derived from one of plain values overrides of it: operators, and methods behind a dot."""
    base = next((place for place, each in enumerate(kind.__mro__) if each in TYPES or each is np.ndarray), 0)
    own = {name for each in kind.__mro__[:base] for name in vars(each)}
    every = (*UNARY, *OF_TUPLES, *ARITHMETIC, *COMPARISONS, "contains", "format", "hash")
    operators = [name for name in every if f"__{name}__" in own]
    return operators + [f".{name}" for name in sorted(own) if name[0] != "_" and hasattr(kind.__mro__[base], name)]


def _resolved(module: str, name: str) -> Any:
    found = importlib.import_module(module)
    for part in name.split(".") if name else ():
        found = getattr(found, part)
    return found


_agents: list[tuple[Agent, Peer]] = []


def connect(_namespace: Any = None) -> None:
    """Take over the socket to the test cells, once: before the student's code, which may empty the environment."""
    if not _agents:
        agent = Agent()
        connection = Connection(socket.socket(fileno=int(os.environ[DESCRIPTOR])))
        _agents.append((agent, Peer(connection, agent, writable=True, only_when_asked=True)))


def serve(
    namespace: dict[str, Any], cell: int, imports: Sequence[str] = (), given: Sequence[Sequence[str]] = ()
) -> None:
    """Answer what the test cell of this number asks, with the names of this namespace, until it has ended.

    imports: what the part of the cell that students see imports, as it would in a notebook. given: imports and
    functions of each locked cell, which the test means by their names whatever has become of these since.
    """
    for statement in imports:
        with contextlib.suppress(Exception):
            exec(statement, namespace)
    connect()
    agent, peer = _agents[0]
    agent.begin(namespace, made_again(namespace, given))
    as_left.begin(namespace)
    peer.begin(cell, holds=True)  # nothing, unless the test before has said so
    peer.begin(0, holds=answer_until_end(peer))
    as_left.note(namespace)
