"""What checks ask about changes in place: of arguments, of results, and of memory that two of them have in common."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from labkit._assertions import Mismatch, same, snapshot
from labkit._memory import common
from labkit._values import remotes

__all__ = ["separate", "shared", "still", "unchanged"]


@contextlib.contextmanager
def unchanged(
    hint: str = "work on a copy, or use an operator that returns a new array", **arrays: Any
) -> Iterator[None]:
    """Expect that the body leaves arrays, or lists and the like, as they were: `with check.unchanged(x=x): relu(x)`.

    They are arguments, or what an earlier call has returned. A tensor that asked for a gradient still does. Comparing
    x afterwards is not the same: a grader hands out copies, and only here asks what became of them.
    """
    before = {name: snapshot(value, name) for name, value in arrays.items()}
    for remote in remotes:
        remote.forget_changes(list(arrays.values()))
    yield
    for name, value in arrays.items():
        try:
            same(snapshot(value, name), before[name])
            changed = any(remote.was_changed(value) for remote in remotes)
        except Mismatch:
            changed = True
        if changed:
            said = f"expected {name} to stay as it was, but the call changed it in place"
            raise Mismatch(said, hint, sort="the call changed an argument in place")


def separate(result: Any, *others: Any, name: str = "", hint: str = "") -> None:
    """Expect that what a call has returned has no object and no memory in common with others, as they were handed over.

    result: lists, dictionaries, sets, arrays, tensors, and these in one another. others: arguments of the call, or
    what other calls have returned: `check.separate(relu(x), x)`. Who writes to the one must not change the other.
    """
    found = any(remote.common(result, other) for remote in remotes for other in others)
    if found or any(common(result, other) for other in others):
        said = f"expected {name or 'the result'} to be new, but its memory is that of an argument or an earlier result"
        raise Mismatch(said, hint, sort="the result is not new: it has memory in common with something else")


def shared(value: Any) -> Any:
    """Return an argument for a function whose task is to change it in place: `sort(check.shared(numbers))`.

    A grader hands out copies, so that no function can move the goal; of this one it takes the changes over.
    """
    for remote in remotes:
        remote.share(value)
    return value


def still(got: Any, agree: Callable[[Any], None], name: str, hint: str) -> None:
    """Expect that what came of an earlier call agrees as it is now, too. In a notebook it is now what it is.

    A grader has a copy from the time when it came: a later call may have written to what the student's code keeps.
    """
    for remote in remotes:
        later = remote.now(got)
        if later is not got:
            try:
                agree(later)
            except Mismatch:
                said = "expected what a call has returned to stay as it was, but a later call changed it"
                sort = "a later call changed what an earlier one had returned"
                raise Mismatch(f"{name}: {said}" if name else said, hint, sort=sort) from None
