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
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.boundary import DESCRIPTOR
from autograder.boundary.frames import Connection, ProcessDied, WireError
from autograder.boundary.operations import OPERATIONS
from autograder.boundary.peer import Peer
from autograder.boundary.proxy import handle_of, make
from autograder.boundary.values import RANDOM_SOURCES, changed, reduced, snapshot

__all__ = ["serve"]


class _Agent:
    """See peer.Owner; here the other end may name, look at and call everything."""

    graphs_stay = True
    fatal: tuple[type[BaseException], ...] = (KeyboardInterrupt, ProcessDied)

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {}
        self._random: dict[int, Any] = {}
        self._watched: dict[int, tuple[Any, Any]] = {}

    def begin(self, namespace: dict[str, Any]) -> None:
        """Forget what belongs to an earlier cell."""
        self.namespace = namespace
        self._random = {}
        self._watched = {}

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

    def stand_in(self, peer: Peer, handle: int, description: Mapping[str, Any]) -> Any:
        return make(peer, handle, description)

    def handle_of(self, value: Any) -> int | None:
        return handle_of(value)

    def describe(self, value: Any) -> dict[str, Any]:
        kind = type(value)
        names = [f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__[:20]]
        torch = sys.modules.get("torch")
        return {"c": names, "tensor": bool(torch and isinstance(value, torch.Tensor)), "class": isinstance(value, type)}

    def perform(self, operation: str, target: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
        if operation == "name":
            return self._named(*arguments)
        if operation == "value":
            return reduced(target)
        if operation == "changed":
            return [number for number, (value, old) in self._watched.items() if changed(value, old)]
        if operation == "import":
            return _resolved(*arguments[:2])(*arguments[2:], **options)
        if operation == "call":
            return target(*arguments, **options)
        return OPERATIONS[operation](target, *arguments)

    def snapshot(self, mutable: list[Any]) -> list[Any]:
        """Return what tells later whether these values were changed."""
        return [snapshot(value) for value in mutable]

    def changes(self, peer: Peer, mutable: list[Any], before: list[Any]) -> dict[str, Any]:
        """Return which of them were, by their place, with what they are now; and the gradients that are new."""
        places = [place for place, (value, old) in enumerate(zip(mutable, before, strict=True)) if changed(value, old)]
        found: dict[str, Any] = {"values": {place: mutable[place] for place in places}} if places else {}
        gradients = peer.leaves.gradients()
        return found | ({"gradients": gradients} if gradients else {})

    def take_changes(self, peer: Peer, sent: list[Any], changes: Any) -> None:
        """The test's own functions report none."""

    def watched(self, peer: Peer, mutable: list[Any]) -> list[list[int]]:
        return []

    def watch(self, mutable: list[Any], places: Any) -> None:
        """Remember arguments as they came: an object may keep one, and change it in a later call."""
        for place, number in places or ():
            self._watched[number] = mutable[place], snapshot(mutable[place])

    def _named(self, name: str) -> Any:
        if name not in self.namespace:
            raise NameError(f"name {name!r} is not defined", name=name)
        return self.namespace[name]


def _resolved(module: str, name: str) -> Any:
    found = importlib.import_module(module)
    for part in name.split(".") if name else ():
        found = getattr(found, part)
    return found


_agents: list[tuple[_Agent, Peer]] = []


def serve(namespace: dict[str, Any], cell: int, imports: Sequence[str] = ()) -> None:
    """Answer what the test cell of this number asks, with the names of this namespace, until it has ended.

    imports: what the part of the cell that students see imports, as it would in a notebook.
    """
    for statement in imports:
        with contextlib.suppress(Exception):
            exec(statement, namespace)
    if not _agents:
        agent = _Agent()
        stream = socket.socket(fileno=int(os.environ[DESCRIPTOR]))
        _agents.append((agent, Peer(Connection(stream), agent, writable=True, only_when_asked=True)))
    agent, peer = _agents[0]
    agent.begin(namespace)
    peer.begin(cell)
    with contextlib.suppress(ProcessDied, KeyboardInterrupt):
        while (message := peer.next())[0].get("k") != "end":
            peer.answer(*message)
    peer.begin(0)
