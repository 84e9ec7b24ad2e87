"""All honest oddities by name."""

from tests.redteam.redlab import Oddity

__all__ = ["ODDITIES"]

ODDITIES: dict[str, Oddity] = {"plain": Oddity(says="Nothing unusual.")}
