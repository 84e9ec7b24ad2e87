"""How far a pipeline reads ahead of its consumer: what it asks of its source, and which threads it leaves."""

from __future__ import annotations

import builtins
import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = ["read_ahead"]

_PATIENCE_S = 1.5
_QUIET_S = 0.04
_CLOSING_S = 0.2
_SETTLED_S = 1.0


class _Thrown(Exception):
    """What a consumer throws into an iterator."""


class _Source:
    """Yields its values and notes how many were asked for, and in which threads."""

    def __init__(self, values: Sequence[Any], fails: bool | str) -> None:
        self.values = values
        self.kind = fails if isinstance(fails, str) else "OSError" if fails else ""
        self.read = 0
        self.raised: Exception | None = None
        self.threads: set[threading.Thread] = set()

    def __iter__(self) -> Iterator[Any]:
        self.threads.add(threading.current_thread())  # also if there is nothing to read
        try:
            for value in self.values:
                self.threads.add(threading.current_thread())
                self.read += 1
                yield value
        except GeneratorExit:  # its reader gives up: a thread without a reader still runs when the consumer is done
            time.sleep(_CLOSING_S)
            raise
        if self.kind:
            self.raised = getattr(builtins, self.kind)("the disk is gone")
            raise self.raised

    def running(self) -> int:
        """Return how many other threads than this one have read and still run."""
        return sum(thread.is_alive() for thread in self.threads - {threading.current_thread()})


def read_ahead(
    prefetch: Callable[..., Iterator[Any]],
    *,
    items: int = 0,
    values: Sequence[Any] | None = None,
    depth: int,
    take: int | None = None,
    fails: bool | str = False,
    default: bool = False,
    throws: bool = False,
) -> dict[str, Any]:
    """Take `take` items, or all, from prefetch(source, depth), stop, and return what was seen:

    items: what came. read: how many items the source had given soon after.
    error: what was raised, in words; "" if nothing. same error: whether that is the object that the source raised. own
    thread: whether another thread than the caller's read the
    source. running: how many of these still ran when the consumer had closed the iterator. alive: how many had not
    ended 1.5 seconds later. read after: how many items the source had given then. A consumer that waits forever is
    given up after as long, with an error.

    values: what the source yields; without them 0, 1, ..., so many as items says. fails: after its last item the source
    raises OSError, or the built-in exception of this name. default: prefetch is called without a depth; the depth is
    then what is expected of it. throws: the consumer throws an exception into a generator in place of closing it.
    """
    source = _Source(range(items) if values is None else values, fails)
    seen: dict[str, Any] = {"items": [], "read": 0, "error": "", "same error": False, "running": 0}
    given = (source,) if default else (source, depth)
    consumer = threading.Thread(target=_consume, args=(prefetch, given, depth, take, throws, seen), daemon=True)
    consumer.start()
    before = -1
    while consumer.is_alive() and before != source.read + len(seen["items"]):  # nothing happens: it waits forever
        before = source.read + len(seen["items"])
        consumer.join(_PATIENCE_S)
    if consumer.is_alive():
        seen["error"] = f"TimeoutError: nothing happened for {_PATIENCE_S:g} s"
    elif isinstance(seen["error"], NotImplementedError):
        raise seen["error"]
    others = source.threads - {consumer}
    deadline = time.monotonic() + _PATIENCE_S
    for thread in others:
        thread.join(max(0.0, deadline - time.monotonic()))
    alive = sum(thread.is_alive() for thread in others)
    return {**seen, "own thread": bool(others), "alive": alive, "read after": source.read}


def _consume(
    prefetch: Callable[..., Iterator[Any]],
    given: tuple[Any, ...],
    depth: int,
    take: int | None,
    throws: bool,
    seen: Any,
) -> None:
    """Take items until there are enough of them, then close the iterator, or throw into it."""
    source = given[0]
    try:
        iterator = iter(prefetch(*given))
        while take is None or len(seen["items"]) < take:
            seen["items"].append(next(iterator))
        seen["read"] = _settled(source, len(seen["items"]) + depth)
        if throws and hasattr(iterator, "throw"):
            with contextlib.suppress(_Thrown):
                iterator.throw(_Thrown())
        elif hasattr(iterator, "close"):
            iterator.close()
        seen["running"] = source.running()
    except StopIteration:
        seen["read"] = source.read
    except NotImplementedError as error:
        seen["error"] = error
    except Exception as error:
        seen["error"] = f"{type(error).__name__}: {error}"
        seen["same error"] = error is source.raised


def _settled(source: _Source, expected: int) -> int:
    """Wait until the source has given what is expected, and a while for more; return how many items it gave."""
    deadline = time.monotonic() + _SETTLED_S  # below _PATIENCE_S: else the consumer would seem to wait forever
    while source.read < min(expected, len(source.values)) and time.monotonic() < deadline:
        time.sleep(_QUIET_S / 10)
    time.sleep(_QUIET_S)
    return source.read
