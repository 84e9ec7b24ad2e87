"""Follows the bytes of tensors over time: those that autograd keeps for a backward pass, and all that live."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

__all__ = ["Kept", "alive"]


class Course:
    """A number of bytes, its largest value, and all its values in order."""

    def __init__(self) -> None:
        self.now = 0
        self.peak = 0
        self.timeline = [0]

    def change(self, size: int) -> None:
        """Add to the bytes."""
        self.now += size
        self.peak = max(self.peak, self.now)
        self.timeline.append(self.now)


class Kept(Course):
    """The bytes of all tensors that autograd keeps while this is open, and their course.

    now, peak: bytes. timeline: bytes after each change, the first entry 0. Memory that several saved tensors share
    counts once, and whole; that of the tensors in `without`, parameters for example, never. What a backward pass keeps
    on its way, a recomputed segment for example, counts too, if it runs while this is open.
    """

    def __init__(self, without: Iterable[Any] = ()) -> None:
        super().__init__()
        self._without = list(without)  # alive, so that no other memory gets their keys
        self._never = {_key(tensor) for tensor in self._without}
        self._users: dict[int, int] = {}
        self._hooks: Any = None

    def __enter__(self) -> Kept:
        import torch

        self._hooks = torch.autograd.graph.saved_tensors_hooks(self._pack, _unpack)
        self._hooks.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._hooks.__exit__(kind, error, traceback)

    def _pack(self, tensor: Any) -> Any:
        key = _key(tensor)
        tensor = tensor.detach()  # itself it would know who computed it, who keeps it: a circle that nobody frees
        if key in self._never:
            return tensor
        self._users[key] = self._users.get(key, 0) + 1
        if self._users[key] == 1:
            self.change(tensor.untyped_storage().nbytes())
        return _Held(tensor, self)

    def let_go(self, tensor: Any) -> None:
        """Note that autograd has dropped a saved tensor."""
        key = _key(tensor)
        self._users[key] -= 1
        if not self._users[key]:
            del self._users[key]
            self.change(-tensor.untyped_storage().nbytes())


class _Held:
    """A saved tensor; autograd drops it when the backward pass has used it."""

    def __init__(self, tensor: Any, meter: Kept) -> None:
        self.tensor, self._meter = tensor, meter

    def __del__(self) -> None:
        self._meter.let_go(self.tensor)


def _unpack(held: Any) -> Any:
    return held.tensor if isinstance(held, _Held) else held


def _key(tensor: Any) -> int:
    """Return a number that is the tensor's memory's own while it lives; on the device "meta" there is no address."""
    return int(tensor.untyped_storage()._cdata)


def alive(fn: Callable[[], Any]) -> Course:
    """Run fn() and return the course of the bytes of all memory that operators allocate and that still lives.

    Gradients and intermediate results count, tensors made before do not. It goes by what PyTorch's operators return,
    also on the device "meta", which allocates nothing.
    """
    from torch.utils._python_dispatch import TorchDispatchMode

    course, seen = Course(), set[int]()

    def gone(key: int, size: int) -> None:
        seen.discard(key)
        course.change(-size)

    class Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            there = {_key(tensor) for tensor in _tensors((args, kwargs))}
            found = func(*args, **(kwargs or {}))
            for tensor in _tensors(found):
                key, storage = _key(tensor), tensor.untyped_storage()
                if key not in seen and key not in there:
                    seen.add(key)
                    course.change(storage.nbytes())
                    weakref.finalize(storage, gone, key, storage.nbytes()).atexit = False
            return found

    with Mode():  # type: ignore[no-untyped-call]
        fn()
    return course


def _tensors(values: Any) -> list[Any]:
    from torch import Tensor
    from torch.utils._pytree import tree_leaves

    return [value for value in tree_leaves(values) if isinstance(value, Tensor)]
