"""What stands for an object of the other process: whatever is done to it is done there."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from autograder.boundary.operations import OPERATIONS, SPECIAL

if TYPE_CHECKING:
    from autograder.boundary.peer import Peer

__all__ = ["Proxy", "class_name", "handle_of", "make", "peer_of", "plain"]

_BY_VALUE = {"numpy.ndarray", "torch.Tensor"}
"""Classes that a stand-in never passes for: who checks for them goes on to read memory."""

_FRAMEWORKS = {"builtins", "collections", "enum", "keras", "numpy", "tensorflow", "torch", "typing"}


class Proxy:
    """Calls, attributes, items and operators are handed on; identity and hash are those of the object itself."""

    __slots__ = (
        "__weakref__",
        "_boundary_class",
        "_boundary_handle",
        "_boundary_name",
        "_boundary_peer",
        "_boundary_tensor",
    )

    def __getattr__(self, name: str) -> Any:
        return _ask(self, "getattr", name)

    def __setattr__(self, name: str, value: Any) -> None:
        _ask(self, "setattr", name, value)

    def __delattr__(self, name: str) -> None:
        _ask(self, "delattr", name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _of(self)[0].ask("call", self, args, kwargs)

    def __hash__(self) -> int:
        return hash((Proxy, _of(self)[1]))

    def __instancecheck__(self, value: Any) -> bool:
        known = getattr(value, "_boundary_origin", None) if isinstance(value, BaseException) else None
        return bool(_of(self)[0].ask("isinstance", self, [_Handle(known) if type(known) is int else value]))

    def __subclasscheck__(self, value: Any) -> bool:
        return bool(_ask(self, "issubclass", value))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = _ask(self, "array")
        if type(array) is not np.ndarray:
            raise TypeError("this object holds no plain numbers")
        return np.array(array, dtype=dtype, copy=copy)

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run a function of torch where the tensors are, so that gradients flow through it."""
        import torch

        name = torch.overrides.resolve_name(function)
        for found in _proxies((args, kwargs or {})):
            module, _, attribute = str(name).partition(".")
            return _of(found)[0].ask("import", None, [module, attribute, *args], kwargs)
        return NotImplemented

    def __enter__(self) -> Any:
        return _ask(self, "enter")

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        plain = error is not None and all(type(value) in {bool, float, int, str} for value in error.args)
        return bool(_ask(self, "exit", kind, error.args if plain else ()))

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The most derived class of a framework that the object has, so that isinstance answers as it would there."""
        return object.__getattribute__(self, "_boundary_class")

    def __dir__(self) -> list[str]:
        return []

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("an object of the tested code cannot be copied or pickled by a test")


class _Handle:
    """An object of the other end of which only the handle is known."""

    def __init__(self, handle: int) -> None:
        self.handle = handle


def make(peer: Peer, handle: int, description: Mapping[str, Any]) -> Proxy:
    """Return the proxy of an object that the other end keeps under this handle."""
    proxy = Proxy.__new__(Proxy)
    object.__setattr__(proxy, "_boundary_peer", peer)
    object.__setattr__(proxy, "_boundary_handle", handle)
    names = description.get("c")
    names = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    object.__setattr__(proxy, "_boundary_name", names[0].rpartition(".")[2] if names else "object")
    object.__setattr__(proxy, "_boundary_class", _known_class(names))
    object.__setattr__(proxy, "_boundary_tensor", description.get("tensor") is True)
    return proxy


def handle_of(value: Any) -> int | None:
    """Return the handle of a proxy; None for everything else."""
    if type(value) is _Handle:
        return value.handle
    return _of(value)[1] if type(value) is Proxy else None


def peer_of(value: Proxy) -> Peer:
    """Return the end that this proxy asks."""
    return _of(value)[0]


def _of(proxy: Proxy) -> tuple[Peer, int]:
    get = object.__getattribute__
    return cast("Peer", get(proxy, "_boundary_peer")), cast("int", get(proxy, "_boundary_handle"))


def _ask(proxy: Proxy, operation: str, *arguments: Any) -> Any:
    return _of(proxy)[0].ask(operation, proxy, arguments)


def class_name(value: Proxy) -> str:
    """Return the name of the object's class."""
    return cast("str", object.__getattribute__(value, "_boundary_name"))


def _known_class(names: list[str]) -> type:
    """Return the first of these classes that a framework of this process defines too; Proxy if none does."""
    for name in names:
        module, _, kind = name.rpartition(".")
        if module.split(".")[0] in _FRAMEWORKS and module in sys.modules and name not in _BY_VALUE:
            found = getattr(sys.modules[module], kind, None)
            if isinstance(found, type) and found is not object:
                return found
    return Proxy


def _proxies(values: Any) -> list[Proxy]:
    if type(values) is Proxy:
        return [values]
    if isinstance(values, dict):
        values = list(values.values())
    if isinstance(values, list | tuple):
        return [proxy for value in values for proxy in _proxies(value)]
    return []


def plain(value: Any) -> Any:
    """Return what a proxy's object holds where that is a plain value, but for tensors, whose graph would be lost."""
    if type(value) is not Proxy or object.__getattribute__(value, "_boundary_tensor"):
        return value
    return _of(value)[0].ask("value", value)


def _method(operation: str) -> Callable[..., Any]:
    def method(self: Proxy, *arguments: Any) -> Any:
        return _ask(self, operation, *arguments)

    return method


def _operator(operation: str) -> Callable[..., Any]:
    """With a value of the test as the other operand, the object's own operator must not make up the result.

    What is a number, a text or an array underneath is reduced to it, and the operation is done here. Any other object
    may answer with an object, never with a value.
    """

    def method(self: Proxy, other: Any, *more: Any) -> Any:
        if not _of(self)[0].trusted or type(other) is Proxy:
            return _ask(self, operation, other, *more)
        own = plain(self)
        if type(own) is not Proxy:
            return OPERATIONS[operation](own, other, *more)
        result = _ask(self, operation, other, *more)
        if type(result) is Proxy:
            return result
        own = _of(self)[0].ask("value", self)
        if type(own) is not Proxy:  # a tensor without a graph
            return OPERATIONS[operation](own, other, *more)
        raise TypeError(f"{class_name(self)} {operation} a value of the test gives a plain value: use a check instead")

    return method


def _comparison(operation: str) -> Callable[..., Any]:
    """A comparison with a value of the test is done here, and an object that holds no value is equal to none."""

    def method(self: Proxy, other: Any) -> Any:
        if not _of(self)[0].trusted or type(other) is Proxy:
            return _ask(self, operation, other)
        own = _of(self)[0].ask("value", self)
        if type(own) is not Proxy:
            return OPERATIONS[operation](own, other)
        if operation in {"eq", "ne"}:
            return operation == "ne"
        raise TypeError(f"{class_name(self)} cannot be compared with a value of the test")

    return method


_EXACT = {"bool": bool, "int": int, "float": float, "complex": complex, "str": str, "repr": str, "len": int}
"""What Python itself demands of these methods; a stand-in must not be able to raise an error of the interpreter."""


def _exact_method(operation: str, kind: type) -> Callable[..., Any]:
    def method(self: Proxy, *arguments: Any) -> Any:
        value = _ask(self, operation, *arguments)
        if type(value) is not kind:
            raise TypeError(f"__{operation}__ returned no {kind.__name__}")
        return value

    return method


def _add_methods() -> None:
    first = SPECIAL.index("lt")
    for name in SPECIAL[:first]:
        setattr(Proxy, f"__{name}__", _operator(name))
        setattr(Proxy, f"__r{name}__", _operator(f"r{name}"))
    for name in SPECIAL[first:]:
        kind = _EXACT.get(name)
        make = _comparison if name in _COMPARISONS else _method
        setattr(Proxy, f"__{name}__", _exact_method(name, kind) if kind else make(name))


_COMPARISONS = {"lt", "le", "eq", "ne", "gt", "ge"}
_add_methods()
