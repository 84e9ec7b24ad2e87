"""All attacks by name; each module holds those of one kind."""

from tests.redteam.attacks import (
    callbacks,
    errors,
    files,
    huge,
    interpreter,
    kernel,
    leaks,
    library,
    markup,
    memory,
    metadata,
    processes,
    protocol,
    resources,
    rubbish,
    values,
    wire,
)
from tests.redteam.redlab import Attack

__all__ = ["ATTACKS", "FIRST"]

_MODULES = (
    kernel,
    library,
    interpreter,
    memory,
    values,
    huge,
    errors,
    callbacks,
    protocol,
    wire,
    leaks,
    resources,
    processes,
    files,
    metadata,
    markup,
    rubbish,
)
ATTACKS: dict[str, Attack] = {name: attack for module in _MODULES for name, attack in module.ATTACKS.items()}

if sum(len(module.ATTACKS) for module in _MODULES) != len(ATTACKS):
    raise ValueError("two attacks have one name")

FIRST = frozenset(name for module in _MODULES for name in list(module.ATTACKS)[::3])
"""Those of every kind that are tried at each change; the others are tried before a release."""
