"""Which class a stand-in says that its object has."""

from __future__ import annotations

import inspect
import sys
import types

__all__ = ["SIGNATURE", "class_of"]

_CLASSES = (
    ("torch.nn", "Module"),
    ("torch.optim", "Optimizer"),
    ("torch.optim.lr_scheduler", "LRScheduler"),
    ("torch.utils.data", "Dataset"),
    ("torch.utils.data", "DataLoader"),
    ("torch.utils.data", "Sampler"),
    ("torch", "Generator"),
    ("numpy.random", "Generator"),
    ("numpy.random", "RandomState"),
    ("keras", "Layer"),
    ("keras.optimizers", "Optimizer"),
    ("keras.callbacks", "Callback"),
    ("tensorflow", "Module"),
    ("tensorflow.data", "Dataset"),
)
"""Classes of frameworks, with those derived from them, that a stand-in passes for. They hold no value that NumPy, torch
or a comparison would take without asking; built-in classes do, and so no stand-in has one."""
_CALLED: dict[str, type] = {
    "builtins.builtin_function_or_method": types.BuiltinFunctionType,
    "builtins.function": types.FunctionType,
    "builtins.method": types.FunctionType,
    "builtins.type": type,
}
"""What the test's functions, methods and classes are in the student's process, though their code lies elsewhere."""
SIGNATURE = inspect.signature(lambda *args, **kwargs: None)
"""Of one of them, as far as the student's process knows."""


def class_of(names: list[str], *, trusted: bool) -> type | None:
    """Return the most derived class of a framework among these that is on the list above; None if none is.

    names: of an object's classes, as the other end tells them, the most derived first. trusted: whether this end is
    the test's.
    """
    if not trusted:
        return _CALLED.get(names[0]) if names else None
    bases = [getattr(sys.modules.get(module), name, None) for module, name in _CLASSES]
    allowed = tuple(base for base in bases if isinstance(base, type))
    for name in names:
        module, _, kind = name.rpartition(".")
        found = getattr(sys.modules.get(module), kind, None) if module in sys.modules else None
        if isinstance(found, type) and issubclass(found, allowed):
            return found
    return type if "builtins.type" in names else None
