"""What differs between the two ends of a conversation: what each knows, may do, and tells of what it owns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from autograder.boundary.peer import Peer

__all__ = ["ChangesHeard", "ChangesMade", "Owner"]


class Owner(Protocol):
    """What differs between the two ends. `Peer` calls its methods, each while a message is written, read or answered.

    Attributes:
        graphs_stay: whether the graph of a tensor that requires gradients stays at this end.
        fatal: exceptions that end the conversation instead of being reported.
        changes_made: at the end whose code may change what it was handed: what it tells of that. Else None.
        changes_heard: at the end that is told. Else None.
    """

    graphs_stay: bool
    fatal: tuple[type[BaseException], ...]

    @property
    def changes_made(self) -> ChangesMade | None:
        """See above."""

    @property
    def changes_heard(self) -> ChangesHeard | None:
        """See above."""

    def name(self, value: Any, encode: Callable[[Any], Any]) -> dict[str, Any] | None:
        """Return the JSON by which the other end finds a value of its own in place of this one; None if it cannot.

        Called by `Peer.refer`, for each value that does not travel.
        """

    def find(self, reference: Mapping[str, Any], decode: Callable[[Any], Any]) -> Any:
        """Return what such JSON stands for at this end; WireError if the other end may not name it.

        Called by `Peer.resolve`, for a reference that is no handle.
        """

    def stand_in(
        self, peer: Peer, handle: int, description: Mapping[str, Any], decode: Callable[[Any], Any], known: Any
    ) -> Any:
        """Return what stands for an object of the other end; known: what did so far, if it was heard of before.

        Called by `Peer.resolve`, for a handle of the other end's.
        """

    def handle_of(self, value: Any) -> int | None:
        """Return the handle of such a stand-in; None for everything else. Called by `Peer.refer`."""

    def describe(self, value: Any, encode: Callable[[Any], Any]) -> dict[str, Any]:
        """Return what the other end is told about an object of this end. Called by `Peer.refer`."""

    def perform(self, operation: str, target: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
        """Do what the other end asks for. Called by `Peer.answer`."""

    def place_of(self, peer: Peer, value: Any) -> tuple[Any, ...] | None:
        """Return where this value has gone to the other end of a peer; None if it has not. See wire.References."""

    def own_at(self, place: Any, value: Any) -> Any:
        """Return what came there, if it is as this value is; else the value. See wire.References."""

    def before_asking(self, peer: Peer) -> None:
        """Ask what has to be asked before anything else. Called by `Peer.ask`, of which it may make use."""


class ChangesMade(Protocol):
    """What the student's end tells about arguments and results that its code has changed in place."""

    def snapshot(self, mutable: list[Any]) -> list[Any]:
        """Return what tells later whether these values were changed. `Peer.answer` calls it before `perform`."""

    def watch(self, mutable: list[Any], places: Any) -> None:
        """Watch what the other end asks for beyond the call. `Peer.answer` calls it before `perform`."""

    def forget(self, numbers: Any) -> None:
        """Forget the results of these questions. `Peer.answer` calls it before `perform`."""

    def changes(self, peer: Peer, mutable: list[Any], before: list[Any]) -> dict[str, Any]:
        """Return what the other end is told about changes. `Peer.answer` calls it after `perform`."""

    def rewritten(self) -> Iterable[tuple[int | str, int]]:
        """Yield number and place of earlier results that are others now. `Peer` calls it with each message."""

    def given(self, number: int, values: list[Any], size: int) -> None:
        """Note what came with the answer to a question of this end. `Peer.ask` calls it."""

    def note(self, number: Any, arguments: list[Any], results: list[Any], *about: Any) -> None:
        """Note what went with the question of this number and with its answer. `Peer.answer` calls it at the end.

        about: the sizes of both messages; the snapshots of the arguments, if they are as these were.
        """


class ChangesHeard(Protocol):
    """What the trusted end makes of that, and what it asks to be told."""

    def watched(self, peer: Peer, mutable: list[Any]) -> list[list[int]]:
        """Return place and number of each of these values that the other end shall watch. `Peer.ask` calls it."""

    def gone(self, peer: Peer) -> list[int]:
        """Return the numbers of questions whose results are of no interest any more. `Peer.ask` calls it."""

    def take(self, peer: Peer, sent: list[Any], changes: Any) -> None:
        """Note what the other end told with an answer, before its value is used. `Peer.ask` calls it."""

    def told(self, peer: Peer, rewritten: Any) -> None:
        """Note which earlier results the other end says to be others now. `Peer` calls it with each message."""

    def sent(self, peer: Peer, number: int, mutable: list[Any], size: int) -> None:
        """Note what of a question of this number can be changed. `Peer.ask` calls it."""

    def came(self, peer: Peer, number: int, mutable: list[Any], size: int) -> None:
        """Note what of its answer's value can be changed. `Peer.ask` calls it.

        `Peer.answer` does with what a question brings; its number is below zero then.
        """
