"""Checks for test cells: every case runs, says what was expected, what came and where to look; credit is proportional.

A test cell is a list of cases and a score::

    from labkit import check

    with check.case("each row sums to one", hint="divide by the sum over axis=1 and keep that axis"):
        check.close(softmax(z).sum(axis=1), [1.0, 1.0])
    check.score(3)

A case that fails, or whose code raises, is recorded and the next one still runs; only an interrupt ends the cell.
Outside a case the same functions raise `Mismatch`, an AssertionError. What a case prints on stderr, a warning for
example, costs nothing.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from labkit._assertions import (
    Mismatch,
    as_array,
    at,
    central_differences,
    compare,
    expect_shape,
    form,
    real,
    same,
    sentence,
)
from labkit._check_report import Case, CheckFailed, Ledger, Score, error_message
from labkit._earlier import Answers
from labkit._in_place import separate, shared, still, unchanged
from labkit._values import Array, Remote, adopt, describe, digits, is_tensor, local, numbers, plain, remotes

__all__ = [
    "Mismatch",
    "Remote",
    "Score",
    "adopt",
    "at_least",
    "at_most",
    "begin",
    "calls",
    "case",
    "close",
    "counted",
    "equal",
    "gradient",
    "hidden_case",
    "operators",
    "raises",
    "score",
    "separate",
    "shape",
    "shared",
    "true",
    "unchanged",
]


_ledger = Ledger()
_answers = Answers()


# ---------------------------------------------------------------------------------------------------- cases and score
def case(
    title: str,
    *,
    hint: str = "",
    more: str = "",
    weight: float = 1.0,
    guard: bool = False,
    essential: bool = False,
) -> contextlib.AbstractContextManager[None]:
    """Return a context that records one case: passed if its body ends without an exception.

    title: what holds, as a sentence a student understands. hint: where to look when it does not. more: a second hint,
    which opens when a student asks for it. guard: the case says what must not happen (an argument changed, a wrong name
    accepted). An answer that does nothing satisfies that: so it counts only if a case of the cell that is no guard
    passes. essential: the case says what the task is about: without it the cell earns at most half of its points.
    """
    return _ledger.case(Case(title, hint=hint, more=more, weight=weight, guard=guard, essential=essential))


def hidden_case(
    title: str,
    *,
    hint: str = "",
    more: str = "",
    weight: float = 1.0,
    guard: bool = False,
    essential: bool = False,
) -> contextlib.AbstractContextManager[None]:
    """Return a case for a hidden block: students later see its title and hints, never the values.

    It counts only if one of the cell's cases that students see passes, guards aside: no answer that fails all of these
    is given something for what it happens not to do.
    """
    return _ledger.case(Case(title, hint=hint, more=more, weight=weight, guard=guard, essential=essential, hidden=True))


def score(points: float) -> Score:
    """Return the credit for the cases of this cell: `points` times the weighted share that passed, to two decimals.

    At most half of them where an essential case failed.

    Write it as the last line: nbgrader reads the number as partial credit. Raises RuntimeError if no case ran and,
    while nbgrader validates a student's notebook, CheckFailed with one line a case (its dialog shows nothing else).
    """
    cases = _ledger.take()
    if not cases:
        raise RuntimeError("check.score: no case has run in this cell")
    result = Score(points, tuple(cases))
    if os.environ.get("NBGRADER_EXECUTION") == "validate" and not result.full:
        raise CheckFailed(result)
    return result


def begin() -> None:
    """Forget the cases of an earlier cell. A notebook's execution count does that; a grader without one calls this."""
    _ledger.forget()


# ------------------------------------------------------------------------------------------------------- expectations
def true(condition: object, expected: str, *, hint: str = "") -> None:
    """Expect True, the bool itself; `expected` is the rest of the sentence "expected ..."."""
    condition = local(condition)
    value = plain(numbers(condition)[()] if is_tensor(condition) else condition)
    if value is not True:
        raise Mismatch(f"expected {expected}" + ("" if value is False else f", got {describe(value)}"), hint)


def equal(got: object, want: object, *, name: str = "", hint: str = "") -> None:
    """Expect exactly this value: the same types, structure and content, all the way down; 1, 1.0 and True differ.

    An array or tensor has the same shape and kind of numbers, and every entry is the same; NaN equals NaN.
    """
    with _answers.compared(got, _ledger.title) as found:
        same(found, want, name=name, hint=hint)
    still(got, lambda later: same(later, want), name, hint)


def close(
    got: object,
    want: object,
    *,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    dtype: str = "",
    infinite: bool = False,
    name: str = "",
    hint: str = "",
) -> None:
    """Expect numbers of the same shape, finite and within atol + rtol * |want|, element by element.

    got and want: a number, nested lists, a NumPy array, or a PyTorch, TensorFlow or Keras tensor; booleans count as 0
    and 1. dtype, for example "float32", is asked for only if given. An infinity in want is refused: it may come from
    numbers that the student's code reported, and agreeing with it proves nothing. With infinite=True an infinity
    agrees with the same infinity. NaN agrees with nothing; `equal` compares it.
    """
    with _answers.compared(got, _ledger.title) as found:
        compare(found, want, rtol=rtol, atol=atol, dtype=dtype, infinite=infinite, name=name, hint=hint)
    still(got, lambda later: compare(later, want, rtol=rtol, atol=atol, infinite=infinite), name, hint)


def shape(got: object, want: tuple[int, ...], *, name: str = "", hint: str = "") -> None:
    """Expect an array of this shape."""
    expect_shape(as_array(got, form(tuple(want)), name, hint), tuple(want), name, hint)


def at_least(got: object, bound: float, *, name: str = "", hint: str = "") -> None:
    """Expect a finite number not below the bound."""
    _bounded(got, bound, "at least", lambda value: value >= bound, name, hint)


def at_most(got: object, bound: float, *, name: str = "", hint: str = "") -> None:
    """Expect a finite number not above the bound."""
    _bounded(got, bound, "at most", lambda value: value <= bound, name, hint)


def raises(kind: type[Exception], fn: Callable[..., object], *args: object, hint: str = "", **kwargs: object) -> None:
    """Expect that fn(*args, **kwargs) raises an exception of this kind; an unfinished task does not count."""
    try:
        result = fn(*args, **kwargs)
    except NotImplementedError:
        raise
    except Exception as other:
        if isinstance(other, kind):
            return
        raise Mismatch(f"expected {kind.__name__}, got {error_message(other)}", hint, sort="another error") from other
    raise Mismatch(f"expected {kind.__name__}, got {describe(result)}", hint, sort="nothing was raised")


def gradient(
    f: Callable[[Array], object],
    x: object,
    grad: object,
    *,
    step: float = 1e-5,
    tolerance: float = 1e-6,
    name: str = "",
    hint: str = "",
) -> None:
    """Expect grad to be the gradient of the scalar function f at x, shape of x, in float64.

    Central differences, (f(x + h) - f(x - h)) / 2h, cost two calls an entry: keep x small. The error is relative,
    |grad - numeric| / max(1, |grad| + |numeric|), and must stay below tolerance in every entry.
    """
    x = np.array(x, dtype=np.float64)
    wanted = f"a gradient of shape {x.shape}"
    given = as_array(grad, wanted, name, hint)
    if given.shape != x.shape:
        raise Mismatch(sentence(name, wanted, str(given.shape)), hint, sort="another shape came")
    numeric = central_differences(f, x, step, name)
    error = np.abs(given - numeric) / np.maximum(1.0, np.abs(given) + np.abs(numeric))
    error = np.where(np.isfinite(error), error, np.inf)
    if error.size and error.max() > tolerance:
        worst = np.unravel_index(int(error.argmax()), error.shape)
        found = sentence(name, f"the gradient {numeric[worst]:.6g}{at(worst)}", f"{given[worst]:.6g}")
        raise Mismatch(f"{found} (relative error {error[worst]:.1e})", hint, sort="the gradient differs")


class _Counted:
    def __init__(self, fn: Callable[..., Any]) -> None:
        self._fn = fn
        self.count = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.count += 1
        return self._fn(*args, **kwargs)


def counted(fn: Callable[..., Any]) -> _Counted:
    """Return fn with a counter: `calls` reads how often the student's code called it."""
    return _Counted(fn)


def calls(fn: _Counted, exactly: int, *, name: str = "", hint: str = "") -> None:
    """Expect that a `counted` function was called exactly so often."""
    if fn.count != exactly:
        raise Mismatch(
            sentence(name, f"{exactly} call{'s' * (exactly != 1)}", str(fn.count)), hint, sort="another number of calls"
        )


@contextlib.contextmanager
def operators() -> Iterator[None]:
    """Say that operators of the student's own classes are what is tested: `with check.operators(): c = Node(2) * 3`.

    A grader gives an object that holds no value nothing of the test's to compute with: told what is expected, it could
    agree with everything. In the body of this it does; what comes of it is read by name, `c.value`, and never compared
    by itself.
    """
    with contextlib.ExitStack() as stack:
        for remote in remotes:
            stack.enter_context(remote.operators())
        yield


# ------------------------------------------------------------------------------------------------------------ helpers
def _bounded(got: object, bound: float, words: str, holds: Callable[[float], bool], name: str, hint: str) -> None:
    wanted = f"a number {words} {bound:g}"
    value = real(got, wanted, name, hint)
    if not np.isfinite(value) or not holds(value):
        came = digits(bound, value)[1]
        raise Mismatch(sentence(name, f"{words} {bound:g}", came), hint, sort="the number is beyond its bound")
