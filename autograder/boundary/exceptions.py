"""Exceptions on their way between the two processes: type name, message, and the line of the notebook that raised."""

from __future__ import annotations

import builtins
import contextlib
import linecache
import traceback
from collections.abc import Callable
from typing import Any

from autograder.boundary.frames import WireError
from autograder.boundary.known_errors import attributes_of, known, names_of

__all__ = ["CANNOT_GO", "outside_its_protocol", "rebuild", "report"]

CANNOT_GO = "what was returned cannot go to the test"

_MAX_TEXT = 2000


_ENDS = (GeneratorExit, StopAsyncIteration, StopIteration)
_PLAIN = (str, int, float, bool, type(None))


class _Exit(SystemExit, Exception):
    """SystemExit as it comes from there: whoever waits for it gets it, and whatever expects an error is not left."""


class CannotGo(Exception):
    """What is reported in place of what does not travel: of no kind that a test may ask the student's code for."""


def report(
    error: BaseException, encode: Callable[[Any], Any], keep: Callable[[Any], int], *, discreet: bool = False
) -> dict[str, Any]:
    """Return the JSON for an exception; nothing that its class defines can make this fail.

    discreet: it was raised by a test. Where, and what it says, is not for the code that is tested.
    """
    if isinstance(error, WireError):
        error = CannotGo(f"{CANNOT_GO}: {error}")
    kind = type(error)
    origin = getattr(error, "_boundary_origin", None)
    found: dict[str, Any] = {
        "h": keep(error),
        "type": kind.__name__[:200],
        "module": str(kind.__module__)[:200],
        "bases": [base.__name__ for base in kind.__mro__ if base.__module__ == "builtins"],
        "known": names_of(kind),
        "text": "" if discreet else _text(error),
        "repr": "" if discreet or kind.__repr__ is BaseException.__repr__ else _text(error, repr),
        "line": "" if discreet else _line(error),
        "origin": origin if type(origin) is int else None,
    }
    arguments = error.args
    if not discreet and type(arguments) is tuple:
        with contextlib.suppress(Exception, WireError):  # of a class that defines what it likes, or too large
            found["args"] = [_argument(item, encode) for item in arguments]
        with contextlib.suppress(Exception, WireError):
            found["attributes"] = [[name, encode(value)] for name, value in attributes_of(error).items()]
    if isinstance(error, NameError | AttributeError) and type(error.name) is str:
        found["name"] = error.name[:200]
    if isinstance(error, OSError) and not discreet and type(error.filename) is str:
        found["file"] = error.filename[:_MAX_TEXT]  # which stands in no argument
    return found


def _argument(item: Any, encode: Callable[[Any], Any]) -> Any:
    """Return an argument as the other end gets it: a value as it is, an object that does not travel as its text."""
    if type(item) in _PLAIN:
        return encode(item)
    found = encode(item)
    return encode(_text(item)) if isinstance(found, dict) and found.get("t") in {"mine", "name", "yours"} else found


def _text(error: object, shown_by: Callable[[object], str] = str) -> str:
    try:
        text = shown_by(error)
    except BaseException as other:  # a __str__ that raises
        return f"<its message raises {type(other).__name__}>"
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}..."


def _line(error: BaseException) -> str:
    """Return where in the notebook it was raised, "in softmax, line 3: return z / total"; empty if it was not there."""
    place = ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_globals.get("__name__") == "__main__":
            source = linecache.getline(frame.f_code.co_filename, number).strip()
            place = f"in {frame.f_code.co_name}, line {number}: {source}" if source else ""
    return place[:_MAX_TEXT]


def rebuild(payload: Any, decode: Callable[[Any], Any], kept: Callable[[int], Any]) -> Exception:
    """Return an exception of the matching built-in type, or of one derived from it under the name that was reported.

    An exception that this end raised itself, and that went through the other end, is the same object again.
    """
    if not isinstance(payload, dict):
        raise WireError("invalid exception")
    origin = payload.get("origin")
    if type(origin) is int and isinstance(own := kept(origin), Exception):
        return own
    name, text, line = (str(payload.get(key, ""))[:_MAX_TEXT] for key in ("type", "text", "line"))
    bases = _classes(payload.get("bases"), payload.get("known"))
    arguments = payload.get("args")
    error = None
    values = [decode(item) for item in arguments] if isinstance(arguments, list) else []
    itself = bases[0].__name__ == name and payload.get("module") == "builtins"
    if itself and isinstance(arguments, list):
        file = payload.get("file")
        error = _made(bases[0], [*values, file] if issubclass(bases[0], OSError) and type(file) is str else values)
    if error is None:
        error = _derived(bases, name, str(payload.get("module", "")), text, values)
        _show_as(type(error), payload.get("repr"))
        _set(error, payload.get("attributes"), decode)
    error._boundary_origin = payload.get("h")  # type: ignore[attr-defined]
    error.notebook_line = line  # type: ignore[attr-defined]
    if isinstance(error, NameError | AttributeError):
        error.name = payload.get("name") if isinstance(payload.get("name"), str) else None
    return error


def _classes(bases: Any, listed: Any) -> tuple[type[Exception], ...]:
    """Return the most derived of these classes, built-in or known: NumPy's AxisError is a ValueError and IndexError."""
    named = [getattr(builtins, name, None) for name in bases if type(name) is str] if isinstance(bases, list) else []
    if SystemExit in named:
        return (_Exit,)
    kinds = [kind for kind in named if isinstance(kind, type) and issubclass(kind, Exception)]
    kinds = [kind for kind in dict.fromkeys(kinds + known(listed)) if not issubclass(kind, ExceptionGroup)]
    most = [kind for kind in kinds if not any(other is not kind and issubclass(other, kind) for other in kinds)]
    return tuple(most) or (Exception,)


def _made(kind: type[Exception], arguments: list[Any]) -> Exception | None:
    if issubclass(kind, SyntaxError) and not all(map(_is_place, arguments[1:])):
        return None
    try:
        return kind(*arguments)
    except Exception:  # a constructor that wants others, such as UnicodeDecodeError's
        return None


def _is_place(details: Any) -> bool:
    """Whether this is where a SyntaxError is, as Python shows it: with other values it fails at that."""
    kinds = (str, int, int, str, int, int)
    fits = type(details) is tuple and len(details) in {4, 6}
    return fits and all(value is None or type(value) is kind for value, kind in zip(details, kinds, strict=False))


def _derived(bases: tuple[type[Exception], ...], name: str, module: str, text: str, arguments: list[Any]) -> Exception:
    """Return an exception that shows itself as the reported one does."""
    namespace: dict[str, Any] = {"__str__": lambda self: text, "__init__": lambda self, *args: None}
    namespace |= {"__module__": module, "__repr__": BaseException.__repr__}
    name = name if name.isidentifier() else "Exception"
    try:
        kind: Any = type(name, bases, namespace)
    except TypeError:  # no class can be of both
        kind = type(name, bases[:1], namespace)
    error: Exception = kind.__new__(kind)
    error.args = tuple(arguments)
    for base in (StopIteration, SystemExit):  # of one without a value `yield from` would crash Python itself
        if isinstance(error, base):
            base.__init__(error, *arguments)
    return error


def _show_as(kind: Any, shown: Any) -> None:
    """Have the exceptions of this class shown by this text, where a class of their own says so."""
    if type(shown) is str and shown:
        kind.__repr__ = lambda self: shown[:_MAX_TEXT]


def _set(error: Exception, attributes: Any, decode: Callable[[Any], Any]) -> None:
    """Give an exception of a known class the plain values of its attributes, under names that it does not have."""
    pairs = [each for each in (attributes if isinstance(attributes, list) else ()) if type(each) is list]
    for name, value in (each for each in pairs if len(each) == 2):
        if type(name) is not str or not name.isidentifier() or name[0] == "_":
            continue
        if not any(name in vars(base) for base in type(error).__mro__):
            setattr(error, name, decode(value))


def outside_its_protocol(error: Exception, operation: str) -> Exception:
    """Return RuntimeError for an exception by which Python would end a loop, or a lookup, that is not this one's.

    StopIteration out of a function would end `all(map(f, xs))` as true, AttributeError out of a call within
    `hasattr(...)` would answer it, and so on; PEP 479 does the same for generators.
    """
    if isinstance(error, _ENDS) and operation != "next":
        return RuntimeError(f"{type(error).__name__} was raised outside of an iterator's next")
    return error
