"""Literals, and others in their place that the same author might have written."""

from __future__ import annotations

import ast
import math
import secrets
from collections.abc import Collection
from dataclasses import dataclass

__all__ = ["EXACT", "Reach", "another_type", "constants_of", "literals_of", "shifted"]

_TRIES = 12
_SAFETY = 2.5
"""A right answer may be off by the tolerance; the new value must be farther from it than another tolerance."""
_FLOAT_STEP = 1e-6
"""A number computed in another way may differ in the last digits: numbers are kept farther apart than this share."""
_TYPES = {"int": "sldt", "float": "sldt", "str": "idlt", "list": "sdtf", "dict": "slti", "tuple": "slds", "set": "sldt"}
_TYPE_NAMES = {"s": "str", "l": "list", "d": "dict", "t": "tuple", "i": "int", "f": "float"}
"""Types, and initials of others of which nothing can be both: str, int, list, dict and tuple exclude each other."""
_VOWELS, _CONSONANTS, _DIGITS = "aeiou", "bcdfghklmnprstvw", "0123456789"


@dataclass(frozen=True)
class Reach:
    """How far from a number another one may be and still count as equal: `absolute` + `relative` * its size."""

    relative: float = 0.0
    absolute: float = 0.0

    def apart(self, one: float, other: float) -> bool:
        """Whether no answer that is close enough to one of them is close to the other, too."""
        relative = max(self.relative, _FLOAT_STEP)
        return abs(one - other) > _SAFETY * (self.absolute + relative * max(abs(one), abs(other)))


EXACT = Reach()


def shifted(node: ast.expr, *, reach: Reach = EXACT, others: Collection[object] = ()) -> tuple[ast.expr, str] | None:
    """Return a part of a literal and another text for it, so that the whole has another value; None if it is not one.

    reach: of the tolerance, which the new value is beyond. others: literals of the same cell; one of them may be put in
    place of this one.
    """
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None
    return _shift(node, reach, others)


def another_type(name: str) -> str:
    """Return the name of another of Python's types, of which nothing of this one is; empty if none is known."""
    return _TYPE_NAMES[secrets.choice(_TYPES[name])] if name in _TYPES else ""


def literals_of(tree: ast.AST) -> list[object]:
    """Return the numbers and texts in a program, each as often as it is there."""
    found = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return [value for value in found if isinstance(value, int | float | str) and not isinstance(value, bool)]


def constants_of(tree: ast.AST) -> set[str]:
    """Return the constants in a piece of code, as `ast.dump` writes them."""
    return {ast.dump(node) for node in ast.walk(tree) if isinstance(node, ast.Constant)}


def _shift(node: ast.expr, reach: Reach, others: Collection[object]) -> tuple[ast.expr, str] | None:
    parts: list[ast.expr] = []
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        parts = list(node.elts)
    elif isinstance(node, ast.Dict):
        parts = list(node.values)
    beside = [*others, *(value for part in parts for value in literals_of(part))]
    while parts:
        part = parts.pop(secrets.randbelow(len(parts)))
        if found := _shift(part, reach, beside):
            return found
    if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
        return None
    text = _other(ast.literal_eval(node), reach, others)
    return None if text is None else (node, text)


def _other(value: object, reach: Reach, others: Collection[object]) -> str | None:
    """Return the text of a value unlike this one, of its type."""
    if isinstance(value, bool):
        return repr(not value)
    if isinstance(value, int | float):
        return _other_number(value, reach, others)
    return _other_word(value, others) if isinstance(value, str) and value else None


# ------------------------------------------------------------------------------------------------------------- numbers
def _other_number(value: float, reach: Reach, others: Collection[object]) -> str | None:
    """Return a number of the same kind near this one, as round as it is, and beyond the tolerance."""
    if not math.isfinite(value):
        return None
    known = [n for n in others if type(n) is type(value) and reach.apart(value, n) and _alike(value, n)]
    if known and secrets.randbelow(4) == 0:
        return repr(secrets.choice(known))
    for attempt in range(_TRIES):
        new = _near_whole(value, attempt) if isinstance(value, int) else _near(value, attempt)
        if new != value and (new < 0) == (value < 0) and reach.apart(value, new):
            return repr(new)
    return _far(value, reach)


def _alike(value: float, other: float) -> bool:
    """Whether both are of one sign, and less than ten times as large as each other."""
    return (
        (value < 0) == (other < 0) and abs(other) <= 10 * max(1, abs(value)) and abs(value) <= 10 * max(1, abs(other))
    )


def _near_whole(value: int, attempt: int) -> int:
    """Return an integer near this one; one that ends in zeros or in 5, or is even, stays so."""
    size, unit = abs(value), 1
    while size and size % (10 * unit) == 0 and size > 10 * unit:
        unit *= 10
    if size > 20 and unit == 1:
        unit = 5 if size % 5 == 0 else 2
    step = unit * (1 + secrets.randbelow(3)) * max(1, size >> max(0, 8 - attempt))
    step -= step % unit
    return value + secrets.choice((-1, 1)) * max(unit, step if attempt else unit * (1 + secrets.randbelow(3)))


def _near(value: float, attempt: int) -> float:
    """Return a number of as many digits that differs in one of them, in a later one the sooner the attempt."""
    digits = len(repr(abs(value)).partition(".")[2]) if "e" not in repr(value) else 17
    if not value:
        return round(float(secrets.randbelow(3) + 1) * 10.0 ** (attempt - min(digits, 2)), digits)
    leading = math.floor(math.log10(abs(value)))
    last = max(-digits, leading - 3)
    place = min(leading, last + secrets.randbelow(2) + attempt // 2)
    step = secrets.choice((-1, 1)) * (secrets.randbelow(4) + 1) * 10.0**place
    return round(value + step, digits) if digits < 17 else float(f"{value + step:.6g}")


def _far(value: float, reach: Reach) -> str | None:
    """Return a number so far off that a wide tolerance does not reach it, should there be one."""
    step = abs(value) / 2 + 2 * reach.absolute + (reach.absolute == 0)
    for _ in range(_TRIES):
        step *= 2
        for new in (value + step, value - step) if secrets.randbelow(2) else (value - step, value + step):
            plain = round(new) if isinstance(value, int) else float(f"{new:.3g}")
            if reach.apart(value, plain):
                return repr(plain)
    return None


# --------------------------------------------------------------------------------------------------------------- words
def _other_word(value: str, others: Collection[object]) -> str:
    known = [word for word in others if isinstance(word, str) and word and word != value]
    like = [word for word in known if abs(len(word) - len(value)) <= 3 and " " not in word.strip() + value.strip()]
    if like and secrets.randbelow(2):
        return repr(secrets.choice(like))
    words = value.split(" ")
    turns = [
        n for n in range(len(words) - 1) if words[n] != words[n + 1] and words[n].isalnum() and words[n + 1].isalnum()
    ]
    if turns and secrets.randbelow(2):
        at = secrets.choice(turns)
        words[at], words[at + 1] = words[at + 1], words[at]
        return repr(" ".join(words))
    return repr(_misspelt(value))


def _misspelt(value: str) -> str:
    """Return a text in which one letter or digit is another one of its kind; the first letters stay."""
    kinds = [kind for kind in (_VOWELS, _CONSONANTS, _DIGITS) if any(c.lower() in kind for c in value)]
    if not kinds:
        return value + value[-1]
    kind = secrets.choice(kinds)
    at = secrets.choice([n for n, c in enumerate(value) if c.lower() in kind])
    new = secrets.choice([c for c in kind if c != value[at].lower()])
    return value[:at] + (new.upper() if value[at].isupper() else new) + value[at + 1 :]
