"""The head's end of a node's part of a job: what it sends, and what comes back."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from queue import Queue
from threading import Thread
from typing import IO, Any

__all__ = ["Ended", "Line", "Session"]


@dataclass(frozen=True)
class Line:
    """A line that a node's local rank printed; rank None: torchrun's agent."""

    node: int
    rank: int | None
    text: str


@dataclass(frozen=True)
class Ended:
    """How a node's part ended. code: the agent's exit code, None if the connection was lost before.

    failures: the exit code of each rank that failed, by its number. said: ssh's last words, or the node's.
    """

    node: int
    code: int | None
    failures: dict[int, int] = field(default_factory=dict)
    said: str = ""


class Session:
    """A node's program, started; its lines and its end go into `events`."""

    def __init__(
        self,
        node: int,
        command: Sequence[str],
        request: dict[str, Any],
        archive: IO[bytes],
        events: Queue[Line | Ended],
    ) -> None:
        self._node, self._events = node, events
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the session)
        # Its own session: Ctrl-C in the terminal must not reach ssh, which has to stay until the ranks have ended.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, start_new_session=True
        )
        self._sent = Thread(target=self._send, args=(request, archive), daemon=True)
        self._heard = Thread(target=self._listen, daemon=True)
        self._sent.start()
        self._heard.start()

    def close(self) -> None:
        """Ask the node to end its part: its standard input ends."""
        if self._process.stdin and not self._sent.is_alive():
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        elif self._sent.is_alive():
            self._process.terminate()  # it does not take the files; without its connection the node ends, too

    def join(self, timeout_s: float) -> bool:
        """Wait until the node's part has ended; return whether it has. The connection is closed in any case."""
        self._heard.join(timeout_s)
        gone = not self._heard.is_alive()
        self._process.kill()
        self._process.wait()
        self._heard.join()
        self._errors.close()
        return gone

    def _send(self, request: dict[str, Any], archive: IO[bytes]) -> None:
        pipe, size, sent = self._process.stdin, os.fstat(archive.fileno()).st_size, 0
        if pipe:
            with contextlib.suppress(OSError):  # if it has ended, _listen says how
                pipe.write(json.dumps({**request, "bytes": size}).encode() + b"\n")
                while sent < size:
                    sent += pipe.write(os.pread(archive.fileno(), 1 << 20, sent))
                pipe.flush()

    def _listen(self) -> None:
        ended, strange = None, b""
        pipe = self._process.stdout
        if pipe:
            with pipe:
                for line in pipe:
                    try:
                        event = json.loads(line)
                        if event["kind"] == "line":
                            self._events.put(Line(self._node, event["rank"], event["text"]))
                        else:
                            failures = {int(rank): code for rank, code in event["failures"].items()}
                            ended = Ended(self._node, event["code"], failures)
                    except (ValueError, KeyError, TypeError):  # a login shell's greeting
                        strange = line
        self._process.wait()
        self._errors.seek(0)
        said = (self._errors.read() or strange).decode("utf-8", "replace").strip()
        self._events.put(ended or Ended(self._node, None, said=said))
