"""What the student's end looks up about values: what they hold, and whether a call has changed them."""

from __future__ import annotations

import array
import collections
import contextlib
import importlib
import random
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["CHANGING", "RANDOM_SOURCES", "changed", "changed_copy", "reduced", "snapshot", "vars_of", "without_graph"]

CHANGING = {
    list, dict, set, array.array, bytearray, collections.Counter, collections.OrderedDict, collections.UserDict,
    collections.UserList, collections.defaultdict, collections.deque,
}  # fmt: skip
"""The classes of plain values with items that can be changed in place."""
_MOST_BYTES = 16 * 2**20
_SCALARS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (bool, bool.__bool__),
    (int, int.__int__),
    (float, float.__float__),
    (complex, complex.__complex__),
    (str, str.__str__),
    (bytes, bytes.__bytes__),
    (Decimal, Decimal),
    (Fraction, lambda value: Fraction(*Fraction.as_integer_ratio(value))),
)
_CONTAINERS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (list, lambda value: list(list.__iter__(value))),
    (tuple, lambda value: tuple(tuple.__iter__(value))),
    (dict, lambda value: dict(dict.items(value))),
    (set, lambda value: set(set.__iter__(value))),
    (frozenset, lambda value: frozenset(frozenset.__iter__(value))),
)


def reduced(value: Any) -> Any:
    """Return a subclass of a built-in type, an array or a tensor as the plain value that it holds; else the value."""
    own = type(value)  # a class may claim to be another
    for kind, read in (*_SCALARS, *_CONTAINERS):
        if issubclass(own, kind):
            return read(value)
    if issubclass(own, np.ndarray):
        return np.asarray(value)
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(own, torch.Tensor):
        with torch._C.DisableTorchFunctionSubclass():  # a subclass may change what this means
            return value.detach().as_subclass(torch.Tensor)
    if hasattr(value, "numpy") and own.__module__.partition(".")[0] in {"keras", "tensorflow"}:
        return np.asarray(value.numpy())
    return value


def vars_of(value: Any) -> dict[str, Any]:
    """Return the attributes that an object has of its own; none of one that has no place for them."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}


def without_graph(module: str, name: str, *args: Any, **kwargs: Any) -> Any:
    """Call a function of torch as within `torch.no_grad()`."""
    import torch

    with torch.no_grad():
        return _named(module, name)(*args, **kwargs)


def changed_copy(module: str, name: str, tensor: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what a function of torch that changes a tensor in place makes of a copy, which belongs to the graph."""
    copied = tensor.clone()
    _named(module, name)(copied, *args, **kwargs)
    return copied


def _named(module: str, name: str) -> Any:
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def snapshot(value: Any, most_bytes: int = _MOST_BYTES) -> Any:
    """Return what `changed` compares a list, dictionary, set, array or tensor with.

    most_bytes: of larger tensors torch's own count of changes is compared, which leaves out those through `.data`.
    """
    value = _content_of(value)
    if isinstance(value, list | collections.deque):
        return list(value)
    if isinstance(value, array.array | bytearray):
        return bytes(value)
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, set):
        return set(value)
    return _bytes(value, most_bytes)


def changed(value: Any, before: Any, most_bytes: int = _MOST_BYTES) -> bool:
    """Whether the value itself, not what it contains, is another than when the snapshot was taken, with this limit."""
    value = _content_of(value)
    if isinstance(value, array.array | bytearray):
        return bool(bytes(value) != before)
    if isinstance(value, list | collections.deque):
        return len(value) != len(before) or any(now is not old for now, old in zip(value, before, strict=True))
    if isinstance(value, dict):
        now = list(value.items())
        return len(now) != len(before) or any(
            a is not c or b is not d for (a, b), (c, d) in zip(now, before, strict=True)
        )
    if isinstance(value, set):
        return len(value) != len(before) or any(item not in before for item in value)
    return bool(_bytes(value, most_bytes) != before)


def _content_of(value: Any) -> Any:
    """Return the list or dictionary in which the library's own classes keep their items; else the value."""
    return value.data if type(value) in {collections.UserList, collections.UserDict} else value


def _bytes(value: Any, most_bytes: int) -> Any:
    if type(value) is np.ndarray:
        return value.shape, value.dtype, value.tobytes()
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(type(value), torch.Tensor):
        with contextlib.suppress(Exception):  # none that lies in memory as it is: sparse, on another device
            if value.numel() * value.element_size() <= most_bytes:
                return value.shape, value.dtype, _content(value)
        with contextlib.suppress(RuntimeError):  # made in inference mode: those are not counted
            return value._version
    return None


def _content(tensor: Any) -> bytes:
    import torch

    with torch._C.DisableTorchFunctionSubclass():
        flat = tensor.detach().resolve_conj().resolve_neg().reshape(-1).contiguous()
        content: bytes = flat.view(torch.uint8).numpy().tobytes()
    return content


def _torch_generator(state: Any) -> Any:
    import torch

    generator = torch.Generator()
    generator.set_state(state)
    return generator


def _numpy_state(bits: Any) -> dict[str, Any]:
    """Return a bit generator's state, and that of the seeds from which it spawns others."""
    state: dict[str, Any] = _copied(bits.state)
    seeds = bits.seed_seq
    if type(seeds) is np.random.SeedSequence and isinstance(seeds.entropy, int | list | tuple):
        entropy = seeds.entropy if isinstance(seeds.entropy, int) else [*map(int, seeds.entropy)]
        state["seeds"] = [entropy, [*map(int, seeds.spawn_key)], seeds.pool_size, seeds.n_children_spawned]
    return state


def _numpy_bits(state: dict[str, Any]) -> Any:
    seeds = None
    if "seeds" in state:
        entropy, key, size, spawned = state["seeds"]
        seeds = np.random.SeedSequence(entropy, spawn_key=key, pool_size=size, n_children_spawned=spawned)
    bits = getattr(np.random, state["bit_generator"])(seeds)
    bits.state = {name: value for name, value in state.items() if name != "seeds"}
    return bits


def _python_random(state: Any) -> random.Random:
    source = random.Random()
    source.setstate(state)
    return source


def _copied(state: Any) -> Any:
    """Return a bit generator's state with its numbers in plain types."""
    if isinstance(state, dict):
        return {key: _copied(value) for key, value in state.items()}
    return state.copy() if isinstance(state, np.ndarray) else state


RANDOM_SOURCES: dict[str, tuple[Callable[[Any], bool], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "numpy.random.Generator": (
        lambda value: type(value) is np.random.Generator,
        lambda source: _numpy_state(source.bit_generator),
        lambda state: np.random.Generator(_numpy_bits(state)),
    ),
    "numpy.random.RandomState": (
        lambda value: type(value) is np.random.RandomState,
        lambda source: _copied(source.get_state(legacy=False)),
        lambda state: np.random.RandomState(_numpy_bits(state)),
    ),
    "random.Random": (
        lambda value: type(value) is random.Random,
        lambda source: source.getstate(),
        _python_random,
    ),
    "torch.Generator": (
        lambda value: "torch" in sys.modules and type(value) is sys.modules["torch"].Generator,
        lambda source: source.get_state(),
        _torch_generator,
    ),
}
"""Sources of random numbers, which go by name and state: how to know one, read its state, and make it from one."""
