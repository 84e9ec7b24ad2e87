"""The small library that every lab imports: devices, data, timing, plots, ranks, checks and result cards."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labkit import check, count, plot
    from labkit._background import Background, background
    from labkit._card import Card, result_card
    from labkit._communicator import Communicator
    from labkit._data import load
    from labkit._device import device, scale, seed_everything
    from labkit._launch.errors import RankError
    from labkit._launch.fresh_process import ProcessError, in_fresh_process
    from labkit._launch.launcher import launch
    from labkit._launch.torchrun_agents import torchrun
    from labkit._recorded import recorded
    from labkit._timing import bench, compare

__all__ = [
    "Background",
    "Card",
    "Communicator",
    "ProcessError",
    "RankError",
    "background",
    "bench",
    "check",
    "compare",
    "count",
    "device",
    "in_fresh_process",
    "launch",
    "load",
    "plot",
    "recorded",
    "result_card",
    "scale",
    "seed_everything",
    "torchrun",
]

# Loaded on first use: `import labkit` stays under 0.2 s and loads no framework.
_HOME = {
    "Background": "labkit._background",
    "Card": "labkit._card",
    "Communicator": "labkit._communicator",
    "ProcessError": "labkit._launch.fresh_process",
    "RankError": "labkit._launch.errors",
    "background": "labkit._background",
    "bench": "labkit._timing",
    "compare": "labkit._timing",
    "device": "labkit._device",
    "in_fresh_process": "labkit._launch.fresh_process",
    "launch": "labkit._launch.launcher",
    "load": "labkit._data",
    "recorded": "labkit._recorded",
    "result_card": "labkit._card",
    "scale": "labkit._device",
    "seed_everything": "labkit._device",
    "torchrun": "labkit._launch.torchrun_agents",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in __all__:
        return importlib.import_module(f"labkit.{name}")
    raise AttributeError(f"module 'labkit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


def _in_a_notebook() -> None:
    """See to it that look cells read well: a notebook has no earlier moment than its import of this package."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None:
        from labkit._unfinished import watch

        watch(shell)


_in_a_notebook()
