"""Counts what code asks for: of a device, a source, links, a multiplier, memory; no clock is involved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit._arithmetic import irfft2, multiplications, rfft2, workspace
from labkit._collective import collective
from labkit._held import Kept, alive
from labkit._read_ahead import read_ahead
from labkit._stand_in import Numbers

__all__ = [
    "STAND_IN",
    "Kept",
    "alive",
    "collective",
    "computed",
    "irfft2",
    "multiplications",
    "operations",
    "read_ahead",
    "rfft2",
    "workspace",
]

STAND_IN = "meta"
"""PyTorch's device whose tensors have shapes but no numbers: for counting it is as good as a GPU."""

_FREE = {"detach", "lift_fresh", "alias", "_record_function_enter_new", "_record_function_exit"}
_READS = {"_local_scalar_dense", "nonzero", "is_nonzero", "equal"}


def operations(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> dict[str, int]:
    """Run fn(*args, **kwargs) once and return how often it did what costs time on a GPU:

    launches: operators that start a kernel; views and bookkeeping do not.
    transfers, bytes moved: copies from one device to another, index tensors included.
    synchronisations: numbers read from a device other than the CPU (`item`, `bool`, `tolist`, `cpu`); each waits for
    all that was launched before.
    bytes allocated: results that are new memory.
    largest saved: bytes of the largest tensor that was kept for a backward pass.

    On the device `STAND_IN` every number that is read is 0. What fn raises is raised. Adding in place to a tensor that
    is on the CPU raises RuntimeError, as on a GPU.
    """
    return _run(None, fn, *args, **kwargs)[1]


def computed(fn: Callable[..., Any], model: Any, *args: Any, start: Any, **kwargs: Any) -> dict[str, Any]:
    """Run fn(model, *args, **kwargs) as `operations` does, and compute the numbers that the stand-in does not have:

    counts: what `operations` returns. returned: what fn returned. parameters: those of the model, afterwards. So counts
    and results are of the same run. Both hold tensors on the CPU in the place of those on the stand-in.

    model: on the stand-in. start: a model like it on the CPU, with whose parameters and buffers it starts.
    """
    numbers = Numbers()
    for own, first in zip(_state(model), _state(start), strict=True):
        numbers.of(own).copy_(first.detach())
    returned, counts = _run(numbers, fn, model, *args, **kwargs)
    parameters = [numbers.of(parameter).clone() for parameter in model.parameters()]
    return {"counts": counts, "returned": numbers.real(returned), "parameters": parameters}


def _state(model: Any) -> list[Any]:
    return [*model.parameters(), *model.buffers()]


def _run(numbers: Numbers | None, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, dict[str, int]]:
    """Return what fn returns, and the counts."""
    import torch

    mode = _counting(numbers)
    saved = [0]

    def keep(tensor: Any) -> Any:
        saved[0] = max(saved[0], _size(tensor))
        return tensor

    from_data = _from_data(mode.counts, numbers)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor), mode, from_data:
        returned = fn(*args, **kwargs)
    return returned, {**mode.counts, "largest saved": saved[0]}


def _counting(numbers: Numbers | None) -> Any:
    """Return a context in which every operator of PyTorch is counted, and run again with numbers if there are any."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):  # type: ignore[no-untyped-call]
        def __init__(self) -> None:
            super().__init__()  # type: ignore[no-untyped-call]
            names = ("launches", "transfers", "bytes moved", "synchronisations", "bytes allocated")
            self.counts = dict.fromkeys(names, 0)

        def __torch_dispatch__(
            self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
        ) -> Any:
            kwargs = kwargs or {}
            with self:  # inference mode hands over operators that are made of others: count those
                result = func.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
            name = func.overloadpacket.__name__
            given = _tensors((args, kwargs))
            for step in (_read, _moved):
                if (found := step(func, args, kwargs, numbers, self.counts)) is not NotImplemented:
                    return found
            _same_device(name, given)
            result = func(*args, **kwargs)
            if numbers and any(tensor.is_meta for tensor in (*given, *_tensors(result))):
                numbers.run(func, args, kwargs, result)
            if name not in _FREE | _READS and not func.is_view:
                self.counts["launches"] += 1
                known = set(map(id, given))
                new = [tensor for tensor in _tensors(result) if id(tensor) not in known]
                self.counts["bytes allocated"] += sum(map(_size, new))
            return result

    return Mode()


def _read(func: Any, args: Any, kwargs: Any, numbers: Numbers | None, counts: dict[str, int]) -> Any:
    """Count a question for numbers on a device; return the answer where the tensor has none, else NotImplemented."""
    import torch

    name, given = func.overloadpacket.__name__, _tensors((args, kwargs))
    if name in _READS and any(tensor.device.type != "cpu" for tensor in given):
        counts["synchronisations"] += 1
        if name == "_local_scalar_dense" and given[0].is_meta:
            return (numbers.of(given[0]) if numbers else torch.zeros((), dtype=given[0].dtype)).item()
        if name == "equal" and numbers:
            return func(*numbers.real(args))
    return NotImplemented


def _moved(func: Any, args: Any, kwargs: Any, numbers: Numbers | None, counts: dict[str, int]) -> Any:
    """Count what crosses between devices; return the copy where there are no numbers to copy, else NotImplemented."""
    import torch

    name = func.overloadpacket.__name__
    for tensor, back in _crossing(name, args, kwargs):
        counts["transfers"] += 1
        counts["bytes moved"] += _size(tensor)
        counts["synchronisations"] += back
        if back and tensor.is_meta and numbers:
            return func(*numbers.real(args), **kwargs)
        if back and tensor.is_meta:
            return args[0] if name == "copy_" else torch.zeros(tensor.shape, dtype=kwargs.get("dtype"))
    return NotImplemented


def _same_device(name: str, given: list[Any]) -> None:
    """Raise what a GPU raises where a tensor on the CPU is changed in place by one on the device; meta lets it pass."""
    if name.endswith("_") and name != "copy_" and given and given[0].device.type == "cpu":
        for tensor in given:
            if tensor.device.type != "cpu":
                found = f"found at least two devices, {tensor.device} and cpu!"
                raise RuntimeError(f"Expected all tensors to be on the same device, but {found}")


def _from_data(counts: dict[str, int], numbers: Numbers | None) -> Any:
    """Return a context that counts tensors made on the stand-in from lists: elsewhere they are copied from the CPU."""
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import _disable_current_modes

    class Mode(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
        ) -> Any:
            result = func(*args, **(kwargs or {}))
            if func in {torch.tensor, torch.as_tensor} and result.is_meta and not _tensors((args, kwargs)):
                counts["transfers"] += 1
                counts["bytes moved"] += _size(result)
                if numbers:
                    with _disable_current_modes():
                        numbers.keep(result, func(*args, **(kwargs or {}) | {"device": "cpu"}))
            return result

    return Mode()


def _crossing(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[Any, bool]]:
    """Return the tensors that an operator carries to another device, each with whether that is the CPU."""
    if name in {"_to_copy", "copy_"}:
        source = args[1] if name == "copy_" else args[0]
        target = str(args[0].device if name == "copy_" else kwargs.get("device") or source.device).partition(":")[0]
        return [(source, target == "cpu")] if target != source.device.type else []
    if name in {"index", "index_put", "index_put_", "_index_put_impl_"} and args[0].device.type != "cpu":
        return [(index, False) for index in _tensors(args[1]) if index.device.type == "cpu"]
    return []


def _tensors(values: Any) -> list[Any]:
    """Return all tensors in nested lists, tuples and dictionaries."""
    import torch
    from torch.utils._pytree import tree_leaves

    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def _size(tensor: Any) -> int:
    return int(tensor.numel() * tensor.element_size())
