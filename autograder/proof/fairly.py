"""Other forms of a right result: what a student's function may return as well, unless the text says otherwise.

The numbers stay the same to the last digit; only what holds them is another: NumPy's scalar in place of Python's, an
array in another order of memory, a subclass.
"""

from __future__ import annotations

import collections
import sys
from collections.abc import Callable
from typing import Any

from autograder.proof.met import met
from autograder.proof.results import everywhere, is_tensor, of_result

__all__ = [
    "FORMS", "fortran", "integer", "named", "numpy_scalar", "ordered", "python_scalar", "read_only", "requires_grad",
    "strided", "subclass", "view",
]  # fmt: skip

FORMS = {
    "numpy_scalar": "NumPy's scalar for Python's number or truth",
    "python_scalar": "Python's number for NumPy's scalar",
    "integer": "an int for a float that is whole",
    "fortran": "an array in Fortran's order, a matrix transposed in memory",
    "strided": "an array or tensor that is every second element of another",
    "view": "an array or tensor that is part of a larger one",
    "read_only": "an array that cannot be written to",
    "subclass": "an array of a subclass of ndarray",
    "requires_grad": "a tensor that asks for its gradient",
    "ordered": "an OrderedDict for a dict",
    "named": "a named tuple for a tuple",
}
"""What each form is, by its name here."""


def _numpy_scalar(value: Any) -> Any:
    import numpy as np

    kinds: dict[type, Callable[[Any], Any]] = {bool: np.bool_, float: np.float64, int: np.int64}
    small = type(value) is not int or abs(value) < 1 << 63
    return kinds[type(value)](value) if type(value) in kinds and small else value


def _python_scalar(value: Any) -> Any:
    import numpy as np

    return value.item() if isinstance(value, np.bool_ | np.integer | np.float64) else value


def _integer(value: Any) -> Any:
    return int(value) if type(value) is float and value.is_integer() and str(value) != "-0.0" else value


def _fortran(value: Any) -> Any:
    if is_tensor(value):
        return value.mT.contiguous().mT if value.dim() > 1 and _is_plain(value) else value
    return value.copy(order="F") if _is_array(value) and value.ndim > 1 else value


def _strided(value: Any) -> Any:
    return _within(value, lambda size: (2 * size, slice(None, None, 2)))


def _view(value: Any) -> Any:
    return _within(value, lambda size: (size + 2, slice(1, size + 1)))


def _within(value: Any, place: Callable[[int], tuple[int, slice]]) -> Any:
    """Return the value as a part of a larger one: last dimension so long, and where it lies in that."""
    if not (_is_array(value) or (is_tensor(value) and _is_plain(value))) or not value.ndim:
        return value
    size, part = place(value.shape[-1])
    shape = (*value.shape[:-1], size)
    larger = value.new_zeros(shape) if is_tensor(value) else sys.modules["numpy"].zeros(shape, value.dtype)
    larger[..., part] = value
    return larger[..., part]


def _read_only(value: Any) -> Any:
    if not _is_array(value):
        return value
    found = value.copy()
    found.flags.writeable = False
    return found


def _subclass(value: Any) -> Any:
    return value.view(_array_class()) if _is_array(value) else value


def _array_class() -> Any:
    import numpy as np

    return type("Array", (np.ndarray,), {})


def _requires_grad(value: Any) -> Any:
    floating = is_tensor(value) and _is_plain(value) and value.is_floating_point()
    return value.clone().requires_grad_() if floating else value


def _ordered(value: Any) -> Any:
    return _once(dict, value, collections.OrderedDict)


def _named(value: Any) -> Any:
    def make(items: tuple[Any, ...]) -> Any:
        return collections.namedtuple("Result", [f"part{n}" for n in range(len(items))])(*items)

    return _once(tuple, value, make)


def _once(kind: type, value: Any, make: Callable[[Any], Any]) -> Any:
    """Change the result as a whole, not what it holds."""
    if type(value) is not kind:
        return value
    met.add("touched")
    return make(value)


def _is_plain(value: Any) -> bool:
    """Whether a tensor has no part in a graph: another one would have none."""
    tensor = sys.modules["torch"].Tensor
    return type(value) is tensor and not value.requires_grad and value.grad_fn is None


def _is_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(value) is numpy.ndarray


numpy_scalar = of_result(everywhere(_numpy_scalar))
python_scalar = of_result(everywhere(_python_scalar))
integer = of_result(everywhere(_integer))
fortran = of_result(everywhere(_fortran))
strided = of_result(everywhere(_strided))
view = of_result(everywhere(_view))
read_only = of_result(everywhere(_read_only))
subclass = of_result(everywhere(_subclass))
requires_grad = of_result(everywhere(_requires_grad))
ordered = of_result(_ordered)
named = of_result(_named)
