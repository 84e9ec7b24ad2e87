"""Lab 11's model on links of known rate: two network namespaces joined by a cable that the kernel throttles.

python -m benchmarks.links [--json]

Two ranks, one in each namespace, send messages to each other; alpha and beta are fitted to these as in the lab, and the
lab's formula predicts the lab's ring all-reduce of an array that is larger than any of them. It needs Linux, iproute2's
`tc`, and namespaces of an ordinary user, or root.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

__all__ = ["LINKS", "Found", "measure", "missing"]

_PROGRAM = (sys.executable, "-m", "benchmarks.links")
_PORT = 29511  # in namespaces of our own: nobody else has it
# The queue takes whatever is under way: a lost packet would stand for a slow link.
_QUEUE = "32mb"
_REPEAT, _FIT_REPEAT = 5, 6


@dataclass(frozen=True)
class Link:
    """A throttled cable. rate: bit/s; largest: bytes of the largest message to fit; array: bytes of the all-reduce.

    burst: what has been saved up and goes through at once; segments: packets that the kernel hands on in one piece,
    which must fit into the burst. Small ones keep the rate from the first bytes on, large ones spare the processor: at
    1 Gbit/s a packet takes 12 microseconds.
    """

    rate: float
    largest: int
    array: int
    burst: int
    segments: int


LINKS = (
    Link(1e9, largest=16 << 20, array=32 << 20, burst=70_000, segments=44),
    Link(1e8, largest=1 << 20, array=3 << 20, burst=3_200, segments=1),
)


@dataclass(frozen=True)
class Found:
    """What was found on a link. rate, fitted: its own and the fitted one, bit/s; alpha and times in seconds.

    measured: the all-reduce with a connection for each direction; shared: with the labs' Communicator, whose ranks have
    one connection for both, so that a rank's notice that it is ready to receive waits behind what it sends.
    """

    rate: float
    fitted: float
    alpha: float
    array: int
    predicted: float
    measured: float
    shared: float


def missing() -> str:
    """Return what this machine lacks for it, or ""."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    for tool in ("ip", "tc", "unshare", "nsenter"):
        if not shutil.which(tool, path=path):
            return f"{tool} is absent: install iproute2 and util-linux"
    lay = (
        "ip link add link0 type veth peer name link1 && tc qdisc add dev link0 root tbf rate 1gbit burst 70kb limit 1mb"
    )
    tried = _in_namespace(["sh", "-c", lay])
    return "" if tried.returncode == 0 else f"no namespaces with throttled links here: {tried.stderr.strip()}"


def measure() -> list[Found]:
    """Return what was found on each link; raises RuntimeError with what the ranks said if they fail."""
    done = _in_namespace([*_PROGRAM, "--inside"], timeout_s=120)
    if done.returncode:
        raise RuntimeError(f"the ranks failed:\n{done.stderr}")
    return [Found(**found) for found in json.loads(done.stdout)]


def _in_namespace(command: Sequence[str], timeout_s: float = 20) -> subprocess.CompletedProcess[str]:
    """Run a command as root of a user and a network namespace of its own; they end with it."""
    words = ["unshare", "--user", "--map-root-user", "--net", "--kill-child", "--fork", *command]
    environment = {**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"}
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=timeout_s)


# ------------------------------------------------------------------------------------------------ inside the namespace
def _inside() -> list[Found]:
    """Lay the cable between this namespace and another; measure with a rank at each end, on each link in turn."""
    with subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE) as other:
        _until_apart(other.pid)
        ends: tuple[list[str], ...] = ([], ["nsenter", "--net", f"--target={other.pid}"])
        _do("ip link add link0 type veth peer name link1")
        _do(f"ip link set link1 netns {other.pid}")
        for number, end in enumerate(ends):
            _do(f"ip address add 10.0.0.{number + 1}/24 dev link{number}", end)
            _do(f"ip link set link{number} up", end)
            _do("ip link set lo up", end)
        found = [_on(number, ends) for number in range(len(LINKS))]
        if other.stdin:
            other.stdin.close()
    return found


def _on(number: int, ends: Sequence[Sequence[str]]) -> Found:
    """Throttle the cable and start a rank at each end; return what rank 0 found."""
    link, ranks = LINKS[number], []
    with tempfile.TemporaryDirectory() as folder:
        for rank, end in enumerate(ends):
            # A connection keeps the number of segments that it began with: new ranks for each link.
            _do(f"ip link set link{rank} gso_max_segs {link.segments}", end)
            shape = f"rate {link.rate:.0f}bit burst {link.burst} limit {_QUEUE}"
            _do(f"tc qdisc replace dev link{rank} root tbf {shape}", end)
            environment = {**os.environ, "LABKIT_LAUNCH": folder, "GLOO_SOCKET_IFNAME": f"link{rank}"}
            command = [*end, *_PROGRAM, "--link", str(number), "--rank", str(rank)]
            ranks.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
        said = [rank.communicate()[0] for rank in ranks]
    if any(rank.returncode for rank in ranks):
        raise SystemExit("a rank failed")
    return Found(**json.loads(said[0]))


def _until_apart(pid: int) -> None:
    """Wait until another process has left this network namespace."""
    own = Path("/proc/self/ns/net").readlink()
    while Path(f"/proc/{pid}/ns/net").readlink() == own:
        time.sleep(0.01)


def _do(command: str, where: Sequence[str] = ()) -> None:
    subprocess.run([*where, *command.split()], check=True)


def _rank(rank: int, link: Link) -> Found:
    """Be one rank of two: fit the lab's model to messages, and time the lab's ring of a larger array."""
    import torch
    from torch import distributed as dist

    from benchmarks.common import solution

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://10.0.0.1:{_PORT}", rank=rank, world_size=2)
    lab = solution("11_collectives", also=["time_schemes"])

    def ring_seconds() -> float:
        """Return the fastest of several, as ping_pong does."""
        spans = lab["time_schemes"](rank, 2, [lab["ring_allreduce"]], [link.array], _REPEAT)
        return float((spans[0, 0, :, 1] - spans[0, 0, :, 0]).min())

    shared = ring_seconds()
    lab["Communicator"] = _directed(lab["Communicator"])
    model, sizes = lab["AlphaBeta"](), [link.largest >> shift for shift in range(7)]
    model.fit(sizes, lab["ping_pong"](rank, 2, sizes, _FIT_REPEAT))
    predicted = lab["allreduce_seconds"]("ring", 2, link.array, model.alpha, model.beta)
    found = Found(link.rate, 8 / model.beta, model.alpha, link.array, predicted, ring_seconds(), shared)
    dist.barrier()
    dist.destroy_process_group()
    return found


def _directed(communicator: Any) -> Any:
    """Return a Communicator that sends to higher ranks on one set of connections, and to lower ones on another."""
    from torch import distributed as dist

    groups = [dist.new_group(), dist.new_group()]

    class _Transport:
        def isend(self, tensor: Any, to: int) -> Any:
            return dist.isend(tensor, to, group=groups[to > dist.get_rank()])

        def irecv(self, tensor: Any, source: int) -> Any:
            return dist.irecv(tensor, source, group=groups[dist.get_rank() > source])

    class _Directed(communicator):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self._dist = _Transport()

    return _Directed


# ----------------------------------------------------------------------------------------------------- the command line
def main() -> None:
    """Print the table, or be a part of the measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--link", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        print(json.dumps([asdict(found) for found in _inside()]))
    elif given.rank is not None:
        print(json.dumps(asdict(_rank(given.rank, LINKS[given.link]))))
    elif problem := missing():
        raise SystemExit(problem)
    elif given.json:
        print(json.dumps([asdict(one) for one in measure()], indent=2))
    else:
        print(_table(measure()))


def _table(found: Sequence[Found]) -> str:
    lines = ["nominal    fitted  ratio  alpha   array  predicted  measured  ratio  one connection  ratio"]
    lines += [" Mbit/s    Mbit/s           us     MiB         ms        ms                     ms"]
    for one in found:
        link = f"{one.rate / 1e6:7.0f} {one.fitted / 1e6:9.1f} {one.fitted / one.rate:6.2f} {one.alpha * 1e6:6.0f}"
        ring = f"{one.array / 2**20:7.0f} {one.predicted * 1e3:10.1f} {one.measured * 1e3:9.1f}"
        ratios = f"{one.measured / one.predicted:6.2f} {one.shared * 1e3:15.1f} {one.shared / one.predicted:6.2f}"
        lines.append(f"{link} {ring} {ratios}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
