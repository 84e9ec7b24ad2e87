"""What the labs' GPU cells printed on a machine that had one: for everybody else's notebook."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["recorded"]

_FILE = Path(__file__).with_name("_recorded.json")  # written by `python -m benchmarks.gpu page`


def recorded(lab: str) -> str:
    """Return what the GPU cell of a lab, its folder's name, printed on a GPU, under a line that says on which and when.

    Raises ValueError if nothing was recorded of a lab of this name.
    """
    kept = json.loads(_FILE.read_text(encoding="utf-8"))
    if lab not in kept["labs"]:
        raise ValueError(f"recorded: nothing of a lab named {lab!r}\nhint: one of {', '.join(kept['labs'])}")
    return f"On one {kept['gpu']} this cell printed ({kept['date']}):\n\n{kept['labs'][lab]}"
