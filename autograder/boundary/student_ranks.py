"""What a rank of a graded collective does, and how the student's function comes to it.

The student's process packs the function; a rank, which another process has started (see rank_host), unpacks it behind
its wall and answers what the test asks.
"""

from __future__ import annotations

import contextlib
import faulthandler
import linecache
import os
import pickle
import signal
import socket
import stat
import sys
from pathlib import Path
from typing import Any

from autograder.boundary.foreseen import import_ahead
from autograder.boundary.frames import Connection, ProcessDied
from autograder.boundary.peer import Peer
from labkit._collective import open_no_files
from labkit._launch.confinement import leave_no_trace, write_nothing
from labkit._launch.pack import copied, lines_of_cells

__all__ = ["answer_of_rank", "answer_until_end", "packed", "waiting"]

_EVERYWHERE = {"autograder", "labkit"}
"""Packages that a rank finds where it is, wherever they lie."""
_CELL = 1
"""The number of the only conversation that a rank has."""


def packed(fn: Any) -> bytes:
    """Return a function with what it needs of the process that it comes from. Raises TypeError if it cannot be copied.

    Modules beside the notebook go along: cells may have written them.
    """
    import cloudpickle

    here = [module for module in list(sys.modules.values()) if _lies_here(module)]
    for module in here:
        cloudpickle.register_pickle_by_value(module)
    try:
        function = copied("collective", fn)
    finally:
        for module in here:
            cloudpickle.unregister_pickle_by_value(module)
    return pickle.dumps(([*map(str, sys.path)], dict(os.environ), lines_of_cells(), function))


def _lies_here(module: Any) -> bool:
    file, name = getattr(module, "__file__", None), getattr(module, "__name__", None)
    if not isinstance(file, str) or not isinstance(name, str) or name.partition(".")[0] in _EVERYWHERE:
        return False
    return Path(file).is_relative_to(Path.cwd()) and "site-packages" not in file


def answer_of_rank(rank: int, world_size: int, door: str, packed: bytes) -> None:
    """Be one rank: answer until the test hangs up.

    What ranks tell each other goes through the test, which counts it. What is unpacked may be a student's own code
    (`__reduce__`), so the wall stands before. Before the rank hears anything of its own, the second one does: what it
    knows then must not outlast it.
    """
    from autograder.boundary.student import Agent

    with waiting(socket.socket(socket.AF_UNIX)) as stream:
        stream.connect(door)
        stream.sendall(bytes([rank]))
        write_nothing()
        _close_files()
        path, environment, lines, function = pickle.loads(packed)
        sys.path[:] = path
        os.environ.update({name: value for name, value in environment.items() if name not in os.environ})
        linecache.cache.update(lines)
        owner = Agent()
        fn = pickle.loads(function)
        import_ahead(fn)
        owner.begin({"fn": fn})
        peer = Peer(Connection(stream), owner, writable=True, only_when_asked=True)
        peer.begin(_CELL)
        open_no_files()  # says why, before the kernel says no
        leave_no_trace()
        peer.send("here")
        answer_until_end(peer)


def _close_files() -> None:
    """Close what is open for writing, which no wall sees: where the launch would have a rank's stack written."""
    faulthandler.disable()
    faulthandler.unregister(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    descriptors = Path("/proc/self/fd")
    for number in [int(place.name) for place in descriptors.iterdir()] if descriptors.exists() else ():
        with contextlib.suppress(OSError):
            if number > 2 and not stat.S_ISSOCK(os.fstat(number).st_mode):
                os.close(number)


def waiting(stream: socket.socket) -> socket.socket:
    """Return a socket that waits as long as it takes, whatever the student's code has made the default."""
    stream.settimeout(None)
    return stream


def answer_until_end(peer: Peer) -> bool:
    """Answer what the test asks until it ends, or hangs up; return whether those below go on with objects of its.

    An interrupt ends that too, the grader's or one that the student's code raises itself: the test hears of it.
    """
    try:
        while (message := peer.next())[0].get("k") != "end":
            peer.answer(*message)
        return message[0].get("holds") is True
    except ProcessDied:
        return False
    except KeyboardInterrupt:
        with contextlib.suppress(ProcessDied):
            peer.send("gone")
        return False
