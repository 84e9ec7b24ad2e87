"""The machines of a cluster, as a hosts file or the command line names them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

__all__ = ["ClusterError", "Node", "hosts_file", "named", "read_hosts"]

_LINE = re.compile(
    r"(?:(?P<user>\w[\w.-]*)@)?(?:\[(?P<v6>[0-9a-fA-F:.]+(?:%\w+)?)\]|(?P<host>\w[\w.-]*))(?::(?P<port>\d{1,5}))?"
    r"(?:\s+(?P<ranks>\d{1,4}))?"
)
_FORM = (
    "a node is host, host:port or user@host:port, and may be followed by its number of ranks; localhost is this machine"
)


class ClusterError(RuntimeError):
    """Nodes could not be used, or a job on them failed; the text says where, what and, as a hint, what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message}\nhint: {hint}" if hint else message)


@dataclass(frozen=True)
class Node:
    """A machine that runs ranks. port, ranks: None if not given. name: how messages call it."""

    host: str
    port: int | None = None
    user: str = ""
    ranks: int | None = None
    name: str = ""

    @property
    def local(self) -> bool:
        """Whether it is this machine, which is not reached by ssh."""
        return self.host == "localhost" and self.port is None


def hosts_file() -> Path:
    """Return the hosts file: $LABKIT_HOSTS or ~/.cluster/hosts."""
    return Path(os.environ.get("LABKIT_HOSTS") or Path.home() / ".cluster" / "hosts")


def read_hosts(file: Path) -> list[Node]:
    """Return the nodes of a hosts file, one a line; # begins a comment.

    Raises ClusterError if it is not there or empty, has a malformed line, or names a node twice.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        hint = "write the nodes into it, one host[:port] [ranks] a line, or name them with --host"
        raise ClusterError(f"{file}: {error.strerror or error}", hint) from error
    lines = [(f"{file}:{number}", line.partition("#")[0].strip()) for number, line in enumerate(text.splitlines(), 1)]
    nodes = named((where, line) for where, line in lines if line)
    if not nodes:
        raise ClusterError(f"{file}: it names no node", f"one host[:port] [ranks] a line; {_FORM}")
    return nodes


def named(entries: Iterable[tuple[str, str]]) -> list[Node]:
    """Return the nodes that these texts name; each comes with where it was found.

    Raises ClusterError for a malformed text and for a node that is named twice.
    """
    seen: dict[tuple[str, int | None], str] = {}
    nodes = []
    for where, text in entries:
        node = _node(where, text)
        if first := seen.get((node.host, node.port)):
            raise ClusterError(f"{where}: {text.split()[0]} is there already, see {first}", "name each node once")
        seen[node.host, node.port] = where
        nodes.append(node)
    hosts = [node.host for node in nodes]
    return [replace(node, name=_name(node, hosts.count(node.host) == 1)) for node in nodes]


def _name(node: Node, alone: bool) -> str:
    if alone or node.port is None:
        return node.host
    return f"[{node.host}]:{node.port}" if ":" in node.host else f"{node.host}:{node.port}"


def _node(where: str, text: str) -> Node:
    found = _LINE.fullmatch(text)
    if not found:
        raise ClusterError(f"{where}: not a node: {text!r}", _FORM)
    port = int(found["port"]) if found["port"] else None
    ranks = int(found["ranks"]) if found["ranks"] else None
    if port is not None and not 0 < port < 65536:
        raise ClusterError(f"{where}: no such port: {port}", "a number from 1 to 65535")
    if ranks == 0:
        raise ClusterError(f"{where}: no ranks on {found['host']}", "at least 1, or leave the line out")
    return Node(found["v6"] or found["host"], port, found["user"] or "", ranks)
