"""A precision that the student's code has set for its whole process, which in a notebook holds for the tests as well.

Decimal's number of digits, PyTorch's default type. A test takes them over only where they are finer than its own: then
what it expects is computed as in a notebook, and nothing is compared more coarsely.
"""

from __future__ import annotations

import contextlib
import decimal
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = ["as_there", "settings"]

_CONCERNED = re.compile(r"decimal|Decimal|torch")
_MOST_DIGITS = 1_000
_FINER = "torch.float64"


def settings() -> list[Any]:
    """Return what holds in this process: decimal's digits, and PyTorch's default type, "" if it is not loaded."""
    torch = sys.modules.get("torch")
    return [decimal.getcontext().prec, str(torch.get_default_dtype()) if torch is not None else ""]


@contextlib.contextmanager
def as_there(ask: Callable[[str], Any], sources: Iterable[str]) -> Iterator[None]:
    """While a test runs whose text, or its locked cells', concerns them, let the student's settings hold here, too."""
    found = ask("settings") if any(map(_CONCERNED.search, sources)) else None
    digits, default = found if type(found) is list and len(found) == len(settings()) else (0, "")
    torch = sys.modules.get("torch") if default == _FINER else None
    before = torch.get_default_dtype() if torch is not None else None
    with decimal.localcontext() as context:
        if type(digits) is int:
            context.prec = min(max(context.prec, digits), _MOST_DIGITS)
        if torch is not None:
            torch.set_default_dtype(torch.float64)
        try:
            yield
        finally:
            if torch is not None:
                torch.set_default_dtype(before)
