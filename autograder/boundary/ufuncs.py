"""What NumPy computes with stand-ins: here, with values that were read before, or by an operator of the student's."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.boundary.handles import StandIn, is_object, peer_of, plain, plain_all
from autograder.boundary.operations import BINARY, OPERATIONS
from autograder.boundary.operators import METHODS

__all__ = ["array_ufunc"]


def array_ufunc(self: StandIn, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """NumPy computes on the trusted side, with values that were read before: __array_ufunc__ of a stand-in."""
    if not peer_of(self).trusted:
        return NotImplemented
    if method == "__call__" and len(inputs) == 2 and not kwargs and (name := _UFUNCS.get(ufunc)):
        own = [plain(value) for value in inputs]
        if any(is_object(value) for value in own):  # an operator of the student's
            left, right = inputs
            return OPERATIONS[name](left, right) if is_object(left) else METHODS[f"__r{name}__"](right, left)
    return getattr(ufunc, method)(*plain_all(inputs), **plain_all(kwargs))


_NAMES: dict[Any, str] = {
    np.add: "add",
    np.subtract: "sub",
    np.multiply: "mul",
    np.matmul: "matmul",
    np.true_divide: "truediv",
    np.floor_divide: "floordiv",
    np.remainder: "mod",
    np.power: "pow",
    np.bitwise_and: "and",
    np.bitwise_or: "or",
    np.bitwise_xor: "xor",
}
_UFUNCS = {ufunc: name for ufunc, name in _NAMES.items() if name in BINARY}
"""What NumPy calls an operator between one of its arrays and a stand-in."""
