"""A tensor of the student's that requires gradients: its numbers lie here, its graph stays in the student's process.

What a test computes with it is computed here, on the numbers that came with it, so nobody who is told what is expected
can make up the result. The same steps are noted, and done again in the student's process when, and only when, the
result goes there: for `loss.backward()`, or as an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from autograder.boundary import student_values as values
from autograder.boundary.frames import WireError
from autograder.boundary.handles import plain_all

if TYPE_CHECKING:
    from autograder.boundary.peer import Peer

__all__ = ["remote_tensor"]

_THERE = {"grad", "grad_fn", "requires_grad", "retains_grad"}
"""What the tensor itself must be asked for."""
_ACTIONS = {"backward", "register_hook", "register_post_accumulate_grad_hook", "retain_grad"}
"""Methods that need the graph itself."""
_GRADIENTS = {"torch.autograd.backward", "torch.autograd.grad"}


@dataclass
class _Link:
    """Where a tensor comes from.

    Attributes:
        handle: under which the student's process keeps it; None for the result of noted steps that were not yet done.
        fresh: a parameter, whose numbers the student's code may change: they are asked for again when it has run.
        turn: how often it had run when the numbers came.
        graph: it requires gradients.
        step: module, name, arguments, options, and which item of the result it is.
    """

    peer: Peer
    handle: int | None
    fresh: bool
    graph: bool
    turn: int = 0
    step: tuple[str, str, tuple[Any, ...], Mapping[str, Any], int | None] | None = None


def remote_tensor(peer: Peer, handle: int, numbers: Any, known: Any, *, leaf: bool, graph: bool) -> Any:
    """Return the tensor for a handle: the one that is known, with these numbers, or a new one."""
    if known is not None and known.adopt(numbers):
        known.boundary.turn = peer.turn
        return known
    return _class().made(numbers, _Link(peer, handle, leaf, graph, peer.turn))


@cache
def _class() -> Any:
    """Return the class of these tensors, which can be made only when torch is imported."""
    import torch

    methods = {"made": classmethod(_made), "adopt": _adopt, "held": _held, "handle": _handle}
    special = {"__torch_function__": classmethod(_torch_function), "__module__": __name__}
    return type("RemoteTensor", (torch.Tensor,), {**methods, **special})


def _untouched() -> Any:
    """Return a context in which the tensor is an ordinary one."""
    import torch

    return torch._C.DisableTorchFunctionSubclass()


# -------------------------------------------------------------------------------------------- methods of RemoteTensor
def _made(kind: Any, numbers: Any, link: _Link) -> Any:
    import torch

    tensor: Any = torch.Tensor._make_subclass(kind, numbers)
    tensor.boundary = link
    return tensor


def _adopt(self: Any, numbers: Any) -> bool:
    """Take the numbers that have come; false if they are of another kind."""
    with _untouched():
        if self.dtype != numbers.dtype:
            return False
        self.data = numbers
    return True


def _held(self: Any) -> Any:
    """Return the numbers, as they are now, as a tensor without a graph."""
    import torch

    link = self.boundary
    if link.fresh and link.handle is not None and link.turn != link.peer.turn:
        numbers = link.peer.ask("value", self)
        if type(numbers) is not torch.Tensor or not self.adopt(numbers):
            raise WireError("a tensor that has become something else")
        link.turn = link.peer.turn
    with _untouched():
        return self.as_subclass(torch.Tensor)


def _handle(self: Any) -> int:
    """Return the handle; the noted steps are done in the student's process if they were not yet."""
    link: _Link = self.boundary
    if link.handle is None:
        assert link.step is not None
        module, name, args, kwargs, item = link.step
        found = link.peer.ask("import", None, [module, name, *args], kwargs)
        found = found[item] if item is not None else found
        if type(found) is not type(self):
            raise WireError("a tensor without its graph")
        link.handle, link.step = found.boundary.handle, None
        assert link.handle is not None
    return link.handle


def _torch_function(
    kind: Any, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
) -> Any:
    import torch
    from torch.overrides import resolve_name

    kwargs = dict(kwargs or {})
    path = resolve_name(function) or f"{function.__module__}.{function.__qualname__}"
    remote = list(_remote(kind, (args, kwargs)))
    done, result = _done_there(kind, path, args, kwargs, remote)
    if done:
        return result
    grows = torch.is_grad_enabled() and any(tensor.boundary.graph for tensor in remote)
    changes = _changes_its_first(path) and bool(args)
    before = _before(kind, args[0]) if changes and type(args[0]) is kind else None
    with torch.no_grad(), _untouched():
        result = function(*plain_all(args), **plain_all(kwargs))
    if changes:
        return _changed(kind, path, args, kwargs, before, grows=grows)
    last = path.rpartition(".")[2]
    step = None if last == "detach" or path == "torch.Tensor.data.__get__" else _replayed(path, _as_it_is(kind, args))
    options = {name: _as_it_is(kind, value) for name, value in kwargs.items()}
    return _grown(kind, result, remote[0].boundary.peer, step, options) if grows and step else result


# ------------------------------------------------------------------------------------------------- changes in place
def _changes_its_first(path: str) -> bool:
    """Whether this function of torch changes its first argument in place: x.sub_(y), x[0] = y, init.zeros_(x)."""
    last = path.rpartition(".")[2]
    if last.startswith("__i") and last.endswith("__") and last not in {"__index__", "__int__", "__invert__"}:
        return True
    return last == "__setitem__" or (last.endswith("_") and not last.endswith("__"))


def _as_it_is(kind: Any, value: Any) -> Any:
    """Return arguments for a noted step: tensors as they are now, whatever is changed in place later."""
    if type(value) in {list, tuple}:
        return type(value)(_as_it_is(kind, item) for item in value)
    if type(value) is kind:
        with _untouched():
            return kind.made(value.as_subclass(_plain_class()), value.boundary)
    return value


def _plain_class() -> Any:
    import torch

    return torch.Tensor


def _before(kind: Any, tensor: Any) -> Any:
    """Return the tensor as it was, for the step that a change in place is noted as."""
    link = tensor.boundary
    return kind.made(tensor.held().clone(), replace(link, fresh=False))


def _changed(
    kind: Any, path: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], before: Any, *, grows: bool
) -> Any:
    """Return the first argument, which was changed here; a parameter is changed in the student's process as well.

    Else nothing is sent: the numbers are those that were computed here, and the change is one more step of the graph.
    """
    target = args[0]
    if before is None:  # a tensor of the test's own: it holds the numbers, and no graph
        return target
    link: _Link = target.boundary
    module, _, name = path.partition(".")
    if link.fresh and link.handle is not None:
        peer = link.peer
        peer.ask("import", None, [values.__name__, "without_graph", module, name, *args], kwargs)
        link.turn = peer.turn  # what was computed here stands until the student's code runs again
        return target
    step = (values.__name__, "changed_copy", (module, name, before, *_as_it_is(kind, args[1:])), kwargs, None)
    target.boundary = _Link(link.peer, None, fresh=False, graph=link.graph or grows, step=step)
    return target


def _remote(kind: type, values: Any) -> Iterator[Any]:
    if type(values) is kind:
        yield values
    elif isinstance(values, list | tuple):
        for value in values:
            yield from _remote(kind, value)
    elif isinstance(values, dict):
        for value in values.values():
            yield from _remote(kind, value)


def _done_there(
    kind: type, path: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], remote: list[Any]
) -> tuple[bool, Any]:
    """Do what only the student's process can do, and return true and the result; false and None for all else."""
    *_, owner, last = ["", "", *path.split(".")]
    own: Any = args[0] if args and type(args[0]) is kind else None
    if not remote:
        return False, None
    peer = remote[0].boundary.peer
    if own is not None and last == "__get__" and owner in _THERE:
        link = own.boundary
        if link.handle is None or (owner == "requires_grad" and not link.fresh):
            return True, link.graph if owner == "requires_grad" else None
        return True, peer.ask("getattr", own, [owner])
    if own is not None and last == "__get__" and owner == "is_leaf":
        return True, own.boundary.fresh
    if own is not None and last in {"__set__", "__delete__"} and own.boundary.fresh:
        own.boundary.turn = -1
        return True, peer.ask("setattr", own, [owner, args[1] if len(args) > 1 else None])
    if last in _ACTIONS or path in _GRADIENTS or last == "requires_grad_":
        module, _, name = path.partition(".")
        return True, peer.ask("import", None, [module, name, *args], kwargs)
    return False, None


def _replayed(path: str, args: tuple[Any, ...]) -> tuple[str, str, tuple[Any, ...]] | None:
    """Return module, name and arguments by which the student's process does the same; None if it cannot be named."""
    name, _, last = path.rpartition(".")
    if last == "__get__":
        return "builtins", "getattr", (args[0], name.rpartition(".")[2])
    module, _, inside = path.partition(".")
    return (module, inside, args) if inside else None


def _grown(
    kind: Any, result: Any, peer: Peer, step: tuple[str, str, tuple[Any, ...]], kwargs: Mapping[str, Any]
) -> Any:
    """Return the result with its floating-point tensors as parts of the graph."""

    def part(value: Any, item: int | None) -> Any:
        if not (_is_tensor(value) and value.is_floating_point()):
            return value
        return kind.made(value, _Link(peer, None, fresh=False, graph=True, step=(*step, kwargs, item)))

    if type(result) in {list, tuple}:
        return type(result)(part(value, number) for number, value in enumerate(result))
    make: Callable[..., Any] | None = getattr(type(result), "_make", None)  # torch's named tuples have none
    if isinstance(result, tuple) and make is None and hasattr(type(result), "n_sequence_fields"):
        return type(result)([part(value, number) for number, value in enumerate(result)])
    return part(result, None)


def _is_tensor(value: Any) -> bool:
    return type(value).__module__ == "torch" and type(value).__name__ == "Tensor"
