"""Several containers as one cluster: a head with JupyterLab, and workers that it reaches by ssh."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.images.conftest import DOCKER, IDLE, Container, docker

pytestmark = pytest.mark.image

Start = Callable[..., Container]
# What a worker needs, and no more.
BARE = ("--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--read-only", "--no-healthcheck")
HOME = ("--tmpfs", "/home/jovyan:uid=1000,gid=100,exec")

SCRIPT = """
import os, sys, time
import numpy as np
import torch
from torch import distributed as dist
from labkit import Communicator
dist.init_process_group("gloo")
total = torch.arange(4.0) + dist.get_rank()
dist.all_reduce(total)
comm = Communicator()
came = comm.exchange(np.array([comm.rank]), (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size)
node = os.environ["LABKIT_NODE"]
print(f"rank {comm.rank} of {comm.size} on {node}: {total.tolist()}, from the left {came.tolist()}")
if "sleep" in sys.argv:
    time.sleep(300)
dist.destroy_process_group()
"""


@pytest.fixture
def network(engine: None) -> Iterator[str]:
    """A network in which containers find each other by name."""
    name = f"practicum-{uuid.uuid4().hex[:12]}"
    docker("network", "create", name)
    yield name
    docker("network", "rm", name)


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """The folder that a head mounts: a pair of keys."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "key"], check=True)
    if os.getuid() == 0:
        os.chown(folder / "key", 1000, 100)  # as the template does
    else:
        (folder / "key").chmod(0o644)  # ssh asks for more only of a key that is its user's own
    return folder


@pytest.fixture
def cluster(student_image: str, network: str, start: Start, keys: Path) -> Callable[[int], list[Container]]:
    """Start a head and this many workers, with a hosts file that names all of them; the head comes first.

    `start` comes after `network`: its containers are gone before the network is.
    """

    def begin(workers: int) -> list[Container]:
        names = [f"worker{number}" for number in range(1, workers + 1)]
        (keys / "hosts").write_text("".join(f"{name}\n" for name in ["localhost", *[f"{name}:2222" for name in names]]))
        mount = ("--volume", f"{keys}:/home/jovyan/.cluster:ro")
        head = start(student_image, "--network", network, "--hostname", "head", *mount, command=IDLE)
        key = ("--env", f"LABKIT_AUTHORIZED_KEY={(keys / 'key.pub').read_text().strip()}")
        place = [("--network", network, "--network-alias", name, "--hostname", name) for name in names]
        found = [start(student_image, *where, *BARE, *HOME, *key, command=("start-node.sh",)) for where in place]
        for worker in found:
            _until(lambda worker=worker: "Server listening" in worker.log(), worker.log)  # type: ignore[misc]
        head.run("sh", "-c", f"cat > s.py <<'END'\n{SCRIPT}\nEND")
        return [head, *found]

    return begin


def _until(true: Callable[[], bool], otherwise: Callable[[], object], within_s: float = 20) -> None:
    deadline = time.monotonic() + within_s
    while not true():
        if time.monotonic() > deadline:
            raise AssertionError(otherwise())
        time.sleep(0.1)


def _nothing_is_left(container: Container) -> None:
    def left() -> str:
        shown = container.run(
            "sh",
            "-c",
            "ps -eo args | grep -e '[n]ode_program' -e '[s]\\.py'; ls -d ${TMPDIR:-/tmp}/labkit*",
            check=False,
        )
        return "\n".join(line for line in shown.splitlines() if "No such file" not in line)

    _until(lambda: not left(), left, within_s=30)


@pytest.mark.parametrize("workers", [1, 2])
def test_containers_form_one_job(workers: int, cluster: Callable[[int], list[Container]]) -> None:
    head, *others = cluster(workers)
    size = workers + 1
    said = head.run("labkit", "cluster", "run", "s.py", timeout_s=120)
    total = [size * i + sum(range(size)) for i in (0.0, 1.0, 2.0, 3.0)]
    for rank in range(size):
        name = f"worker{rank}" if rank else "localhost"
        line = f"{name}/{rank} | rank {rank} of {size} on {name}: {total}, from the left [{(rank - 1) % size}]"
        assert line in said.splitlines(), said
    for container in (head, *others):
        _nothing_is_left(container)


def test_several_ranks_on_each_container(cluster: Callable[[int], list[Container]]) -> None:
    head, _ = cluster(1)
    said = head.run("labkit", "cluster", "run", "--ranks", "2", "s.py", timeout_s=120)
    found = re.findall(r"rank (\d) of 4 on (\w+): \[6\.0, 10\.0, 14\.0, 18\.0\]", said)
    assert sorted(found) == [("0", "localhost"), ("1", "localhost"), ("2", "worker1"), ("3", "worker1")]


def _lose_the_first_worker(head: Container, worker: Container, how: str, *, ranks: int, timeout_s: float) -> None:
    """Kill or pause worker1 while all ranks sleep, and see that the head names it."""
    words = [DOCKER, "exec", head.name, "labkit", "cluster", "run", "s.py", "sleep"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        assert job.stdout and job.stderr
        for _ in range(ranks):
            assert "rank " in job.stdout.readline()
        docker(how, worker.name)
        started = time.monotonic()
        assert job.wait(timeout_s) == 1
        print(f"the head noticed after {time.monotonic() - started:.1f} s")
        assert re.search(r"^Error: worker1 lost its connection", job.stderr.read(), re.MULTILINE)
    _nothing_is_left(head)


def test_a_worker_that_is_killed_is_named_and_all_others_end(cluster: Callable[[int], list[Container]]) -> None:
    head, gone, other = cluster(2)
    _lose_the_first_worker(head, gone, "kill", ranks=3, timeout_s=60)
    _nothing_is_left(other)


def test_a_worker_that_stops_answering_is_named(cluster: Callable[[int], list[Container]]) -> None:
    head, silent = cluster(1)
    _lose_the_first_worker(head, silent, "pause", ranks=2, timeout_s=90)
    docker("unpause", silent.name)
    _nothing_is_left(silent)


def test_a_wrong_key_is_refused(cluster: Callable[[int], list[Container]], keys: Path) -> None:
    head, _ = cluster(1)
    head.run("sh", "-c", "ssh-keygen -q -t ed25519 -N '' -f other")
    said = head.run("env", "LABKIT_SSH_KEY=other", "labkit", "cluster", "run", "s.py", check=False)
    assert "Error: worker1: jovyan@worker1: Permission denied (publickey).\nhint: the node takes another key" in said
    assert "rank 0" not in said


def test_the_status_shows_all_containers(cluster: Callable[[int], list[Container]]) -> None:
    head, *_ = cluster(1)
    rows = json.loads(head.run("labkit", "cluster", "status", "--json"))
    assert [(row["node"], row["reachable"], row["gpus"]) for row in rows] == [
        ("localhost", True, []), ("worker1", True, []),
    ]  # fmt: skip
    assert rows[0]["torch"] == rows[1]["torch"] != ""


def test_a_worker_forwards_nothing_and_the_image_holds_no_host_key(cluster: Callable[[int], list[Container]]) -> None:
    head, worker = cluster(1)
    ssh = "ssh -i .cluster/key -o StrictHostKeyChecking=accept-new -p 2222"
    said = head.run("sh", "-c", f"{ssh} -W 127.0.0.1:2222 worker1", check=False)
    assert "administratively prohibited" in said
    said = head.run("sh", "-c", f"{ssh} -o PubkeyAuthentication=no worker1 true", check=False)
    assert "Permission denied (publickey)" in said
    assert head.run("sh", "-c", "ls /etc/ssh/ssh_host_* 2>&1", check=False).count("No such file") == 1
    assert worker.run("stat", "-c", "%U %a", "/home/jovyan/.node/host_key").strip() == "jovyan 600"
