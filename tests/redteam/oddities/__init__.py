"""All honest oddities by name; each module holds those of one kind."""

from tests.redteam.oddities import cells, functions, notebooks
from tests.redteam.redlab import Oddity

__all__ = ["ODDITIES"]

ODDITIES: dict[str, Oddity] = {**functions.ODDITIES, **cells.ODDITIES, **notebooks.ODDITIES}
