"""All honest oddities by name; each module holds those of one kind."""

from tests.redteam.oddities import cells, functions, notebooks
from tests.redteam.redlab import Oddity

__all__ = ["FIRST", "ODDITIES"]

_MODULES = (functions, cells, notebooks)
ODDITIES: dict[str, Oddity] = {name: oddity for module in _MODULES for name, oddity in module.ODDITIES.items()}

FIRST = frozenset(name for module in _MODULES for name in list(module.ODDITIES)[::2])
"""Those of every kind that are handed in at each change; the others are handed in before a release."""
