"""What differs between the two ends of a conversation: what each knows, may do, and tells of what it owns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from autograder.boundary.peer import Peer

__all__ = ["Owner"]


class Owner(Protocol):
    """What differs between the two ends."""

    graphs_stay: bool
    fatal: tuple[type[BaseException], ...]
    """Exceptions that end the conversation instead of being reported."""

    def name(self, value: Any, encode: Callable[[Any], Any]) -> dict[str, Any] | None:
        """Return the JSON by which the other end finds a value of its own in place of this one; None if it cannot."""

    def find(self, reference: Mapping[str, Any], decode: Callable[[Any], Any]) -> Any:
        """Return what such JSON stands for at this end; WireError if the other end may not name it."""

    def stand_in(
        self, peer: Peer, handle: int, description: Mapping[str, Any], decode: Callable[[Any], Any], known: Any
    ) -> Any:
        """Return what stands for an object of the other end; known: what did so far, if it was heard of before."""

    def handle_of(self, value: Any) -> int | None:
        """Return the handle of such a stand-in; None for everything else."""

    def describe(self, value: Any, encode: Callable[[Any], Any]) -> dict[str, Any]:
        """Return what the other end is told about an object of this end."""

    def perform(self, operation: str, target: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
        """Do what the other end asks for."""

    def snapshot(self, mutable: list[Any]) -> list[Any]:
        """Return what tells, after `perform`, whether these values were changed."""

    def changes(self, peer: Peer, mutable: list[Any], before: list[Any]) -> dict[str, Any]:
        """Return what the other end is told about changes."""

    def take_changes(self, peer: Peer, sent: list[Any], changes: Any) -> None:
        """Take note of what the other end told."""

    def watched(self, peer: Peer, mutable: list[Any]) -> list[list[int]]:
        """Return place and number of each of these values that the other end shall watch beyond the call."""

    def watch(self, mutable: list[Any], places: Any) -> None:
        """Watch what the other end asks for."""

    def came(self, mutable: list[Any]) -> None:
        """Take note of what can be changed of an answer."""
