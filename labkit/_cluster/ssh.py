"""How a node is reached: the command that starts a program on it, and what its failure means."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

from labkit._cluster.nodes import Node

__all__ = ["ALIVE_S", "command", "explain", "key_file"]

# A node that does not answer for so long is given up, on both sides.
ALIVE_S = 15
_OPTIONS = {
    "BatchMode": "yes",
    "ConnectTimeout": "10",
    "ServerAliveInterval": "5",
    "ServerAliveCountMax": str(ALIVE_S // 5),
    # A node makes its host key when it starts: there is nobody who could have said before which it is.
    "StrictHostKeyChecking": "accept-new",
    # One connection a session: what it runs ends with it.
    "ControlPath": "none",
    "LogLevel": "ERROR",
}
_PROGRAM = ("-P", "-m", "labkit._cluster.node_program")
_HINTS = (
    (r"Permission denied", "the node takes another key: its authorised key has to be the public half of yours"),
    (
        r"HOST IDENTIFICATION HAS CHANGED|Host key verification failed",
        "if the node was made again, forget its old key: ssh-keygen -R '{known}'",
    ),
    (r"Could not resolve|not known", "no such name: write the node's address, or fix the name"),
    (r"Connection refused", "no ssh server listens there: is the node's container running, and is the port right?"),
    (r"timed out|No route|unreachable", "is the node running, and does its firewall let ssh through?"),
    (
        r"No module named '?labkit|not found|No such file",
        "the kit's Python is not on the PATH there: --python names it",
    ),
    (r"UNPROTECTED|bad permissions", "only you may read the key: chmod 600 it"),
)


def key_file() -> Path | None:
    """Return the private key to use: $LABKIT_SSH_KEY, or ~/.cluster/key if it is there; None leaves it to ssh."""
    if given := os.environ.get("LABKIT_SSH_KEY"):
        return Path(given)
    usual = Path.home() / ".cluster" / "key"
    return usual if usual.exists() else None


def command(node: Node, python: str = "python") -> list[str]:
    """Return the command that runs the node's program there; `python` is the interpreter in an ssh session."""
    if node.local:
        return [sys.executable, *_PROGRAM]
    words = ["ssh", "-T", "-a", "-x"]
    for name, value in _OPTIONS.items():
        words += ["-o", f"{name}={value}"]
    if key := key_file():
        words += ["-i", str(key), "-o", "IdentitiesOnly=yes"]
    if node.port:
        words += ["-p", str(node.port)]
    if node.user:
        words += ["-l", node.user]
    return [*words, "--", node.host, shlex.join([python, *_PROGRAM])]


def explain(node: Node, said: str) -> str:
    """Return what to do about what ssh, or the shell at its other end, said."""
    known = f"[{node.host}]:{node.port}" if node.port else node.host
    return next((hint.format(known=known) for pattern, hint in _HINTS if re.search(pattern, said)), "")
