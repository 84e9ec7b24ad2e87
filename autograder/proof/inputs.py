"""Which kinds of arguments a lab's checks have never used: where a plausible mistake would not be seen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from autograder.proof.mutants import Task, heads
from autograder.proof.sites import Solution

__all__ = ["Seen", "holes", "noting", "read_seen", "show_holes"]

Seen = dict[str, dict[str, set[str]]]
"""By function and parameter, what has been true of an argument."""
_Holes = Mapping[str, tuple[str, str]]
"""Where only the second fact has been seen, a mistake about the first would not show; and how that is said."""
_OF_NUMBERS: _Holes = {
    "with negative numbers": ("without negative numbers", "never negative"),
    "with a zero": ("without a zero", "never 0"),
    "not whole": ("whole", "only whole numbers"),
    "not exact in 16 bits": ("exact in 16 bits", "only numbers that 16 bits hold exactly"),
    "with ties": ("without ties", "never two equal ones"),
    "unsorted": ("sorted", "only in order"),
}
_OF_FORM: _Holes = {
    "not square": ("square", "only square"),
    "with a side of 1": ("with no side of 1", "never with a side of 1"),
    "not contiguous": ("contiguous", "only contiguous"),
}
_SIZES = {
    "an array": ("empty", "of one element", "of several elements"),
    "a sequence": ("empty", "of one item", "of several items"),
}


def noting(task: Task) -> str:
    """Return the task's cell; what its functions are called with is noted while it runs."""
    source = task.source
    for function in reversed(heads(task)):  # from below, so that the lines above stay where they are
        source = Solution(source).decorated(function, f"met_inputs.noted({function.name!r})")
    return f"from autograder.proof import met_inputs\n{source}"


def read_seen(lines: Iterable[str]) -> Seen:
    """Return what was noted, of all calls together."""
    found: Seen = {}
    for line in lines:
        name, arguments = json.loads(line)
        of_function = found.setdefault(name, {})
        for parameter, facts in arguments.items():
            of_function.setdefault(parameter, set()).update(facts)
    return found


def holes(seen: set[str]) -> list[str]:
    """Return what has never been true of an argument of which all this has."""
    if "left out" in seen and len(seen) == 1:
        return ["always left out: its default alone was tried"]
    alone = _one_number(seen)
    found = [alone] if alone else _missing(seen, _OF_NUMBERS)
    found += _missing(seen, _OF_FORM)
    for kind, sizes in _SIZES.items():
        if kind in seen and seen & {*sizes}:  # an array without an axis has no size
            found += [f"never {size}" for size in sizes if size not in seen]
    dtypes = sorted(fact for fact in seen if fact.startswith("dtype "))
    found += [f"only {dtypes[0].removeprefix('dtype ')}"] if len(dtypes) == 1 else []
    return list(dict.fromkeys(found))  # arrays and sequences alike are never empty


def _missing(seen: set[str], never: _Holes) -> list[str]:
    return [said for one, (other, said) in never.items() if other in seen and one not in seen]


def _one_number(seen: set[str]) -> str:
    """Return what is said of an argument that was one number only, again and again; empty if there was another."""
    values = [fact.removeprefix("value ") for fact in seen if fact.startswith("value ")]
    if values:
        always = f"always {values[0]}{', or left out' if 'left out' in seen else ''}"
        return always if len(values) == 1 and not seen & _SIZES.keys() else ""
    return "all its numbers the same" if "all the same" in seen and "of different numbers" not in seen else ""


def show_holes(tasks: Iterable[Task], seen: Mapping[str, Mapping[str, set[str]]]) -> Iterator[str]:
    """Yield the lines about each function's parameters of which something was never seen."""
    for task in tasks:
        for function in heads(task):
            if function.name not in seen:
                yield f"{task.name}, {function.name}: no check has called it"
            for parameter in function.parameters:
                found = holes(set(seen.get(function.name, {}).get(parameter, ())))
                if found:
                    yield f"{task.name}, {function.name}, {parameter}: {'; '.join(found)}"
