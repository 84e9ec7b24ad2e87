"""Foresees what a function may import when it runs: behind a wall that looks no path up, nothing can be.

Found in its code, and in that of the functions and classes that it names: import statements, attributes of modules
that import when they are asked for, names of codecs. Of a package of the standard library that it names, all modules.
It is found where the function is, by importing; a rank imports the same by name, before anything of the function is
there.
"""

from __future__ import annotations

import ast
import codecs
import collections
import contextlib
import dis
import functools
import gc
import itertools
import pkgutil
import sys
import types
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from autograder.boundary.parsing import syntax_tree

__all__ = ["Foreseen", "import_named"]

_LONGEST_CODEC = 20
_LARGE = {"idlelib", "lib2to3", "test", "tkinter", "turtledemo"}
_CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque, types.MappingProxyType)
_BY_NAME = {"import_module", "__import__"}
"""Functions that import what a text names."""
_PROGRAM = "__main__"
"""The name of a module that does something when it is imported: unittest's looks for tests in the folder it is in."""
_MOST = 10_000
"""So many objects are looked at."""


def import_named(modules: Iterable[str], names_of_codecs: Iterable[str] = ()) -> None:
    """Import these, but no programs, and look these up. What cannot be is passed over: the function will say so."""
    for name in modules:
        parts = name.split(".")
        if name not in sys.modules and _PROGRAM not in parts and parts[0] not in _LARGE:
            with contextlib.suppress(Exception, SystemExit):
                __import__(name)
    for name in names_of_codecs:
        with contextlib.suppress(Exception):
            codecs.lookup(name)


class Foreseen:
    """What a function may import; it is imported here.

    Attributes:
        modules, codecs: their names.
    """

    def __init__(self, fn: Any) -> None:
        self.modules: set[str] = set()
        self.codecs: set[str] = set()
        seen: dict[int, Any] = {}
        waiting = [fn]
        while waiting and len(seen) < _MOST:
            value = waiting.pop()
            if id(value) not in seen:
                seen[id(value)] = value
                waiting += self._named_by(value)
                self._note(_module_of(value))
                self._note(_package_of(value))

    def read(self, text: str) -> None:
        """Import what a module of the student's imports by its text, within its functions too."""
        self._import(_imported_by(text))

    def _import(self, names: Sequence[str]) -> None:
        import_named(names)
        for name in names:
            self._note(sys.modules.get(name))

    def _note(self, module: Any) -> None:
        """Note a module, and of a package of the standard library all of its."""
        name = _held(module, "__name__") if isinstance(module, types.ModuleType) else None
        if isinstance(name, str) and name not in self.modules:
            self.modules |= {name, *_all_of(module)}

    def _named_by(self, value: Any) -> Iterator[Any]:
        """Import what this one does, and yield what else it may use, but for what libraries use themselves."""
        if isinstance(value, types.FunctionType):
            space = value.__globals__
            for code in _codes(value.__code__):
                for module in [*self._imported(code, space), *(space.get(name) for name in code.co_names)]:
                    yield from self._attributes(module, code, space)
            if _is_own(value):
                yield from (space[name] for code in _codes(value.__code__) for name in code.co_names if name in space)
                yield from [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values(), *_enclosed(value)]
                yield from vars(value).values()
        elif isinstance(value, type):
            yield from vars(value).values() if _is_own(value) else ()
            yield from value.__bases__
        elif isinstance(value, types.ModuleType | types.BuiltinFunctionType):
            return
        else:
            names = ("__func__", "__self__", "__wrapped__", "fget", "fset", "fdel", "func", "args", "keywords")
            yield from (found for name in names if (found := _held(value, name)) is not None)
            yield from [type(value), *(vars(value).values() if _goes_with_all_it_has(value) else ())]
            if isinstance(value, _CONTAINERS) or _is_own(type(value)):  # also by slots
                yield from itertools.islice(gc.get_referents(value), _MOST)

    def _imported(self, code: types.CodeType, space: dict[str, Any]) -> Iterator[Any]:
        """Carry out the import statements of this code; yield their modules, those of names too. Look its codecs up."""
        consts: list[Any] = [0, None]
        if not _BY_NAME.isdisjoint(code.co_names):
            texts = [text for text in code.co_consts if isinstance(text, str)]
            self._import([text for text in texts if text.replace(".", "_").isidentifier()])
        for step in dis.get_instructions(code):
            if step.opname == "IMPORT_NAME":
                with contextlib.suppress(Exception, SystemExit):
                    module = __import__(step.argval, space, None, consts[-1] or (), consts[-2])
                    self._note(sys.modules.get(step.argval))
                    yield from [module, _package_of(module), *(_held(module, name) for name in consts[-1] or ())]
            elif step.opname == "LOAD_CONST":
                consts.append(step.argval)
                if isinstance(step.argval, str) and len(step.argval) <= _LONGEST_CODEC:
                    with contextlib.suppress(Exception):
                        codecs.lookup(step.argval)
                        self.codecs.add(step.argval)

    def _attributes(self, module: Any, code: types.CodeType, space: Mapping[str, Any]) -> Iterator[Any]:
        """Yield what this code may find in a module, and in those that it finds there."""
        names = (*code.co_names, *_parts_of_texts(code, space))
        modules, passed = [module], set()
        while modules:
            module = modules.pop()
            if isinstance(module, types.ModuleType) and id(module) not in passed:
                passed.add(id(module))
                self._note(module)
                found = [_held(module, name) for name in names]
                modules += found
                yield from (one for one in found if isinstance(one, types.FunctionType | type))


def _is_own(value: Any) -> bool:
    """Whether this belongs to no module that is there: a notebook's."""
    return getattr(value, "__module__", None) in {None, "__main__"} or value.__module__ not in sys.modules


def _goes_with_all_it_has(value: Any) -> bool:
    """Whether an object is sent to a rank with its attributes; a logger, for one, goes by its name."""
    kind: Any = type(value)
    plain = kind.__reduce__ is object.__reduce__ and kind.__reduce_ex__ is object.__reduce_ex__
    return hasattr(value, "__dict__") and (plain or _is_own(kind))


def _module_of(value: Any) -> Any:
    """Return a module itself, or that of a function or class."""
    name = _held(value, "__name__" if isinstance(value, types.ModuleType) else "__module__")
    return sys.modules.get(name) if isinstance(name, str) else None


def _package_of(value: Any) -> Any:
    """Return the outermost package of a module, function or class."""
    name = _held(_module_of(value), "__name__")
    return sys.modules.get(name.partition(".")[0]) if isinstance(name, str) else None


def _held(value: Any, name: str) -> Any:
    """Return what a value has under a name, if anything; NumPy warns of some (`bytes`) that only it will have."""
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(value, name, None)
    return None


def _parts_of_texts(code: types.CodeType, space: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names in texts of this code, and in those it names, that may be paths of attributes, "linalg.norm"."""
    for text in (*code.co_consts, *(space.get(name) for name in code.co_names)):
        if isinstance(text, str) and text.replace(".", "_").isidentifier():
            yield from filter(str.isidentifier, text.split("."))


def _enclosed(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # not bound yet
            yield cell.cell_contents


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _codes(const)


@functools.lru_cache(maxsize=200)
def _imported_by(text: str) -> tuple[str, ...]:
    """Return the names of the modules that a text may import, but for those named relatively, which are its own."""
    names: list[str] = []
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        for node in ast.walk(syntax_tree(text)):
            if isinstance(node, ast.Import):
                names += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(dict.fromkeys(names))


@functools.cache  # its folder is read once
def _all_of(package: types.ModuleType) -> frozenset[str]:
    """Import the modules of a package of the standard library, whose own functions import them late; return them."""
    name = package.__name__
    if name not in sys.stdlib_module_names or name in _LARGE:
        return frozenset()
    inside = {one.name for one in pkgutil.iter_modules(getattr(package, "__path__", ()))} - {_PROGRAM}
    found = frozenset(f"{name}.{module}" for module in inside)
    import_named(found)
    return found
