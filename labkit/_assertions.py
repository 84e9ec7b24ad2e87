"""Compares values as a check does and raises a Mismatch that says in words what was expected and what came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from labkit._relations import relation
from labkit._values import (
    Array,
    NotNumbers,
    describe,
    digits,
    dtype_name,
    is_tensor,
    items,
    local,
    numbers,
    plain,
    short,
)

__all__ = [
    "Mismatch",
    "as_array",
    "at",
    "central_differences",
    "compare",
    "expect_shape",
    "form",
    "real",
    "same",
    "sentence",
    "snapshot",
]

_FAMILIES = {"b": "booleans", "i": "integers", "u": "integers", "f": "floating-point numbers", "c": "complex numbers"}
_REFERENCE = "the value to compare with"
_OTHER_TYPE, _OTHER_SHAPE, _OTHER_DTYPE = "another type came", "another shape came", "another dtype came"


class Mismatch(AssertionError):
    """A value is not what the check expected; `hint` says where to look.

    sort: what is wrong in words that hold no value; all that students read of it in a hidden case.
    """

    def __init__(self, message: str, hint: str = "", *, sort: str = "") -> None:
        super().__init__(message)
        self.hint = hint
        self.sort = sort

    def __str__(self) -> str:
        return f"{self.args[0]}\nlook at: {self.hint}" if self.hint else str(self.args[0])


# -------------------------------------------------------------------------------------------------------------- numbers
def compare(
    got: object,
    want: object,
    *,
    rtol: float,
    atol: float,
    dtype: str = "",
    infinite: bool = False,
    name: str = "",
    hint: str = "",
) -> None:
    """Expect numbers of one shape within atol + rtol * |want|; NaN agrees with nothing, infinity only if asked for."""
    got = local(got)
    target = as_array(want, "numbers", _REFERENCE, "")
    found = as_array(got, form(target.shape), name, hint)
    expect_shape(found, target.shape, name, hint)
    if dtype and dtype_name(got) != dtype:
        raise Mismatch(sentence(name, f"dtype {dtype}", dtype_name(got) or describe(got)), hint, sort=_OTHER_DTYPE)
    _refuse_unusable(target, infinite, name, hint)
    agree = found == target
    if rtol or atol:  # without a tolerance, integers beyond float64 stay exact
        wide = np.result_type(found, target, np.float64)
        with np.errstate(all="ignore"):
            away = np.abs(found.astype(wide) - target.astype(wide))
            agree |= np.isfinite(target) & (away <= atol + rtol * np.abs(target.astype(wide)))
    _expect_all(agree, found, target, name, hint)


def as_array(value: object, wanted: str, name: str, hint: str) -> Array:
    """Return numbers, nested lists of them, an array or a tensor as a NumPy array; Mismatch for anything else."""
    try:
        return numbers(value)
    except NotNumbers as error:
        raise Mismatch(sentence(name, wanted, str(error)), _hint(value, hint), sort=_OTHER_TYPE) from None


def snapshot(value: Any, name: str) -> Any:
    """Return a copy of an array, and whether it asks for a gradient; of a list or dictionary what is in it."""
    held = local(value)
    value = held if issubclass(type(held), list | tuple | dict) else value  # of a class of the student's, too
    if issubclass(type(value), list | tuple):
        return [snapshot(item, name) for item in items(value)]
    if issubclass(type(value), dict):
        return {key: snapshot(item, name) for key, item in items(value)}
    if value is None or issubclass(type(value), str | bytes | set | frozenset):
        return plain(value)
    asks = getattr(value, "requires_grad", None) if is_tensor(value) else None  # switched off, it gets no gradient
    return [as_array(value, "an array", name, "").copy(), asks]


def real(value: object, wanted: str, name: str, hint: str) -> float:
    """Return one real number as a float; Mismatch for anything else, a bool too."""
    array = as_array(value, wanted, name, hint)
    if array.shape != () or array.dtype.kind not in "iuf":
        raise Mismatch(sentence(name, wanted, describe(array if array.shape else value)), hint, sort=_OTHER_TYPE)
    return float(array)


def expect_shape(found: Array, wanted: tuple[int, ...], name: str, hint: str) -> None:
    """Expect an array of this shape; () is a single number."""
    if found.shape != wanted:
        arrays = found.shape and wanted
        words = (f"shape {wanted}", str(found.shape)) if arrays else (form(wanted), form(found.shape))
        raise Mismatch(sentence(name, *words), hint, sort=_OTHER_SHAPE)


def _refuse_unusable(target: Array, infinite: bool, name: str, hint: str) -> None:
    """Raise Mismatch where nothing can be compared: what a test derives from reported numbers may have overflowed."""
    unusable = np.isnan(target) if infinite else ~np.isfinite(target)
    if unusable.any():
        index = tuple(int(i) for i in np.argwhere(unusable)[0])
        raise Mismatch(sentence(name, f"a number{at(index)} to compare with", f"{target[index]:g} there"), hint)


def _expect_all(agree: Any, found: Array, target: Array, name: str, hint: str) -> None:
    wrong = ~np.asarray(agree)
    if not wrong.any():
        return
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    related = f": {said}" if (said := relation(found, target)) else ""
    many = f" ({int(wrong.sum())} of {wrong.size} values differ{related})" if wrong.size > 1 else ""
    wanted, came = digits(target[index], found[index])
    raise Mismatch(sentence(name, wanted + at(index), came) + many, hint, sort=_sort_of_numbers(wrong, found, target))


def _sort_of_numbers(wrong: Array, found: Array, target: Array) -> str:
    if wrong.size == 1:
        return "the number differs"
    how_many = (
        "all numbers differ" if wrong.all() else "one number differs" if wrong.sum() == 1 else "some numbers differ"
    )
    if found.dtype.kind in "fc" and not np.isfinite(found).all() and np.isfinite(target).all():
        return f"{how_many}: not all are finite"
    related = relation(found, target, values=False)
    return f"{how_many}: {related}" if related else how_many


def central_differences(f: Callable[[Array], object], x: Array, step: float, name: str) -> Array:
    """Return (f(x + step) - f(x - step)) / (2 * step) for each entry of x; Mismatch where f is not finite."""
    numeric = np.empty_like(x)
    for index in np.ndindex(x.shape):
        ahead, behind = x.copy(), x.copy()
        ahead[index] += step
        behind[index] -= step
        above, below = (real(f(point), "a number from the function", name, "") for point in (ahead, behind))
        numeric[index] = (above - below) / (2 * step)
        if not np.isfinite(numeric[index]):
            raise Mismatch(sentence(name, f"a function that is finite around x{at(index)}", f"{above:g} and {below:g}"))
    return numeric


# ------------------------------------------------------------------------------------------------------ any other value
def same(got: Any, want: Any, *, path: str = "", name: str = "", hint: str = "") -> None:
    """Expect the same types, the same structure and the same content, all the way down; NaN is the same as NaN."""
    got, want = local(got), local(want)
    where = f" at {path}" if path else ""

    def refuse(wanted: str, came: str, sort: str) -> None:
        raise Mismatch(sentence(name, wanted + where, came), _hint(got, hint), sort=sort)

    if is_tensor(want) or issubclass(type(want), np.ndarray):
        _same_array(got, want, f"{name}{where}", hint)
        return
    mine, yours = plain(got), plain(want)
    if type(mine) is not type(yours):
        refuse(describe(yours), describe(mine), _OTHER_TYPE)
    if isinstance(yours, list | tuple):
        if len(mine) != len(yours):
            came = f"{len(mine)}: {short(mine)}{_first_difference(mine, yours)}"
            refuse(f"{len(yours)} items", came, f"too {'few' if len(mine) < len(yours) else 'many'} items came")
        for number, pair in enumerate(zip(mine, yours, strict=True)):
            same(*pair, path=f"{path}[{number}]", name=name, hint=hint)
    elif isinstance(yours, dict):
        if _token(frozenset(mine)) != _token(frozenset(yours)):
            refuse(f"the keys {short(set(yours))}", short(set(mine)), "other keys came")
        for key, value in yours.items():
            same(mine[key], value, path=f"{path}[{short(key)}]", name=name, hint=hint)
    elif _token(mine) != _token(yours) and not (_is_nan(mine) and _is_nan(yours)):
        wanted, came = digits(yours, mine)
        refuse(wanted, came, "another value came")


def _first_difference(mine: Sequence[Any], yours: Sequence[Any]) -> str:
    """Return where two sequences first differ; nothing if the text of the one that came shows all of it."""
    if "..." not in short(mine):
        return ""
    both = zip(mine, yours, strict=False)
    place = next((at for at, pair in enumerate(both) if not _alike(*pair)), min(len(mine), len(yours)))
    came, wanted = (short(items[place]) if place < len(items) else "nothing" for items in (mine, yours))
    return f"; at [{place}] {came} in place of {wanted}"


def _alike(got: Any, want: Any) -> bool:
    try:
        same(got, want)
    except Mismatch:
        return False
    return True


def _same_array(got: object, want: object, name: str, hint: str) -> None:
    target = as_array(want, "numbers", _REFERENCE, "")
    kind = _FAMILIES[target.dtype.kind]
    if not is_tensor(got) and not issubclass(type(got), np.ndarray):
        raise Mismatch(sentence(name, f"an array of {kind}", describe(got)), _hint(got, hint), sort=_OTHER_TYPE)
    found = as_array(got, form(target.shape), name, hint)
    expect_shape(found, target.shape, name, hint)
    if _FAMILIES[found.dtype.kind] != kind:
        raise Mismatch(sentence(name, f"an array of {kind}", f"dtype {dtype_name(got)}"), hint, sort=_OTHER_DTYPE)
    _expect_all((found == target) | (np.isnan(found) & np.isnan(target)), found, target, name, hint)


def _token(value: Any) -> object:
    """Return what stands for a value in a comparison: 1, 1.0 and True are three things."""
    value = plain(value)
    if isinstance(value, set | frozenset):
        return type(value), frozenset(map(_token, value))
    if isinstance(value, tuple):
        return tuple, tuple(map(_token, value))
    return type(value), value


def _is_nan(value: object) -> bool:
    return isinstance(value, float | complex) and bool(np.isnan(value))


# ---------------------------------------------------------------------------------------------------------------- words
def sentence(name: str, wanted: str, got: str) -> str:
    """Return "name: expected this, got that"."""
    return f"{name}: expected {wanted}, got {got}" if name else f"expected {wanted}, got {got}"


def at(index: Iterable[Any]) -> str:
    """Return where in an array, " at [1, 2]"; nothing for a single number."""
    places = ", ".join(str(int(i)) for i in index)
    return f" at [{places}]" if places else ""


def form(shape: tuple[int, ...]) -> str:
    """Return "a number" or "an array of shape (2, 3)"."""
    return f"an array of shape {shape}" if shape else "a number"


def _hint(value: object, hint: str) -> str:
    return hint or ("does every path of the function end in a return?" if value is None else "")
