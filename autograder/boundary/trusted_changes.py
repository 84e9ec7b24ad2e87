"""What the trusted end hears of arguments that the student's code has changed in place, and does about it."""

from __future__ import annotations

from typing import Any

from autograder.boundary.again import HandedOver
from autograder.boundary.crossed import Crossed
from autograder.boundary.discarded import is_discarded
from autograder.boundary.exchanges import Heard, alike, within
from autograder.boundary.mirror import update
from autograder.boundary.peer import Peer
from autograder.boundary.sizes import is_array, size_of

__all__ = ["ChangesOfStudents"]


class ChangesOfStudents:
    """See owner.ChangesHeard. Nothing of the test's is changed but what the test shares, and gradients.

    Attributes:
        nothing: whether a list, an array or the like of no items came as a result.
        altered: whether the student's code changed what it was handed, a copy, and was not asked to.
        rewritten: whether it wrote to what it had returned, of which the test still has a copy.
        earlier: whether it changed, in a later call, what a test before had handed it.
        crossed: what went there or came from there, as it looked then.
    """

    def __init__(self, peer: Peer | None, *, takes_nothing: bool = True, handed_over: HandedOver | None = None) -> None:
        """peer: to the notebook's process. takes_nothing: whether an array of no items may come as a result.

        handed_over: is told what goes there.
        """
        self._notebook, self._handed_over = peer, handed_over
        self.crossed = Crossed()
        self._heard = Heard(peer, self.crossed)
        self._before: dict[int, tuple[Any, Any]] = {}
        self._changed: dict[int, Any] = {}
        self._shared: dict[int, Any] = {}
        self._watching: dict[int, Any] = {}
        self._copies: dict[int, Any] = {}
        self._sent = 0
        self._peer: Peer | None = None
        self.altered = self.rewritten = self.nothing = self.earlier = False
        self._takes_nothing = takes_nothing

    def watched(self, peer: Peer, mutable: list[Any]) -> list[list[int]]:
        """Have each copy watched that is handed out while its original is."""
        found = []
        self.crossed.note(mutable)
        for place, value in enumerate(mutable):
            if id(value) in self._watching:
                self._sent, self._peer = self._sent + 1, peer
                self._copies[self._sent] = value
                found.append([place, self._sent])
        return found

    def sent(self, peer: Peer, number: int, mutable: list[Any], size: int) -> None:
        """Note what went along with a question of this number."""
        self._heard.sent(peer, number, mutable, size)
        if self._handed_over and peer is self._notebook:
            self._handed_over.note(number, mutable)

    def gone(self, peer: Peer) -> list[int]:
        """See Heard.gone."""
        return self._heard.gone(peer)

    def told(self, peer: Peer, rewritten: Any) -> None:
        """Note which results the student's end says that its code has written to: number and place of each."""
        for one in rewritten if type(rewritten) is list else ():
            if type(one) is list and len(one) == len(("number", "place")):
                self.altered = self.altered or type(one[0]) is str  # what a function of the test's had given
                self.rewritten = self.rewritten or self._heard.has(peer, *one)

    def look_back(self, peer: Peer, *, earlier: bool) -> None:
        """Ask, at the end, which copies of what went there have been changed by later calls than those they went with.

        An object may keep one. What the test shares is meant to be changed. earlier: ask of tests before, too.
        """
        if not (earlier or self._heard.any_sent):
            return
        found = peer.ask("altered", None, [earlier])
        for one in found if type(found) is list else ():
            number, place = one if type(one) is tuple and len(one) == len(("number", "place")) else (0, 0)
            self.earlier = self.earlier or (earlier and type(number) is str)
            value = self._heard.sent_at(number, place)
            self.altered = self.altered or (value is not None and id(value) not in self._shared)

    def handed(self, value: Any) -> bool:
        """Whether this very object went along with a question."""
        return self._heard.has_sent(value)

    def take(self, peer: Peer, sent: list[Any], changes: Any) -> None:
        """Note which arguments the student's code says to have changed; bring up to date what the test shares."""
        if not isinstance(changes, dict):
            return
        values = changes.get("values")
        for place, value in values.items() if isinstance(values, dict) else ():
            if type(place) is int and 0 <= place < len(sent):
                self._changed[id(sent[place])] = sent[place]
                if id(sent[place]) in self._shared:
                    update(sent[place], value)
                else:
                    self.altered = True
        gradients = changes.get("gradients")
        if isinstance(gradients, dict):
            peer.leaves.adopt({key: value for key, value in gradients.items() if type(key) is str})

    def came(self, peer: Peer, number: int, mutable: list[Any], size: int) -> None:
        """The test may write to what it was given, and the student's code to what it has of that.

        AssertionError for a result of no items where none may be: whatever a test asks of all of them holds.
        """
        if number > 0 and len(mutable) == 1 and _is_empty(mutable[0]):
            self.nothing = True
            if is_array(mutable[0]) and not self._takes_nothing and not is_discarded():
                raise AssertionError("an array of no items, where the instructor's solution returns none")
        self.crossed.note(mutable)
        self._heard.came(peer, number, mutable, size)

    def now(self, value: Any) -> Any:
        """See Trusted.now. What the test has written to itself is what it is."""
        old = self._heard.old(value)
        if not old or any(map(self.crossed.was_written, within(value))):
            return value
        return self._heard.now(value, old)

    def common(self, one: Any, other: Any) -> bool:
        """See Trusted.common."""
        return self._heard.common(one, other)

    def share(self, value: Any) -> None:
        """See Trusted.share."""
        self._shared[id(value)] = value

    def begin_to_watch(self, value: list[Any]) -> None:
        """Have copies of these values watched from now on, and those of what they contain."""
        self._watching = {id(part): part for part in within(value)}
        self._copies = {number: own for number, own in self._copies.items() if id(own) not in self._watching}
        for part in within(value):
            self._changed.pop(id(part), None)
        self._before = {id(one): (one, self.now(one)) for one in value}

    def was_changed(self, value: Any) -> bool:
        """Whether the student's code says, asked now, that it has changed a copy of this value or of a part of it."""
        for number in self._peer.ask("changed") if self._peer and self._copies else ():
            if type(number) is int and number in self._copies:
                self._changed[id(self._copies[number])] = self._copies[number]
        if any(id(part) in self._changed for part in within(value)):
            return True
        return not alike(self._before.get(id(value), (value, value))[1], self.now(value))


def _is_empty(value: Any) -> bool:
    return not (size_of(value) if is_array(value) else len(value))
