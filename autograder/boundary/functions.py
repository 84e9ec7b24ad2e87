"""A function of the test's in the student's process: a function there, too, which asks the test when it is called.

Whoever asks for its type, its arguments or its name, or copies it, finds what a notebook has, but for the names that
the test has chosen. What only the test's own would have, its end is told of: then a person is, who grades.
"""

from __future__ import annotations

import contextlib
import sys
import types
import weakref
from typing import Any

from autograder.boundary.classes import signature_of
from autograder.boundary.handles import FUNCTIONS, StandIn, ask

__all__ = ["miss", "missed_of", "standing_for"]

_MODULE = "the_test"
"""Where they say that they are from: pickle looks for them there."""
_STAND_INS: weakref.WeakValueDictionary[str, types.FunctionType] = weakref.WeakValueDictionary()


def standing_for(proxy: StandIn, number: int, arity: object) -> types.FunctionType:
    """Return a function that calls the one of the test's for which the proxy stands. number: tells it from others."""
    signature = signature_of(arity)
    named = [name for name, one in signature.parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD]

    def called(*args: Any, **kwargs: Any) -> Any:
        more = []
        for name in named[len(args) :]:
            if name not in kwargs:
                break
            more.append(kwargs.pop(name))  # by the name that its signature tells here
        return proxy(*args, *more, **kwargs)  # type: ignore[operator]

    assert isinstance(called, types.FunctionType)
    function = called
    function.__name__ = function.__qualname__ = f"function_{number}"
    function.__module__, function.__doc__ = _MODULE, None
    vars(function)["__signature__"] = signature
    FUNCTIONS[function] = proxy
    _STAND_INS[function.__name__] = function
    sys.modules.setdefault(_MODULE, _Elsewhere(_MODULE))
    return function


def miss(proxy: StandIn) -> None:
    """Tell the test's end that the student's code has asked for what only the object itself has."""
    with contextlib.suppress(Exception):
        ask(proxy, "missed")


def missed_of() -> None:
    """Tell it of the functions to which the student's code has given attributes: the test's own have none of them."""
    for function, proxy in [*FUNCTIONS.items()]:
        if vars(function).keys() - {"__signature__"}:
            miss(proxy)


class _Elsewhere(types.ModuleType):
    """The module in which nothing is found: what is looked for is noted."""

    def __getattr__(self, name: str) -> Any:
        if (function := _STAND_INS.get(name)) is not None and (proxy := FUNCTIONS.get(function)) is not None:
            miss(proxy)
        raise AttributeError(f"{name} lies in the test's process", name=name)
