"""Which class a stand-in says that its object has, and in the student's process the signature of a function."""

from __future__ import annotations

import inspect
import sys
import types

__all__ = ["arity_of", "class_of", "signature_of"]

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
    ("collections", "Counter"),
    ("collections", "OrderedDict"),
    ("collections", "UserDict"),
    ("collections", "UserList"),
    ("collections", "defaultdict"),
    ("collections", "deque"),
    ("datetime", "date"),
    ("datetime", "time"),
    ("datetime", "timedelta"),
)
"""Classes of libraries, with those derived from them, that a stand-in passes for. They hold no value that NumPy, torch
or a comparison would take without asking; built-in classes do, and so no stand-in has one."""
_CALLED: dict[str, type] = {
    "builtins.builtin_function_or_method": types.BuiltinFunctionType,
    "builtins.function": types.FunctionType,
    "builtins.method": types.FunctionType,
    "builtins.type": type,
}
"""What the test's functions, methods and classes are in the student's process, though their code lies elsewhere."""

_SHOWN_AS = {**_CALLED, "builtins.generator": types.GeneratorType}

_BY_PLACE = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}


def class_of(names: list[str], *, trusted: bool) -> type | None:
    """Return the most derived class of a framework among these that is on the list above; None if none is.

    names: of an object's classes, as the other end tells them, the most derived first. trusted: whether this end is
    the test's.
    """
    if not trusted:
        return _SHOWN_AS.get(names[0]) if names else None
    bases = [getattr(sys.modules.get(module), name, None) for module, name in _CLASSES]
    allowed = tuple(base for base in bases if isinstance(base, type))
    for name in names:
        module, _, kind = name.rpartition(".")
        found = getattr(sys.modules.get(module), kind, None) if module in sys.modules else None
        if isinstance(found, type) and issubclass(found, allowed):
            return found
    return type if "builtins.type" in names else None


def arity_of(function: object) -> list[int]:
    """Return of a function of the test's how many arguments it must have and may have more, and whether any number.

    Its signature without names and values, which would tell of the test; nothing of what has none.
    """
    try:
        parameters = inspect.signature(function, follow_wrapped=False).parameters.values() if callable(function) else ()
    except (TypeError, ValueError):
        return []
    by_place = [one for one in parameters if one.kind in _BY_PLACE]
    must = sum(one.default is one.empty for one in by_place)
    kinds = {one.kind for one in parameters}
    named = bool(kinds & {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD})
    return [must, len(by_place) - must, int(inspect.Parameter.VAR_POSITIONAL in kinds), int(named)]


def signature_of(arity: object) -> inspect.Signature:
    """Return the signature in the student's process of a function of the test's."""
    known = isinstance(arity, list) and len(arity) == len(("must", "may", "more", "named"))
    must, may, more, named = arity if known and isinstance(arity, list) else (0, 0, 1, 1)
    kinds = inspect.Parameter
    found = [
        kinds(f"a{n}", kinds.POSITIONAL_OR_KEYWORD, default=kinds.empty if n < must else None)
        for n in range(must + may)
    ]
    found += [kinds("args", kinds.VAR_POSITIONAL)] * more + [kinds("kwargs", kinds.VAR_KEYWORD)] * named
    return inspect.Signature(found)
