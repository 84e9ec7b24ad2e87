"""What the trusted end lets the student's know of its objects, and remembers of what the student's did to them."""

from __future__ import annotations

import collections
import contextlib
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from autograder.boundary.crossed import Crossed
from autograder.boundary.frames import ProcessDied, TimeLimit, WireError
from autograder.boundary.handles import class_name, handle_of, is_stand_in, plain
from autograder.boundary.operations import FROM_STUDENT, OPERATIONS, names_of
from autograder.boundary.peer import Peer
from autograder.boundary.proxy import Proxy, make
from autograder.boundary.student_values import RANDOM_SOURCES

__all__ = ["Trusted"]

_OWN_CLASSES = ("__main__", "labkit")
"""Objects of classes that a test cell or labkit defines may be looked at from outside, but for their private names."""
_TO_ITERATE = {"contains", "getitem", "iter", "len", "next"}
_OF_OWN = {name for name in names_of(FROM_STUDENT) if name not in {"call", "getattr", "repr", "str"}}
"""What may be done to objects of these classes, beside what may be done to all."""

_CODE = {
    "builtins.function",
    "builtins.type",
    "builtins.module",
    "builtins.method",
    "builtins.builtin_function_or_method",
}
"""Classes of what any test meets that calls something of the student's."""


class Trusted:
    """See owner.Owner and labkit.check.Remote."""

    graphs_stay = False
    fatal: tuple[type[BaseException], ...] = (KeyboardInterrupt, ProcessDied, TimeLimit)

    def __init__(self) -> None:
        self.begin(None)

    def begin(self, peer: Peer | None) -> None:
        """Forget everything of the cell before; the next one talks to this peer."""
        self._talks_to = peer
        self._changed: dict[int, Any] = {}
        self._shared: dict[int, Any] = {}
        self._random: dict[int, tuple[int, Any, Any]] = {}
        self._watching: dict[int, Any] = {}
        self._copies: dict[int, Any] = {}
        self._sent = 0
        self._peer: Peer | None = None
        self.met = False
        """Whether a stand-in was met, on either side, for what in one process is itself there."""
        self.altered = False
        """Whether the student's code changed what it was handed, a copy, and was not asked to."""
        self.crossed = Crossed()

    # ------------------------------------------------------------------------------------------------------ owner.Owner
    def name(self, value: Any, encode: Callable[[Any], Any]) -> dict[str, Any] | None:
        """Return how the other process finds the same module, function or class, or the same random numbers."""
        for kind, (known, state_of, _) in RANDOM_SOURCES.items():
            if known(value):
                return self._random_source(kind, value, state_of(value), encode)
        if isinstance(value, types.ModuleType):
            return {"t": "name", "m": value.__name__, "q": ""}
        found = _importable(value)
        return {"t": "name", "m": found[0], "q": found[1]} if found else None

    def find(self, reference: Mapping[str, Any], decode: Callable[[Any], Any]) -> Any:
        raise WireError("a value of a kind that a notebook may not send")

    def stand_in(
        self, peer: Peer, handle: int, description: Mapping[str, Any], decode: Callable[[Any], Any], known: Any
    ) -> Any:
        """Return a proxy, or a tensor if the numbers of one came along."""
        if "x" not in description:
            self.met = self.met or not _CODE & set(map(str, description.get("c") or ()))
            return known if type(known) is Proxy else make(peer, handle, description)
        numbers = decode(description["x"])
        if type(numbers).__module__ != "torch" or type(numbers).__name__ != "Tensor":
            raise WireError("a tensor without numbers")
        from autograder.boundary.graph import remote_tensor

        known = None if type(known) is Proxy else known
        leaf, graph = description.get("leaf") is True, description.get("graph") is True
        return remote_tensor(peer, handle, numbers, known, leaf=leaf, graph=graph)

    def handle_of(self, value: Any) -> int | None:
        return handle_of(value)

    def describe(self, value: Any, encode: Callable[[Any], Any]) -> dict[str, Any]:
        """Nothing: the student's process need not know what it is given.

        What is only called stands in well for a function; of another object it would see more in one process.
        """
        self.met = self.met or not isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.MethodType)
        return {}

    def perform(self, operation: str, target: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
        """Call a function that the test has handed over; of its other objects, look only at what they show."""
        kind = type(target)
        if operation in {"str", "repr"}:
            self.met = True
            return f"<{kind.__name__} of the test>"
        if operation == "call" and callable(target):
            # A number of the student's own class would be asked what comes of an operation with the test's numbers.
            return target(*map(_read, arguments), **{name: _read(value) for name, value in options.items()})
        # An exception of the test's says what was expected: it is known again when it comes back, and no more.
        shut = isinstance(target, type | types.FunctionType | BaseException)
        own = kind.__module__.partition(".")[0] in _OWN_CLASSES and not shut
        if operation == "bool" and callable(target) and not own:
            return True
        if operation == "getattr" and own and len(arguments) == 1:
            name = arguments[0]
            if type(name) is str and not name.startswith("_"):
                return getattr(target, name)
        elif operation in (_OF_OWN if own else _TO_ITERATE) and (own or _iterates(target)):
            return OPERATIONS[operation](target, *map(_read, arguments))
        self.met = True
        raise AttributeError(f"a {kind.__name__} of the test has no {_shown(operation, arguments)} here")

    def snapshot(self, mutable: list[Any]) -> list[Any]:
        """A test's own functions may do with copies what they like."""
        return []

    def changes(self, peer: Peer, mutable: list[Any], before: list[Any]) -> dict[str, Any]:
        return {}

    def take_changes(self, peer: Peer, sent: list[Any], changes: Any) -> None:
        """Note which arguments the student's code says to have changed; nothing of the test's is changed by that.

        Those that the test shares, and gradients, are brought up to date.
        """
        if not isinstance(changes, dict):
            return
        values = changes.get("values")
        for place, value in values.items() if isinstance(values, dict) else ():
            if type(place) is int and 0 <= place < len(sent):
                self._changed[id(sent[place])] = sent[place]
                if id(sent[place]) in self._shared:
                    _update(sent[place], value)
                else:
                    self.altered = True
        gradients = changes.get("gradients")
        if isinstance(gradients, dict):
            peer.leaves.adopt({key: value for key, value in gradients.items() if type(key) is str})

    def watched(self, peer: Peer, mutable: list[Any]) -> list[list[int]]:
        """Have each copy watched that is handed out while its original is."""
        found = []
        self.crossed.note(mutable)
        for place, value in enumerate(mutable):
            if id(value) in self._watching:
                self._sent, self._peer = self._sent + 1, peer
                self._copies[self._sent] = value
                found.append([place, self._sent])
        return found

    def watch(self, mutable: list[Any], places: Any) -> None:
        """The test's own functions change nothing that matters."""

    def came(self, mutable: list[Any]) -> None:
        """The test may write to what it was given."""
        self.crossed.note(mutable)

    # --------------------------------------------------------------------------------------------------- check.Remote
    def is_remote(self, value: Any) -> bool:
        """Whether this is an object of the student's process."""
        return is_stand_in(value)

    def value(self, value: Any) -> Any:
        """Return what an object of the student's holds, as a plain value; the object itself if it holds none."""
        return plain(value)

    @contextlib.contextmanager
    def operators(self) -> Iterator[None]:
        """Let operators of the student's classes take values of the test's, which their author asks for by name."""
        if (peer := self._talks_to) is None:
            yield
            return
        before, peer.operators = peer.operators, True
        try:
            yield
        finally:
            peer.operators = before

    def type_name(self, value: Any) -> str:
        """Return the name of the class of an object of the student's."""
        return class_name(value)

    def share(self, value: Any) -> None:
        """From now on, let what the student's code does to this argument in place be done to it here too."""
        self._shared[id(value)] = value

    def forget_changes(self, value: Any) -> None:
        """Begin to watch this value, and what it contains."""
        self._watching = {id(part): part for part in _parts(value)}
        self._copies = {number: own for number, own in self._copies.items() if id(own) not in self._watching}
        for part in _parts(value):
            self._changed.pop(id(part), None)

    def was_changed(self, value: Any) -> bool:
        """Whether the student's code has since changed its copy of this value, or of what it contains."""
        for number in self._peer.ask("changed") if self._peer and self._copies else ():
            if type(number) is int and number in self._copies:
                self._changed[id(self._copies[number])] = self._copies[number]
        return any(id(part) in self._changed for part in _parts(value))

    def _random_source(self, kind: str, source: Any, state: Any, encode: Callable[[Any], Any]) -> dict[str, Any]:
        """The state goes along if it is not the one that went last: else the student's goes on from where it is."""
        number, _, last = self._random.get(id(source), (len(self._random) + 1, source, None))
        self._random[id(source)] = (number, source, state)
        return {"t": "random", "c": kind, "n": number, "s": None if _same(state, last) else encode(state)}


def _read(value: Any) -> Any:
    """Return what a proxy's object holds; a tensor stays one whose graph can be followed."""
    return plain(value) if type(value) is Proxy else value


def _iterates(value: Any) -> bool:
    return isinstance(value, Iterable) and type(value).__module__ == "builtins"


def _shown(operation: str, arguments: list[Any]) -> str:
    name = arguments[0] if arguments else operation
    return repr(name[:100]) if type(name) is str else operation


def _importable(value: Any) -> tuple[str, str] | None:
    """Return module and name under which this function or class can be imported; None if it is no such thing."""
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(name, str) or not callable(value):
        return None
    homes = [getattr(value, "__module__", None), "numpy", "torch", "torch.nn.functional"]
    for module in homes:
        if isinstance(module, str) and module.partition(".")[0] not in _PRIVATE:
            found: Any = sys.modules.get(module)
            for part in name.split(".") if module == homes[0] else name.split(".")[-1:]:
                found = getattr(found, part, None)
            if found is value:
                return module, name if module == homes[0] else name.rpartition(".")[2]
    return None


_PRIVATE = {"__main__", "autograder"}


def _same(state: Any, other: Any) -> bool:
    if isinstance(state, dict):
        return isinstance(other, dict) and all(_same(value, other.get(key)) for key, value in state.items())
    if isinstance(state, np.ndarray):
        return isinstance(other, np.ndarray) and bool(np.array_equal(state, other))
    if hasattr(state, "equal") and hasattr(other, "equal"):
        return bool(state.equal(other))
    return bool(state == other)


def _parts(value: Any) -> list[Any]:
    """Return a value and all that its lists, tuples and dictionaries contain."""
    found = [value]
    if type(value) is dict:
        value = list(value.values())
    if type(value) in {list, tuple}:
        found += [part for item in value for part in _parts(item)]
    return found


def _update(own: Any, value: Any) -> None:
    """Bring a shared argument up to date in place; what does not fit leaves it as it is."""
    if type(own) is not type(value):
        return
    if isinstance(own, np.ndarray) and own.shape == value.shape and own.dtype == value.dtype:
        own[...] = value
    elif isinstance(own, list):
        own[:] = value
    elif isinstance(own, dict | set):
        own.clear()
        own.update(value)
    elif isinstance(own, collections.deque):
        own.clear()
        own.extend(value)
    elif hasattr(own, "copy_") and own.shape == value.shape and own.dtype == value.dtype:
        own.data.copy_(value)
