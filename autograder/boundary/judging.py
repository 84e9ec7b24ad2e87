"""Functions of the student's that compare: they are told nothing of the test's."""

from __future__ import annotations

from typing import Any

from autograder.boundary.handles import (
    INSTEAD,
    Method,
    StandIn,
    class_name,
    is_object,
    peer_of,
    plain,
    plain_all,
    refusal,
)

__all__ = ["Judge", "Predicate"]


class Judge(Method):
    """A function of the student's whose name says that it compares: given nothing of the test's."""

    def __init__(self, method: StandIn, name: str) -> None:
        self.method, self._name = method, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        theirs = all(is_object(value) for value in (*args, *kwargs.values()))
        if theirs or peer_of(self.method).operators:
            return self.method(*args, **kwargs)
        raise refusal(self.method, f"{self._name} is the student's, and would be told what is expected{INSTEAD}")


class Predicate(Judge):
    """A method that compares: done here with the value that the object holds, refused if it holds none."""

    def __init__(self, owner: StandIn, name: str, method: StandIn) -> None:
        super().__init__(method, f"{class_name(owner)}.{name}")
        self._owner, self._attribute = owner, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        own = plain(self._owner)
        if not is_object(own) and hasattr(own, self._attribute):
            return getattr(own, self._attribute)(*plain_all(args), **plain_all(kwargs))
        return super().__call__(*args, **kwargs)
