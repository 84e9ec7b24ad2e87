"""Functions in other processes: ranks that torch.distributed connects, or one process of its own."""

from __future__ import annotations

from labkit._launch.errors import RankError, RankNotImplementedError
from labkit._launch.fresh_process import ProcessError, in_fresh_process
from labkit._launch.launcher import launch
from labkit._launch.torchrun_agents import torchrun

__all__ = ["ProcessError", "RankError", "RankNotImplementedError", "in_fresh_process", "launch", "torchrun"]
