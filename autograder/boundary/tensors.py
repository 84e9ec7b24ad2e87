"""Tensors of torch and tensorflow on their way between the two processes: their numbers, dtype and shape.

A torch tensor that requires gradients does not travel out of the student's process: its graph could not. One that goes
into it arrives as a leaf that collects gradients there; `Leaves` brings these back.

No framework is imported to send something; to receive a tensor its framework must be there.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

__all__ = ["Leaves", "is_parameter", "numbers_of", "read", "read_constant", "travels", "write"]

_DTYPE = re.compile(r"(b?float|u?int|complex)\d{1,3}(_[a-z0-9]{1,12})?|bool")


def travels(value: Any) -> bool:
    """Whether this is a tensor, dtype, device or size of a loaded framework that goes by value."""
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "Tensor"):
        kind = type(value)
        if kind is torch.Tensor:
            if _is_wrapped(torch, value):
                return False
            return value.layout is torch.strided and not (value.is_meta or value.is_quantized or value.is_nested)
        if kind in {torch.dtype, torch.device, torch.Size}:
            return True
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and hasattr(tensorflow, "Tensor"):
        if isinstance(value, tensorflow.dtypes.DType):
            return True
        return isinstance(value, tensorflow.Tensor) and hasattr(value, "numpy") and _dtype_is_plain(value)
    return False


def _is_wrapped(torch: Any, tensor: Any) -> bool:
    """Whether a transform of torch.func has made this of a tensor: it has no memory of its own."""
    is_wrapped = getattr(getattr(torch._C, "_functorch", None), "is_functorch_wrapped_tensor", None)
    return is_wrapped is not None and bool(is_wrapped(tensor))


@contextlib.contextmanager
def numbers_of(torch: Any, tensor: Any) -> Iterator[tuple[Any, bool]]:
    """Give the numbers of a tensor, and whether a transform of torch.func (grad, vmap) has its graph.

    Of a batch those of the first example: within `vmap` nothing may depend on them. Of a batch of batches no numbers
    are known, and it stays what has none.
    """
    with torch._C.DisableTorchFunctionSubclass():  # a subclass may change what these mean
        if not _is_wrapped(torch, tensor):
            yield tensor.detach().as_subclass(torch.Tensor), False
            return
        within, inner, batches = torch._C._functorch, tensor, list[int]()
        with torch._C._DisableFuncTorch():
            while within.is_functorch_wrapped_tensor(inner):
                batches += [within.maybe_get_bdim(inner)] if within.is_batchedtensor(inner) else []
                inner = within.get_unwrapped(inner)
            numbers = inner.detach()
            yield (numbers.select(batches[0], 0) if len(batches) == 1 else numbers if not batches else tensor), True


def is_parameter(value: Any) -> bool:
    """Whether this is a parameter of a torch module."""
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "nn") and type(value) is torch.nn.Parameter


def _dtype_is_plain(tensor: Any) -> bool:
    return bool(_DTYPE.fullmatch(tensor.dtype.name))


def write(value: Any, put: Callable[[bytes], list[int]]) -> dict[str, Any]:
    """Return the JSON of a value that travels; its bytes are handed to put."""
    torch = sys.modules.get("torch")
    if torch is not None:
        kind = type(value)
        if kind is torch.dtype:
            return {"t": "framework", "k": "torch", "n": "dtype", "v": str(value).removeprefix("torch.")}
        if kind is torch.device:
            return {"t": "framework", "k": "torch", "n": "device", "v": str(value)}
        if kind is torch.Size:
            return {"t": "framework", "k": "torch", "n": "size", "v": list(value)}
        if kind is torch.Tensor or is_parameter(value):
            return _write_torch(torch, value, put)
    if hasattr(value, "as_numpy_dtype"):
        return {"t": "framework", "k": "tensorflow", "n": "dtype", "v": value.name}
    array = value.numpy()
    return {
        "t": "tensor",
        "k": "tensorflow",
        "d": value.dtype.name,
        "s": list(array.shape),
        "b": put(array.tobytes()),
    }


def _write_torch(torch: Any, tensor: Any, put: Callable[[bytes], list[int]]) -> dict[str, Any]:
    flat = tensor.detach().resolve_conj().resolve_neg().cpu().reshape(-1).contiguous()
    data = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    return {
        "t": "tensor",
        "k": "torch",
        "d": str(tensor.dtype).removeprefix("torch."),
        "s": list(tensor.shape),
        "b": put(data),
    }


def read(value: dict[str, Any], shape: tuple[int, ...], data: bytes) -> Any:
    """Return the tensor for the JSON that `write` made; ValueError or the like if it is malformed."""
    framework = _framework(value["k"])
    name = value["d"]
    if not isinstance(name, str) or not _DTYPE.fullmatch(name):
        raise ValueError("invalid dtype")
    if value["k"] == "torch":
        dtype = getattr(framework, name)
        flat = framework.frombuffer(bytearray(data), dtype=dtype) if data else framework.empty(0, dtype=dtype)
        return flat.reshape(shape)
    dtype = framework.dtypes.as_dtype(name)
    return framework.constant(np.frombuffer(data, dtype.as_numpy_dtype).reshape(shape), dtype=dtype)


def read_constant(value: dict[str, Any]) -> Any:
    """Return the dtype, device or size for the JSON that `write` made."""
    framework, name, content = _framework(value["k"]), value["n"], value["v"]
    if name == "size":
        return framework.Size(content)
    if not isinstance(content, str) or len(content) > 40:
        raise ValueError("invalid name")
    if name == "device":
        return framework.device(content)
    if not _DTYPE.fullmatch(content):
        raise ValueError("invalid dtype")
    return getattr(framework, content) if value["k"] == "torch" else framework.dtypes.as_dtype(content)


def _framework(name: Any) -> Any:
    if name not in ("torch", "tensorflow"):
        raise ValueError("a framework that is not known")
    return importlib.import_module(name)


class Leaves:
    """Tensors that were sent to collect gradients, as each end knows them by number.

    The sender of a leaf numbers it; the receiver keeps one tensor for each number, and reports the gradients that are
    new since it last did.
    """

    def __init__(self) -> None:
        self._tensors: dict[int, Any] = {}
        self._reported: dict[int, tuple[int, int] | None] = {}

    def number(self, tensor: Any) -> int:
        """Return the number of a tensor of this end."""
        for number, known in self._tensors.items():
            if known is tensor:
                return number
        number = len(self._tensors) + 1
        self._tensors[number] = tensor
        return number

    def keep(self, number: int, tensor: Any) -> Any:
        """Return the one tensor of this number at the receiving end, with the values of the one that came now."""
        known = self._tensors.setdefault(number, tensor)
        if known is not tensor:
            if known.shape != tensor.shape or known.dtype != tensor.dtype:
                self._tensors[number] = known = tensor
            else:
                known.data.copy_(tensor.detach())
        return known

    def gradients(self) -> dict[str, Any]:
        """Return the gradients that changed, by number."""
        found = {}
        for number, tensor in self._tensors.items():
            gradient = tensor.grad
            state = None if gradient is None else (gradient.data_ptr(), gradient._version)
            if state != self._reported.get(number):
                self._reported[number] = state
                found[str(number)] = None if gradient is None else gradient.detach()
        return found

    def adopt(self, gradients: dict[str, Any]) -> None:
        """Set the gradients that came on the tensors of this end; what fits none is ignored."""
        for number, gradient in gradients.items():
            tensor = self._tensors.get(int(number)) if number.isdecimal() else None
            if tensor is not None and (gradient is None or getattr(gradient, "shape", None) == tensor.shape):
                tensor.grad = gradient
