"""Which kinds of arguments a lab's checks have never used: where a plausible mistake would not be seen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from autograder.proof.mutants import Task, heads
from autograder.proof.sites import Solution

__all__ = ["Seen", "holes", "noting", "read_seen", "show_holes"]

Seen = dict[str, dict[str, set[str]]]
"""By function and parameter, what has been true of an argument."""
_NEVER = {
    "with negative numbers": ("without negative numbers", "never negative"),
    "with a zero": ("without a zero", "never 0"),
    "not whole": ("whole", "only whole numbers"),
    "not exact in 16 bits": ("exact in 16 bits", "only numbers that 16 bits hold exactly"),
    "with ties": ("without ties", "never two equal ones"),
    "unsorted": ("sorted", "only in order"),
    "not square": ("square", "only square"),
    "with a side of 1": ("with no side of 1", "never with a side of 1"),
    "not contiguous": ("contiguous", "only contiguous"),
}
"""Where only the second has been seen, a mistake about the first would not show; and how that is said."""
_SIZES = {"an array": ("empty", "of one element"), "a sequence": ("empty", "of one item")}


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
    found = [said for one, (other, said) in _NEVER.items() if other in seen and one not in seen]
    for kind, sizes in _SIZES.items():
        found += [f"never {size}" for size in sizes if kind in seen and size not in seen]
    dtypes = sorted(fact for fact in seen if fact.startswith("dtype "))
    found += [f"only {dtypes[0].removeprefix('dtype ')}"] if len(dtypes) == 1 else []
    if "left out" in seen and len(seen) == 1:
        return ["always left out: its default alone was tried"]
    return found


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
