"""What the head finds out about each node before it starts anything."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import metadata

from labkit._cluster.nodes import ClusterError, Node
from labkit._cluster.ssh import command, explain

__all__ = ["Facts", "examine", "expect_alike"]

_ANSWER_S = 60.0
_AT_ONCE = 32
_SHOWN_LINES = 12


@dataclass(frozen=True)
class Facts:
    """What a node says of itself.

    labkit, torch: versions, "" if not installed. head: the address from which it sees the head; address: its own, as
    the head sees it, or that of the interface asked for, both "" on this machine. interface: the one with this address.
    interfaces: all that have one. free_port: one that nobody used.
    """

    labkit: str
    torch: str
    cores: float
    gpus: list[str]
    head: str
    address: str
    interface: str
    interfaces: list[str]
    free_port: int


def examine(
    nodes: Sequence[Node], *, python: str = "python", interface: str = "", timeout_s: float = _ANSWER_S
) -> dict[Node, Facts | ClusterError]:
    """Return what each node says of itself, or why it says nothing; asks all at once."""

    def ask(node: Node) -> Facts | ClusterError:
        try:
            return _ask(node, python, interface, timeout_s)
        except ClusterError as error:
            return error

    with ThreadPoolExecutor(min(len(nodes), _AT_ONCE)) as pool:
        return dict(zip(nodes, pool.map(ask, nodes), strict=True))


def _ask(node: Node, python: str, interface: str, timeout_s: float) -> Facts:
    request = json.dumps({"what": "probe", "interface": interface}) + "\n"
    try:
        done = subprocess.run(
            command(node, python),
            input=request,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
        )
    except FileNotFoundError as error:
        raise ClusterError(f"{node.name}: there is no ssh client on this machine", "install openssh-client") from error
    except subprocess.TimeoutExpired as error:
        raise ClusterError(f"{node.name}: no answer within {timeout_s:g} s", "is the node overloaded?") from error
    # A login shell there may greet: the answer is the last line.
    answer = done.stdout.strip().rpartition("\n")[2]
    try:
        return Facts(**json.loads(answer))
    except (TypeError, ValueError):
        said = "\n".join((done.stderr.strip() or done.stdout.strip()).splitlines()[-_SHOWN_LINES:])
        said = said or f"no answer, exit code {done.returncode}"
        raise ClusterError(f"{node.name}: {said}", explain(node, said)) from None


def expect_alike(found: Mapping[Node, Facts | ClusterError], *, interface: str = "") -> dict[Node, Facts]:
    """Return what the nodes say of themselves.

    Raises ClusterError if some do not answer, have other versions than this machine, or lack the interface.
    """
    silent = [str(error) for error in found.values() if isinstance(error, ClusterError)]
    if silent:
        raise ClusterError("\n".join(silent))
    facts = {node: fact for node, fact in found.items() if isinstance(fact, Facts)}
    own = {"labkit": metadata.version("dl-scale-practicum"), "torch": metadata.version("torch")}
    getters: dict[str, Callable[[Facts], str]] = {"labkit": lambda f: f.labkit, "torch": lambda f: f.torch}
    for what, get in getters.items():
        # 2.13.0+cpu and 2.13.0+cu130 are builds of one version.
        other = {n.name: get(f) for n, f in facts.items() if get(f).partition("+")[0] != own[what].partition("+")[0]}
        if other:
            shown = ", ".join(f"{name} has {version or 'none'}" for name, version in other.items())
            raise ClusterError(f"{what} differs: {shown}, this machine {own[what]}", "start all nodes from one image")
    for node, fact in facts.items():
        if interface and not fact.address:
            there = ", ".join(fact.interfaces)
            raise ClusterError(f"{node.name}: no interface {interface} with an address", f"there are {there}")
        if not (fact.address or node.local):
            raise ClusterError(
                f"{node.name}: its ssh server does not say which address it has", "--interface names one"
            )
    return facts
