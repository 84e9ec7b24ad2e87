"""An object of the student's in an f-string: as its class says, which is told a width and the like, and no value."""

from __future__ import annotations

import re

from autograder.boundary.handles import StandIn, ask, believe, class_name, exact, peer_of, refusal

__all__ = ["formatted"]

_FORMAT = re.compile(r"([^\d\s]?[<>=^])?[-+ ]?#?0?\d{0,2}[,_]?(\.\d)?[a-zA-Z%]?")
"""Specifications as Python's own classes have them, which tell nothing of what is expected."""


def formatted(proxy: StandIn, spec: str) -> str:
    """Return an object that holds no value as text, as its class says or as Python does."""
    if "__format__" in type(proxy)._boundary_own:
        if not (_FORMAT.fullmatch(spec) or peer_of(proxy).operators):
            raise refusal(proxy, f"{class_name(proxy)} would be told what is no format")
        believe(proxy, "__format__")
        return str(exact(ask(proxy, "format", spec), str, "format"))
    if spec:
        raise TypeError(f"unsupported format string passed to {class_name(proxy)}.__format__")
    return str(proxy)
