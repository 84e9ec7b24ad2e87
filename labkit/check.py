"""Checks for test cells: every case runs, says what was expected, what came and where to look; credit is proportional.

A test cell is a list of cases and a score::

    from labkit import check

    with check.case("each row sums to one", hint="divide by the sum over axis=1 and keep that axis"):
        check.close(softmax(z).sum(axis=1), [1.0, 1.0])
    check.score(3)

A case that fails, or whose code raises, is recorded and the next one still runs. Outside a case the same functions
raise `Mismatch`, an AssertionError. What a case prints on stderr, a warning for example, costs nothing.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from labkit._report import Case, CheckFailed, Score, error_message

__all__ = [
    "Mismatch",
    "at_least",
    "at_most",
    "calls",
    "case",
    "close",
    "counted",
    "equal",
    "gradient",
    "hidden_case",
    "raises",
    "score",
    "shape",
    "true",
    "unchanged",
]


class Mismatch(AssertionError):
    """A value is not what the check expected; `hint` says where to look."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.args[0]}\nlook at: {self.hint}" if self.hint else str(self.args[0])


class _Ledger:
    """The cases of the cell that is running now."""

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.execution = 0
        self.open = False

    def start(self) -> None:
        """Forget the cases of an earlier cell that never reached its score."""
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython else None
        execution = getattr(shell, "execution_count", 0)
        if execution != self.execution:
            self.cases, self.execution = [], execution

    def take(self) -> list[Case]:
        self.start()
        cases, self.cases = self.cases, []
        return cases


_ledger = _Ledger()


# ---------------------------------------------------------------------------------------------------- cases and score
@contextlib.contextmanager
def _case(title: str, hint: str, weight: float, hidden: bool) -> Iterator[None]:
    if _ledger.open:
        raise RuntimeError(f"check.case({title!r}) stands inside another case: close that one first")
    if not weight > 0:
        raise ValueError(f"check.case({title!r}): weight must be positive, got {weight}")
    _ledger.start()
    _ledger.open = True
    message, error = "", ""
    try:
        # A warning on stderr would cost the whole cell in nbgrader.
        with contextlib.redirect_stderr(sys.stdout):
            yield
    except Mismatch as mismatch:
        message, error, hint = str(mismatch.args[0]), "Mismatch", mismatch.hint or hint
    except (Exception, SystemExit) as exception:
        message, error = error_message(exception), type(exception).__name__
    finally:
        _ledger.open = False
    _ledger.cases.append(Case(title, not error, message, hint if error else "", hidden, weight, error))


def case(title: str, *, hint: str = "", weight: float = 1.0) -> contextlib.AbstractContextManager[None]:
    """Return a context that records one case: passed if its body ends without an exception.

    title: what holds, as a sentence a student understands. hint: where to look when it does not.
    """
    return _case(title, hint, weight, hidden=False)


def hidden_case(title: str, *, hint: str = "", weight: float = 1.0) -> contextlib.AbstractContextManager[None]:
    """Return a case for a hidden block: students later see its title and hint, never the values."""
    return _case(title, hint, weight, hidden=True)


def score(points: float) -> Score:
    """Return the credit for the cases of this cell, `points` times the weighted share that passed.

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


# ------------------------------------------------------------------------------------------------------- expectations
def true(condition: object, expected: str, *, hint: str = "") -> None:
    """Expect that condition holds; `expected` is the rest of the sentence "expected ..."."""
    if not bool(condition):
        raise Mismatch(f"expected {expected}", hint)


def equal(got: object, want: object, *, name: str = "", hint: str = "") -> None:
    """Expect exactly this value: same kind of value, same content; arrays also the same shape."""
    if isinstance(want, np.ndarray) or hasattr(want, "__array__"):
        _compare(got, want, 0.0, 0.0, name, hint)
        return
    plain = got.item() if isinstance(got, np.generic) else got
    if isinstance(want, bool) != isinstance(plain, bool) or not isinstance(plain, type(want)) or plain != want:
        raise Mismatch(_sentence(name, _short(want), _short(got)), hint)


def close(got: object, want: object, *, rtol: float = 1e-5, atol: float = 1e-8, name: str = "", hint: str = "") -> None:
    """Expect numbers of the same shape, finite and within atol + rtol * |want|, element by element.

    got and want: a number, nested lists, a NumPy array, or a PyTorch, TensorFlow or Keras tensor.
    """
    _compare(got, want, rtol, atol, name, hint)


def shape(got: object, want: tuple[int, ...], *, name: str = "", hint: str = "") -> None:
    """Expect an array of this shape."""
    found = _array(got, f"an array of shape {want}", name, hint).shape
    if found != tuple(want):
        raise Mismatch(_sentence(name, f"shape {tuple(want)}", str(found)), hint)


def at_least(got: float, bound: float, *, name: str = "", hint: str = "") -> None:
    """Expect a finite number not below the bound."""
    _bounded(got, bound, "at least", lambda value: value >= bound, name, hint)


def at_most(got: float, bound: float, *, name: str = "", hint: str = "") -> None:
    """Expect a finite number not above the bound."""
    _bounded(got, bound, "at most", lambda value: value <= bound, name, hint)


def raises(kind: type[Exception], fn: Callable[..., object], *args: object, hint: str = "", **kwargs: object) -> None:
    """Expect that fn(*args, **kwargs) raises an exception of this kind; an unfinished task does not count."""
    try:
        result = fn(*args, **kwargs)
    except NotImplementedError:
        raise
    except kind:
        return
    except Exception as other:
        raise Mismatch(f"expected {kind.__name__}, got {error_message(other)}", hint) from other
    raise Mismatch(f"expected {kind.__name__}, got the value {_short(result)}", hint)


def gradient(
    f: Callable[[np.ndarray], float],
    x: np.ndarray,
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
    given = _array(grad, f"a gradient of shape {x.shape}", name, hint)
    if given.shape != x.shape:
        raise Mismatch(_sentence(name, f"a gradient of shape {x.shape}", str(given.shape)), hint)
    numeric = np.empty_like(x)
    for index in np.ndindex(x.shape):
        ahead, behind = x.copy(), x.copy()
        ahead[index] += step
        behind[index] -= step
        numeric[index] = (float(f(ahead)) - float(f(behind))) / (2 * step)
    error = np.abs(given - numeric) / np.maximum(1.0, np.abs(given) + np.abs(numeric))
    error = np.where(np.isfinite(error), error, np.inf)
    if error.size and error.max() > tolerance:
        worst = np.unravel_index(int(error.argmax()), error.shape)
        wanted, found = f"the gradient {numeric[worst]:.6g}{_at(worst)}", f"{given[worst]:.6g}"
        raise Mismatch(f"{_sentence(name, wanted, found)} (relative error {error[worst]:.1e})", hint)


def counted(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return fn with a counter: `calls` reads how often the student's code called it."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        wrapper.count += 1  # type: ignore[attr-defined]
        return fn(*args, **kwargs)

    wrapper.count = 0  # type: ignore[attr-defined]
    return wrapper


def calls(fn: Callable[..., Any], exactly: int, *, name: str = "", hint: str = "") -> None:
    """Expect that a `counted` function was called exactly so often."""
    found: int = fn.count  # type: ignore[attr-defined]
    if found != exactly:
        raise Mismatch(_sentence(name, f"{exactly} calls", str(found)), hint)


@contextlib.contextmanager
def unchanged(
    hint: str = "work on a copy, or use an operator that returns a new array", **arrays: Any
) -> Iterator[None]:
    """Expect that the body leaves these arrays as they were: `with check.unchanged(x=x): relu(x)`."""
    before = {name: np.array(value) for name, value in arrays.items()}
    yield
    for name, value in arrays.items():
        if not np.array_equal(before[name], np.asarray(value), equal_nan=True):
            raise Mismatch(f"expected {name} to stay as it was, but the call changed it in place", hint)


# ------------------------------------------------------------------------------------------------------------ helpers
def _array(value: Any, wanted: str, name: str, hint: str) -> np.ndarray[Any, Any]:
    """Return value as an array of numbers; tensors are detached and copied to the host."""
    if value is None:
        raise Mismatch(_sentence(name, wanted, "None"), "does every path of the function end in a return?")
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value  # NumPy has no bfloat16
    try:
        array = np.asarray(value)
    except ValueError:  # a ragged list
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "biufc":
        raise Mismatch(_sentence(name, wanted, f"{_short(value)} of type {type(value).__name__}"), hint)
    return array


def _compare(got: object, want: object, rtol: float, atol: float, name: str, hint: str) -> None:
    target = _array(want, "numbers", "the check itself", "")
    number = "a number" if target.ndim == 0 else f"an array of shape {target.shape}"
    found = _array(got, number, name, hint)
    if found.shape != target.shape:
        raise Mismatch(_sentence(name, f"shape {target.shape}", str(found.shape)), hint)
    # Element by element: NaN agrees with nothing, infinity only with itself.
    with np.errstate(invalid="ignore"):
        wrong = ~((found == target) | (np.abs(found - 1.0 * target) <= atol + rtol * np.abs(target)))
    if not wrong.any():
        return
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    many = f" ({int(wrong.sum())} of {wrong.size} values differ)" if wrong.size > 1 else ""
    exact = ".6g" if abs(float(np.abs(found[index] - 1.0 * target[index]))) > 1e-5 * abs(target[index]) else ".17g"
    wanted, came = format(target[index].item(), exact), format(found[index].item(), exact)
    raise Mismatch(_sentence(name, wanted + _at(index), came) + many, hint)


def _bounded(got: float, bound: float, words: str, holds: Callable[[float], bool], name: str, hint: str) -> None:
    value = _array(got, f"a number {words} {bound:g}", name, hint)
    if value.shape != () or not np.isfinite(value) or not holds(float(value)):
        raise Mismatch(_sentence(name, f"{words} {bound:g}", _short(got)), hint)


def _sentence(name: str, wanted: str, got: str) -> str:
    return f"{name}: expected {wanted}, got {got}" if name else f"expected {wanted}, got {got}"


def _at(index: tuple[Any, ...]) -> str:
    return f" at [{', '.join(str(int(i)) for i in index)}]" if index else ""


def _short(value: object, width: int = 80) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else " ".join(repr(value).split())
    return text if len(text) <= width else text[: width - 3] + "..."
