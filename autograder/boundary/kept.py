"""What locked cells have bound, kept in the student's process for tests that run there and use names so bound.

Nothing here withstands code that looks for it: it is for a name that a student's cell has bound anew.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Any

__all__ = ["give_back", "lend"]

_bound: dict[str, Any] = {}
"""What the last locked cell that bound a name has bound."""
_lent: dict[str, Any] = {}
_own: dict[str, Any] = {}
"""What stood for a name before it was lent, if anything did."""


def lend(namespace: MutableMapping[str, Any], names: Sequence[str], unseen: Sequence[str]) -> None:
    """Let these names mean what the locked cells have bound, and of those unseen nothing if none has."""
    _lent.clear()
    _own.clear()
    _lent.update({name: _bound[name] for name in names if name in _bound})
    gone = [name for name in unseen if name not in _bound]
    _own.update({name: namespace[name] for name in [*_lent, *gone] if name in namespace})
    for name in gone:
        namespace.pop(name, None)
    namespace.update(_lent)


def give_back(namespace: MutableMapping[str, Any], names: Sequence[str]) -> None:
    """Keep what these names mean now; those not bound meanwhile mean again what they did to the student's code."""
    _bound.update({name: namespace[name] for name in names if name in namespace})
    for name in names:
        if name in _lent and namespace.get(name) is _lent[name]:
            namespace.pop(name)
        if name in _own and name not in namespace:
            namespace[name] = _own[name]
