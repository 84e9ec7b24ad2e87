"""What a rank's answer is, and what a launch raises whose ranks fail or do not end."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from typing import Any

from autograder.boundary.frames import Unanswered
from autograder.boundary.handles import plain_all
from autograder.boundary.network import Network
from labkit._launch.errors import Hung, blame, reported
from labkit._launch.rank import Report

__all__ = ["failure", "whole"]

_OTHERS_S = 0.25
"""How long after one rank has failed others may fail in the same way."""


class _NoValueError(TypeError):
    """A rank returned what cannot be sent."""


def whole(value: Any) -> Any:
    """Return a rank's answer as plain values. Raises TypeError for one that holds none."""
    try:
        return plain_all(value)
    except TypeError as error:
        raise _NoValueError(str(error)) from error


def failure(
    errors: Callable[[], dict[int, BaseException]], ranks: int, network: Network, timeout_s: float
) -> Exception:
    """Return what `launch` raises where ranks fail, or do not end.

    errors: returns those by which ranks have ended so far, by the rank's number. ranks: how many ranks there are.
    """
    stuck, waits, done = network.stuck, network.waits(), network.done()
    if errors():
        time.sleep(_OTHERS_S)
        return blame([reported(number, _report(error)) for number, error in errors().items()], ranks)
    running = {number: "" for number in range(ranks) if number not in done}
    return Hung(running, waits, done, None if stuck else timeout_s).error(ranks)


def _report(error: BaseException) -> Report:
    """Return what a rank says of an exception by which it ends."""
    name = type(error).__name__
    if isinstance(error, _NoValueError):
        return Report(error="PicklingError", message=str(error))
    if isinstance(error, Unanswered):
        return Report(error=name, message=f"{name}: {error}")
    line = getattr(error, "notebook_line", "")
    return Report(error=name, message="".join(traceback.format_exception_only(error)).strip(), traceback=line)
