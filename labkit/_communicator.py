"""Messages between two ranks of a launch, counted: what collectives are built from."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, SupportsIndex, cast

import numpy as np

from labkit._launch.deadlock import EXCHANGE, RECEIVE, SEND, Waits

__all__ = ["Communicator", "Endpoint"]

_DTYPES = (
    *("float16", "float32", "float64", "complex64", "complex128"),
    *("bool", "uint8", "int8", "int16", "int32", "int64"),
)
_MOST_AXES = 6


Carry = Callable[[np.ndarray | None, int | None, int | None], np.ndarray | None]
"""Carries one step: sends an array to a rank, receives from one, or both at once; None stands for what it does not."""


class Endpoint:
    """One rank's end of its messages to the others, counted.

    A message is one NumPy array. `send` returns when the other rank has begun to receive, not before: if two ranks send
    to each other first, neither goes on; `launch` notices, ends them and says who waits for whom.

    rank, size: this rank's number, and how many there are. messages, bytes: what this rank has sent. steps: how often
    it has communicated; an `exchange` is one step.
    """

    def __init__(self, rank: int, size: int, carry: Carry) -> None:
        self.rank, self.size = rank, size
        self.messages = self.bytes = self.steps = 0
        self._carry = carry

    def send(self, array: np.ndarray, to: int) -> None:
        """Send an array to another rank; return when it is being received."""
        self._step(_message(array), self._other(to), None)

    def recv(self, source: int) -> np.ndarray:
        """Return the next array that `source` sends to this rank."""
        return cast("np.ndarray", self._step(None, None, self._other(source)))

    def exchange(self, array: np.ndarray, to: int, source: int) -> np.ndarray:
        """Send an array to `to` and return the one that comes from `source`, both at once: one step."""
        return cast("np.ndarray", self._step(_message(array), self._other(to), self._other(source)))

    def counts(self) -> dict[str, int]:
        """Return what this rank has sent so far: messages, bytes and steps."""
        return {"messages": self.messages, "bytes": self.bytes, "steps": self.steps}

    def _step(self, array: np.ndarray | None, to: int | None, source: int | None) -> np.ndarray | None:
        self.steps += 1
        if array is not None:
            self.messages += 1
            self.bytes += array.nbytes
        return self._carry(array, to, source)

    def _other(self, rank: object) -> int:
        """Return the number of another rank, which a message goes to or comes from; ValueError if it is none."""
        try:
            number = operator.index(cast("SupportsIndex", rank))
        except TypeError:
            number = -1
        if not 0 <= number < self.size or number == self.rank:
            raise ValueError(
                f"Communicator: rank {self.rank} of {self.size} cannot talk to rank {rank}\n"
                "hint: another rank's number, from 0 to size - 1; use % size"
            )
        return number


class Communicator(Endpoint):
    __doc__ = f"{Endpoint.__doc__}\n    To be made inside a function that `launch` runs.\n    "

    def __init__(self) -> None:
        from torch import distributed as dist

        if not dist.is_initialized():
            raise RuntimeError("Communicator: there are no other ranks here\nhint: make it inside what launch runs")
        self._dist = dist
        super().__init__(dist.get_rank(), dist.get_world_size(), self.carry)
        self._waits = Waits(Path(os.environ["LABKIT_LAUNCH"]), self.rank)

    def carry(self, array: np.ndarray | None, to: int | None, source: int | None) -> np.ndarray | None:
        """See Carry; by torch.distributed. Nothing is counted."""
        started = [] if array is None or to is None else self._start(array, to)
        what, other = (RECEIVE, -1) if to is None else (EXCHANGE, to)
        received = None if source is None else self._receive(source, what, other)
        for work in started:
            self._wait(work, SEND, cast("int", to))
        return received

    def _start(self, array: np.ndarray, to: int) -> list[Any]:
        """Begin to send; return what has to be waited for. First goes the form, then, if there is any, the content."""
        import torch

        unused = [-1] * (_MOST_AXES - array.ndim)
        parts = [torch.tensor([_DTYPES.index(array.dtype.name), array.ndim, *array.shape, *unused])]
        if array.nbytes:
            parts.append(torch.from_numpy(array.reshape(-1).view(np.uint8).copy()))
        return [self._dist.isend(part, to) for part in parts]

    def _receive(self, source: int, what: str, to: int = -1) -> np.ndarray:
        import torch

        form = torch.empty(2 + _MOST_AXES, dtype=torch.int64)
        self._wait(self._dist.irecv(form, source), what, source, to)
        kind, axes, *lengths = form.tolist()
        array = np.empty(lengths[:axes], _DTYPES[kind])
        if array.nbytes:
            content = torch.empty(array.nbytes, dtype=torch.uint8)
            self._wait(self._dist.irecv(content, source), what, source, to)
            array = content.numpy().view(_DTYPES[kind]).reshape(array.shape)
        return array

    def _wait(self, work: Any, what: str, other: int, to: int = -1) -> None:
        with self._waits.noted(what, other, to):
            work.wait()


def _message(array: Any) -> np.ndarray:
    """Return what can be sent of this, in one piece; TypeError for what cannot be sent."""
    if array is None:
        raise TypeError("Communicator: cannot send None\nhint: receive first, then send what came")
    array = np.ascontiguousarray(array) if np.ndim(array) else np.array(array)
    if array.dtype.name not in _DTYPES or array.ndim > _MOST_AXES:
        shown = f"{array.ndim} axes of {array.dtype}"
        raise TypeError(f"Communicator: cannot send {shown}\nhint: up to {_MOST_AXES} axes of numbers")
    return cast("np.ndarray", array)
