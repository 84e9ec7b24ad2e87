"""Which rank or node made a job fail, and what to tell about it."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass

from labkit._cluster.nodes import Node
from labkit._cluster.ssh import explain
from labkit._ranks.messages import LOG, LOST

__all__ = ["Ending", "blame", "consequence"]

_SHOWN_LINES = 20


@dataclass(frozen=True)
class Ending:
    """How a rank failed, or, with rank None, a node. code: an exit code, negative for a signal; None: no connection.

    said: the last lines that were printed.
    """

    node: Node
    rank: int | None
    code: int | None
    said: Sequence[str]


def consequence(ending: Ending) -> bool:
    """Return whether it only noticed that another rank had gone."""
    if ending.code is None or ending.code == -signal.SIGKILL:
        return False
    if ending.code == -signal.SIGTERM:  # by its agent
        return True
    return any(LOST.search(line) for line in ending.said[-_SHOWN_LINES:])


def blame(endings: Sequence[Ending], world_size: int) -> tuple[str, str]:
    """Return what happened, the first cause first, and a hint; there is at least one ending."""
    guilty = next((ending for ending in endings if not consequence(ending)), endings[0])
    said = [line for line in guilty.said if guilty.rank is not None or not LOG.match(line)][-_SHOWN_LINES:]
    notes = [_hint(guilty, said)]
    for other in endings:
        if other is not guilty:
            lost = " lost the connection: a consequence, not the cause" if consequence(other) else f" {_what(other)}"
            notes.append(_who(other, world_size) + lost)
    text = f"{_who(guilty, world_size)} {_what(guilty)}"
    shown = "".join(f"\n  {line}" for line in said)
    return (f"{text}:{shown}" if shown else text), "\n      ".join(note for note in notes if note)


def _who(ending: Ending, world_size: int) -> str:
    return ending.node.name if ending.rank is None else f"{ending.node.name}: rank {ending.rank} of {world_size}"


def _what(ending: Ending) -> str:
    if ending.code is None:
        broken = any(line.startswith("Traceback") for line in ending.said)
        return "could not run its part of the job" if broken else "lost its connection"
    if ending.code >= 0:
        return f"ended with exit code {ending.code}"
    name = next((number.name for number in signal.Signals if number == -ending.code), f"signal {-ending.code}")
    return f"was killed by {name}"


def _hint(ending: Ending, said: Sequence[str]) -> str:
    if ending.code is None:
        stopped = "" if "Traceback" in "".join(said) else "did the machine, its container or its network stop?"
        return explain(ending.node, "\n".join(said)) or stopped
    if ending.code == -signal.SIGKILL:
        return "the system ends the largest process when memory runs out: use fewer ranks or smaller batches"
    return ""
