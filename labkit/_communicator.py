"""Messages between two ranks of a launch, counted: what collectives are built from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from labkit._launch.waiting import EXCHANGE, RECEIVE, SEND, Waits

__all__ = ["Communicator"]

_DTYPES = (
    *("float16", "float32", "float64", "complex64", "complex128"),
    *("bool", "uint8", "int8", "int16", "int32", "int64"),
)
_MOST_AXES = 6


class Communicator:
    """One rank's end of its messages to the others, to be made inside a function that `launch` runs.

    A message is one NumPy array. `send` returns when the other rank has begun to receive, not before: if two ranks send
    to each other first, neither goes on; `launch` notices, ends them and says who waits for whom.

    rank, size: this rank's number, and how many there are. messages, bytes: what this rank has sent. steps: how often
    it has communicated; an `exchange` is one step.
    """

    def __init__(self) -> None:
        from torch import distributed as dist

        if not dist.is_initialized():
            raise RuntimeError("Communicator: there are no other ranks here\nhint: make it inside what launch runs")
        self._dist = dist
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.messages = self.bytes = self.steps = 0
        self._waits = Waits(Path(os.environ["LABKIT_LAUNCH"]), self.rank)

    def send(self, array: np.ndarray, to: int) -> None:
        """Send an array to another rank; return when it is being received."""
        self.steps += 1
        for work in self._start(array, to):
            self._wait(work, SEND, to)

    def recv(self, source: int) -> np.ndarray:
        """Return the next array that `source` sends to this rank."""
        self.steps += 1
        return self._receive(source, RECEIVE)

    def exchange(self, array: np.ndarray, to: int, source: int) -> np.ndarray:
        """Send an array to `to` and return the one that comes from `source`, both at once: one step."""
        self.steps += 1
        started = self._start(array, to)
        received = self._receive(source, EXCHANGE, to)
        for work in started:
            self._wait(work, SEND, to)
        return received

    def counts(self) -> dict[str, int]:
        """Return what this rank has sent so far: messages, bytes and steps."""
        return {"messages": self.messages, "bytes": self.bytes, "steps": self.steps}

    def _start(self, array: np.ndarray, to: int) -> list[Any]:
        """Begin to send; return what has to be waited for. First goes the form, then, if there is any, the content."""
        import torch

        if array is None:
            raise TypeError("Communicator: cannot send None\nhint: receive first, then send what came")
        array = np.ascontiguousarray(array) if np.ndim(array) else np.array(array)
        self._expect_other(to)
        if array.dtype.name not in _DTYPES or array.ndim > _MOST_AXES:
            shown = f"{array.ndim} axes of {array.dtype}"
            raise TypeError(f"Communicator: cannot send {shown}\nhint: up to {_MOST_AXES} axes of numbers")
        unused = [-1] * (_MOST_AXES - array.ndim)
        form = torch.tensor([_DTYPES.index(array.dtype.name), array.ndim, *array.shape, *unused])
        self.messages += 1
        self.bytes += array.nbytes
        parts = [form]
        if array.nbytes:
            parts.append(torch.from_numpy(array.reshape(-1).view(np.uint8).copy()))
        return [self._dist.isend(part, to) for part in parts]

    def _receive(self, source: int, what: str, to: int = -1) -> np.ndarray:
        import torch

        self._expect_other(source)
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

    def _expect_other(self, other: int) -> None:
        if not 0 <= other < self.size or other == self.rank:
            raise ValueError(
                f"Communicator: rank {self.rank} of {self.size} cannot talk to rank {other}\n"
                "hint: another rank's number, from 0 to size - 1; use % size"
            )
