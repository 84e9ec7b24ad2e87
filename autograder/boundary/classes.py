"""Which class a stand-in says that its object has, and in the student's process the signature of a function."""

from __future__ import annotations

import inspect
import keyword
import sys
import types

__all__ = ["DEFAULT", "class_of", "parameters_of", "signature_of"]

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

_KINDS = {int(kind): kind for kind in type(inspect.Parameter.VAR_KEYWORD)}  # type: ignore[attr-defined]


_MOST_WRAPPED = 10


class _Default:
    """In place of a default of the test's, whose value is its own: what is called with it gets none."""

    def __repr__(self) -> str:
        return "..."


DEFAULT = _Default()


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


def parameters_of(function: object) -> list[list[object]] | None:
    """Return of a function of the test's the name and kind of each parameter, and whether it has a default.

    The values of the defaults are the test's own. None of what has no signature.
    """
    try:
        signature = inspect.signature(function, follow_wrapped=_wraps_its_own(function))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return [[one.name, int(one.kind), one.default is not one.empty] for one in signature.parameters.values()]


def _wraps_its_own(function: object) -> bool:
    """Whether all that a function says it wraps are functions here; what is the student's is not followed to it."""
    for _ in range(_MOST_WRAPPED):
        if (function := vars(function).get("__wrapped__") if hasattr(function, "__dict__") else None) is None:
            return True
        if type(function) is not types.FunctionType:
            return False
    return False


def signature_of(parameters: object) -> inspect.Signature:
    """Return the signature in the student's process of a function of the test's; any arguments, if nothing is known."""
    try:
        return inspect.Signature([_parameter(*one) for one in parameters])  # type: ignore[attr-defined]
    except (KeyError, TypeError, ValueError):
        kinds = inspect.Parameter
        return inspect.Signature([kinds("args", kinds.VAR_POSITIONAL), kinds("kwargs", kinds.VAR_KEYWORD)])


def _parameter(name: str, kind: int, default: bool) -> inspect.Parameter:
    if type(name) is not str or not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError("no name of a parameter")
    own = DEFAULT if default is True else inspect.Parameter.empty
    return inspect.Parameter(name, _KINDS[kind], default=own)
