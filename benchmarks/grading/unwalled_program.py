"""The process behind `unwalled.py`: imports modules once, then forks for each program.

Usage: python unwalled_program.py FD MODULE...
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import json
import os
import runpy
import socket
import sys


def main() -> None:
    """Preload, and serve until the other end is closed; a fork returns from its program and ends."""
    listener = socket.socket(fileno=int(sys.argv[1]))
    for name in sys.argv[2:]:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    listener.send(b".")
    while True:
        message, descriptors, _, _ = socket.recv_fds(listener, 1, 253)
        if not message:
            return
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if os.fork() == 0:
            listener.close()
            become(descriptors)
            return
        for descriptor in descriptors:
            os.close(descriptor)


def become(descriptors: list[int]) -> None:
    """Run the program that a request names, in this fork."""
    answers, stdin, stderr, header, *rest = descriptors
    with os.fdopen(header, "rb") as file:
        request = json.load(file)
    os.setsid()
    targets = [0, 2, *request["descriptors"]]
    beyond = max([answers, *targets]) + 1
    channel = socket.socket(fileno=fcntl.fcntl(answers, fcntl.F_DUPFD_CLOEXEC, beyond))
    os.close(answers)
    socket.send_fds(channel, [b"."], [os.pidfd_open(os.getpid())])
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, beyond) for descriptor in (stdin, stderr, *rest)]
    for descriptor, target in zip(moved, targets, strict=True):
        os.dup2(descriptor, target)
        os.close(descriptor)
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    sys.argv = [request["program"], *request["arguments"]]
    runpy.run_path(request["program"], run_name="__main__")
    channel.close()  # which says that the program has ended; so does any other end


if __name__ == "__main__":
    main()
