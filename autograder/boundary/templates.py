"""Refuses what a text asks of objects by their private names, where a test uses it as a template: `"{p.__init__}"`.

`str.format` follows the attributes that its template names, and a template may be the student's. So may a name that
`getattr` is handed. From an object of the test's such a path leads to the globals of its methods: to all that the test
knows. A path through public attributes of plain objects is what templates are for; the rest is refused here.
"""

from __future__ import annotations

import builtins
import ctypes
import gc
import importlib
import string
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autograder.boundary.frames import Unanswered

__all__ = ["BUILT_IN", "Reached", "guard"]

_CLOSED = (
    types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.FrameType,
    types.CodeType, types.TracebackType, types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType,
    types.CellType, types.MappingProxyType, type, BaseException,
)  # fmt: skip
"""Kinds of which no template may ask anything, nor reach one: all lead to what belongs to nobody's text."""
_OF_ARRAYS = {"T", "dtype", "imag", "ndim", "real", "shape", "size"}
"""What may be asked of NumPy's objects: `base` is the whole of which a test hands over a part."""
_split: Callable[[str], Any] = vars(importlib.import_module("_string"))["formatter_field_name_split"]
"""Cuts a field's name as str.format itself does: what comes first, and the attributes and items after it."""
_watching: list[Callable[[], bool]] = []


class Reached(Unanswered):
    """A text would reach what belongs to the test alone."""

    __module__ = "builtins"


def guard(watching: Callable[[], bool]) -> None:
    """Look at what templates ask for from now on, in all of this process, while `watching` says so."""
    if not _watching:
        _replace("format", lambda text, *args, **options: _formatted(text, args, options))
        _replace("format_map", lambda text, mapping: _formatted(text, None, mapping))
        string.Formatter.get_field = _Careful.get_field  # type: ignore[method-assign, assignment]
    _watching[:] = [watching]


def _on() -> bool:
    return bool(_watching) and _watching[0]()


def _replace(name: str, method: Callable[..., str]) -> None:
    """Put a method of str in another's place: what C code makes can be changed in its table of names alone."""
    table = next(found for found in gc.get_referents(vars(str)) if type(found) is dict)
    method.__name__, method.__qualname__ = name, f"str.{name}"
    method.__doc__ = _ORIGINALS[name].__doc__
    table[name] = method
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(str))


_ORIGINALS = {"format": str.format, "format_map": str.format_map}


def _formatted(text: str, args: tuple[Any, ...] | None, options: Mapping[str, Any]) -> str:
    """Return what str.format would, or, without args, str.format_map."""
    if _on() and any(map(_goes_on, _fields(text))):
        return _Careful(by_name_only=args is None).vformat(text, args or (), options)
    if args is None:
        return _ORIGINALS["format_map"](text, options)
    return _ORIGINALS["format"](text, *args, **options)


def _fields(text: str) -> Iterator[str]:
    """Yield what a template asks for, in the widths and the like of others too; nothing of one that is none."""
    try:
        for _, field, spec, _ in string.Formatter().parse(text):
            if field is not None:
                yield field
                yield from _fields(spec or "")
    except ValueError:
        return


def _goes_on(field: str) -> bool:
    return "." in field or "[" in field


class _Careful(string.Formatter):
    """Formats as str does, but for attributes that are nobody's to ask for."""

    def __init__(self, *, by_name_only: bool = False) -> None:
        self._by_name_only = by_name_only
        self._next = 0
        self._numbers: str | None = None  # who gives them: the template, or the order

    def parse(self, format_string: Any) -> Iterator[Any]:
        """See string.Formatter, which numbers `{}`, but neither `{.x}` nor `{[0]}`."""
        for literal, field, spec, conversion in super().parse(format_string):
            yield literal, field if field is None else self._numbered(field), spec, conversion

    def _numbered(self, field: str) -> str:
        first = _split(field)[0]
        if first != "" and type(first) is not int:
            return field
        if self._by_name_only:
            raise ValueError("Format string contains positional fields")
        who = "order" if first == "" else "template"
        if self._numbers not in {None, who}:
            raise ValueError("cannot switch between automatic and manual numbers of fields")
        self._numbers = who
        self._next += first == ""
        return f"{self._next - 1}{field}" if first == "" else field

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """See string.Formatter."""
        first, rest = _split(field_name)
        found = self.get_value(first, args, kwargs)
        for is_attribute, name in rest:
            found = _attribute(found, str(name)) if is_attribute else found[name]
        return found, first


def _attribute(owner: Any, name: str) -> Any:
    kind, asked = type(owner), f"a template asks for {name[:100]!r}"
    whole = kind.__module__.partition(".")[0] == "numpy"
    if _on() and (name.startswith("_") or issubclass(kind, _CLOSED) or (whole and name not in _OF_ARRAYS)):
        raise Reached(f"{asked} of a {kind.__name__}: not where it may be another's")
    found = getattr(owner, name)
    if _on() and issubclass(type(found), _CLOSED):
        raise Reached(f"{asked}, which is a {type(found).__name__}: not where it may be another's")
    return found


def _getattr(owner: Any, name: str, *default: Any) -> Any:
    """Return what getattr does; a private name has to stand in the text of whoever asks for it."""
    if type(name) is str and name.startswith("_") and _on() and not _says(sys._getframe(1), name):
        raise Reached(f"{name[:100]!r} is asked for by a text: not where it may be another's")
    return getattr(owner, name, *default)


def _says(frame: types.FrameType | None, name: str) -> bool:
    """Whether a name is one of the texts in this code, or in what has called it of the same file."""
    file = frame.f_code.co_filename if frame else ""
    while frame is not None and frame.f_code.co_filename == file:
        for found in frame.f_code.co_consts:
            if name == found or (isinstance(found, tuple | frozenset) and name in found):
                return True
        frame = frame.f_back
    return False


BUILT_IN: dict[str, Any] = {"getattr": _getattr}
"""What tests and functions of locked cells find under these names in place of Python's own."""
assert vars(builtins).keys() >= BUILT_IN.keys()
