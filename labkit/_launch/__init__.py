"""Ranks from a notebook: a function runs in several processes that torch.distributed connects."""

from __future__ import annotations

from labkit._launch.errors import RankError, RankNotImplementedError
from labkit._launch.run import launch

__all__ = ["RankError", "RankNotImplementedError", "launch"]
