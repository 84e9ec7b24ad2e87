"""A function of the test's in the student's process: a function there, too, which asks the test when it is called.

Whoever asks for its type or its arguments, or copies it, finds what a notebook has, but for its name and the values of
its defaults. What only the test's own would have, its end is told of: then a person is, who grades.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import sys
import types
import weakref
from typing import Any

from autograder.boundary.classes import DEFAULT
from autograder.boundary.handles import FUNCTIONS, StandIn, ask

__all__ = ["miss", "standing_for", "tell_of_attributes"]

_MODULE = "the_test"
"""Where they say that they are from: pickle looks for them there."""
_TOLD: weakref.WeakSet[types.FunctionType] = weakref.WeakSet()
_MOST = 100
"""So many functions are looked at after each call."""
_STAND_INS: weakref.WeakValueDictionary[str, types.FunctionType] = weakref.WeakValueDictionary()


def standing_for(
    proxy: StandIn, number: int, signature: inspect.Signature, *, generates: bool = False
) -> types.FunctionType:
    """Return a function that calls the one of the test's for which the proxy stands.

    number: tells it from others. generates: whether it is a generator function.
    """
    name = f"function_{number}"
    space: dict[str, Any] = {"_boundary_call": functools.partial(_called, proxy), "_boundary_default": DEFAULT}
    exec(_compiled(_text(signature, "yield from" if generates else "return")), space)
    function = space["function"]
    assert isinstance(function, types.FunctionType)
    function.__name__ = function.__qualname__ = name
    function.__module__ = _MODULE
    FUNCTIONS[function] = proxy
    _STAND_INS[name] = function
    sys.modules.setdefault(_MODULE, _Elsewhere(_MODULE))
    return function


@functools.lru_cache(maxsize=1_000)
def _compiled(text: str) -> types.CodeType:
    return compile(text, "<the test>", "exec")


def _text(signature: inspect.Signature, verb: str) -> str:
    """Return a definition with these parameters. verb: what it does with what the test's function gives."""
    shown = str(signature.replace(return_annotation=signature.empty)).replace("=...", "=_boundary_default")
    by_place, more, named = list[str](), "()", list[str]()
    for one in signature.parameters.values():
        if one.kind is one.VAR_POSITIONAL:
            more = one.name
        elif one.kind is one.VAR_KEYWORD:
            named.append(f"**{one.name}")
        elif one.kind is one.KEYWORD_ONLY:
            named.append(f"{one.name!r}: {one.name}")
        else:
            by_place.append(one.name)
    values = f"[{', '.join(by_place)}], {more}, {{{', '.join(named)}}}"
    return f"def function{shown}: {verb} _boundary_call({by_place}, {values})"


def _called(proxy: Any, names: list[str], placed: list[Any], more: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Call the test's function; what stands for a default is left to it, as of whatever is called there."""
    kept = list(itertools.takewhile(lambda value: value is not DEFAULT, placed))
    later = dict(zip(names[len(kept) :], placed[len(kept) :], strict=True)) | named
    return proxy(*kept, *more, **later)


def miss(proxy: StandIn) -> None:
    """Tell the test's end that the student's code has asked for what only the object itself has."""
    with contextlib.suppress(Exception):
        ask(proxy, "missed")


def tell_of_attributes() -> None:
    """Tell it of the functions to which the student's code has given attributes: the test's own have none of them."""
    for function, proxy in [*itertools.islice(FUNCTIONS.items(), _MOST)]:
        if vars(function) and function not in _TOLD:
            _TOLD.add(function)
            miss(proxy)


class _Elsewhere(types.ModuleType):
    """The module in which nothing is found: what is looked for is noted."""

    def __getattr__(self, name: str) -> Any:
        if (function := _STAND_INS.get(name)) is not None and (proxy := FUNCTIONS.get(function)) is not None:
            miss(proxy)
        raise AttributeError(f"{name} lies in the test's process", name=name)
