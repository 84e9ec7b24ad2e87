"""What the trusted end lets the student's know of its objects, and remembers of what the student's did to them."""

from __future__ import annotations

import contextlib
import inspect
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from autograder.boundary.again import HandedOver
from autograder.boundary.classes import parameters_of
from autograder.boundary.emptied import Emptied
from autograder.boundary.exact import TYPES
from autograder.boundary.frames import ProcessDied, TimeLimit, WireError
from autograder.boundary.handles import class_name, handle_of, is_object, is_stand_in, plain
from autograder.boundary.operations import FROM_STUDENT, OPERATIONS, names_of
from autograder.boundary.peer import Peer
from autograder.boundary.proxy import SHAPES, make, reshaped
from autograder.boundary.shown import description_of, says_itself, shows_all
from autograder.boundary.student_values import RANDOM_SOURCES
from autograder.boundary.trusted_changes import ChangesOfStudents

__all__ = ["Trusted"]

_OWN_CLASSES = ("__main__", "labkit")
"""Objects of classes that a test cell or labkit defines may be looked at from outside, but for their private names."""
_TO_ITERATE = {"contains", "getitem", "iter", "len", "next"}
_OF_OWN = {name for name in names_of(FROM_STUDENT) if name not in {"call", "getattr", "repr", "str"}}
"""What may be done to objects of these classes, beside what may be done to all."""

_OF_FUNCTIONS = ("__doc__", "__name__", "__qualname__")
"""What may be asked of a function that the test handed over: its class's name, and no text."""

_OF_VALUES = {
    *TYPES.values(), "numpy.ndarray", "pandas.core.frame.DataFrame", "pandas.core.series.Series", "pathlib.PurePath",
    "uuid.UUID",
}  # fmt: skip
"""Classes of values; an object of a derived one is read as its value, and may do more in one process."""
_CALLED = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)
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
    changes_made = None
    """A test's own functions may do with copies what they like."""

    def __init__(self) -> None:
        self.begin(None)

    def begin(
        self, peer: Peer | None, *, nothing: bool = True, sources: Iterable[str] = (), again: bool = False
    ) -> None:
        """Forget everything of the cell before; the next one talks to this peer.

        nothing: see ChangesOfStudents. sources: see emptied.Emptied. again: whether what is handed over again is to be
        the same object there.
        """
        self._talks_to = peer
        self._handed_over = HandedOver() if again else None
        self.emptied = Emptied(sources)
        self._random: dict[int, tuple[int, Any, Any]] = {}
        self.changes_heard = ChangesOfStudents(peer, takes_nothing=nothing, handed_over=self._handed_over)
        self.met = self.valued = False
        """Whether a stand-in was met, on either side, for what in one process is itself there; one that was asked for
        what it has in one process only."""

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
            classes = set(map(str, description.get("c") or ()))
            self.met, self.valued = self.met or not _CODE & classes, self.valued or bool(_OF_VALUES & classes)
            return reshaped(known, description) if is_object(known) else make(peer, handle, description)
        numbers = decode(description["x"])
        if type(numbers).__module__ != "torch" or type(numbers).__name__ != "Tensor":
            raise WireError("a tensor without numbers")
        from autograder.boundary.graph import remote_tensor

        known = None if is_object(known) else known
        leaf, graph = description.get("leaf") is True, description.get("graph") is True
        return remote_tensor(peer, handle, numbers, known, leaf=leaf, graph=graph)

    def handle_of(self, value: Any) -> int | None:
        return handle_of(value)

    def describe(self, value: Any, encode: Callable[[Any], Any]) -> dict[str, Any]:
        """Whether it is a function, method or class, of how many arguments; a generator; its class's name, and fields.

        What is only called stands in well for a function; of another object it would see more in one process.
        """
        kind = next((kind for kind in _CALLED if isinstance(value, kind)), None)
        self.met = self.met or kind in {None, type}
        shape = {"z": SHAPES.of(value)}
        if type(value) is types.GeneratorType:
            return {"c": ["builtins.generator"], **shape}
        if kind is None:
            return description_of(value) | shape
        generates = {"g": True} if inspect.isgeneratorfunction(value) else {}
        return {"c": [f"builtins.{kind.__name__}"], "p": parameters_of(value), **generates, **shape}

    def place_of(self, peer: Peer, value: Any) -> tuple[Any, ...] | None:
        known = self._handed_over if peer is self._talks_to else None
        return known.place_of(value) if known else None

    def own_at(self, place: Any, value: Any) -> Any:
        return value

    def before_asking(self, peer: Peer) -> None:
        """Tell the notebook's process what the test has emptied; where both are one it is told anyway."""
        if peer is self._talks_to and not peer.mirror:
            self.emptied.tell(peer.ask)

    def perform(self, operation: str, target: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
        """Call a function that the test has handed over; of its other objects, look only at what they show."""
        kind = type(target)
        # An exception of the test's says what was expected: it is known again when it comes back, and no more.
        shut = isinstance(target, type | types.FunctionType | BaseException)
        own = kind.__module__.partition(".")[0] in _OWN_CLASSES and not shut
        if operation in {"str", "repr"}:
            if own and shows_all(target) and says_itself(kind, operation):
                return OPERATIONS[operation](target)
            self.met = self.valued = True
            return f"<{kind.__name__} of the test, {self._number(target)}>"
        if operation == "call" and callable(target):
            # A number of the student's own class would be asked what comes of an operation with the test's numbers.
            return target(*map(_read, arguments), **{name: _read(value) for name, value in options.items()})
        if operation == "bool" and callable(target) and not own:
            return True
        if operation in {"eq", "ne"} and not own:
            self.met = self.valued = True
            return (arguments[0] is target) == (operation == "eq")
        if operation == "getattr" and callable(target) and not own:
            self.met = self.valued = True
            if type(arguments[0]) is str and arguments[0] in _OF_FUNCTIONS:
                return None if arguments[0] == "__doc__" else f"{kind.__name__}_{self._number(target)}"
        if operation == "getattr" and own and len(arguments) == 1:
            name = arguments[0]
            if type(name) is str and not name.startswith("_"):
                return getattr(target, name)
        elif operation in (_OF_OWN if own else _TO_ITERATE) and (own or _iterates(target)):
            return OPERATIONS[operation](target, *map(_read, arguments))
        self.met = self.valued = True
        missing = AttributeError if operation.endswith("attr") else TypeError  # as of what has no such operator
        raise missing(f"a {kind.__name__} of the test has no {_shown(operation, arguments)} here")

    def _number(self, target: Any) -> int:
        """Return what tells an object of the test's from others, as its text does in one process."""
        return self._talks_to.keep(target) if self._talks_to else 0

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
        self.changes_heard.share(value)

    def forget_changes(self, value: Any) -> None:
        """Begin to watch this value, and what it contains."""
        self.changes_heard.begin_to_watch(value)

    def was_changed(self, value: Any) -> bool:
        """Whether the student's code has since changed its copy of this value, or of what it contains."""
        return self.changes_heard.was_changed(value)

    def now(self, value: Any) -> Any:
        """Return a value with what came of earlier questions as it is now, anew; itself where nothing has run since."""
        return self.changes_heard.now(value)

    def common(self, one: Any, other: Any) -> bool:
        """Whether the student's own of what came has an object or memory in common with that of the other value."""
        return self.changes_heard.common(one, other)

    def _random_source(self, kind: str, source: Any, state: Any, encode: Callable[[Any], Any]) -> dict[str, Any]:
        """The state goes along if it is not the one that went last: else the student's goes on from where it is."""
        number, _, last = self._random.get(id(source), (len(self._random) + 1, source, None))
        self._random[id(source)] = (number, source, state)
        return {"t": "random", "c": kind, "n": number, "s": None if _same(state, last) else encode(state)}


def _read(value: Any) -> Any:
    """Return what a proxy's object holds; a tensor stays one whose graph can be followed."""
    return plain(value) if is_object(value) else value


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
