"""What an object of the test's, and its class, say of themselves to the student's process."""

from __future__ import annotations

import dataclasses
from typing import Any

__all__ = ["description_of", "hashes", "says_itself", "shows_all"]


def says_itself(kind: type, operation: str) -> bool:
    """Whether a class of the test's says itself what its objects are as text."""
    names = (
        {f"__{operation}__", "__repr__"} if vars(object)["__str__"] is _of(kind, "__str__") else {f"__{operation}__"}
    )
    return any(names & vars(base).keys() for base in kind.__mro__ if base.__module__ == "__main__")


def description_of(value: Any) -> dict[str, Any]:
    """Return the name of an object's class; of one of the test's own also whether it is hashed, and its fields."""
    found: dict[str, Any] = {"k": type(value).__name__}
    if type(value).__module__ != "__main__":
        return found
    if (hashed := _hashed(value)) is not None:
        found["s"] = hashed
    if dataclasses.is_dataclass(value) and shows_all(value):
        found["f"] = [field.name for field in dataclasses.fields(value)]
    return found


def _hashed(value: Any) -> bool | None:
    """Whether a class of the test's hashes its objects by what they hold; False where it says that none is hashed."""
    found = hashes(type(value))
    return None if found and not shows_all(value) else found


def hashes(kind: type) -> bool | None:
    """Whether a class says itself how its objects are hashed; False where it says that none is."""
    own = _of(kind, "__hash__")
    if own is None:
        return False
    return True if own is not vars(object)["__hash__"] else None


def shows_all(value: Any) -> bool:
    """Whether an object has no names of its own use: what it says of itself may tell these."""
    slots = [name for base in type(value).__mro__ for name in (vars(base).get("__slots__") or ())]
    return not any(name.startswith("_") for name in (*getattr(value, "__dict__", ()), *slots))


def _of(kind: type, name: str) -> Any:
    """Return what a class has under a name, of its own or of a base."""
    return next(vars(base)[name] for base in kind.__mro__ if name in vars(base))
