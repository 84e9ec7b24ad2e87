"""A job on nodes that are reached by ssh: two ssh servers of this machine, started as in a worker's container."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
START = ROOT / "docker" / "image" / "bin" / "start-node.sh"
LABKIT = Path(sys.executable).with_name("labkit")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.frameworks,
    pytest.mark.skipif(sys.platform != "linux", reason="Linux"),
    pytest.mark.skipif(
        not Path("/usr/sbin/sshd").exists(), reason="no ssh server here: apt-get install openssh-server"
    ),
]

SUM = """
import os, signal, sys, time
import torch
from torch import distributed as dist
dist.init_process_group("gloo")
rank, life = dist.get_rank(), int(os.environ["TORCHELASTIC_RESTART_COUNT"])
total = torch.tensor([rank + 1.0])
dist.all_reduce(total)
if "dies" in sys.argv and (rank, life) == (1, 0):
    os.kill(os.getpid(), signal.SIGKILL)
if "fails" in sys.argv and rank == 1:
    time.sleep(0.5)
    raise ValueError("of rank 1")
if "sleeps" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork():  # the other is a process that torchrun does not know of
        print("asleep")
    time.sleep(300)
dist.barrier()
print(f"{rank} of {dist.get_world_size()}, life {life}: {total.item():g}", *sys.argv[1:], sorted(os.listdir()))
dist.destroy_process_group()
"""


@dataclass(frozen=True)
class Cluster:
    """Two ssh servers, and how to call the command on them."""

    folder: Path
    hosts: tuple[str, ...]

    def command(self, *words: object) -> list[str]:
        return [str(LABKIT), "cluster", words[0], "--python", sys.executable, *map(str, words[1:])]  # type: ignore[list-item]

    @property
    def environment(self) -> dict[str, str]:
        scratch = {"TMPDIR": str(self.folder / "scratch"), "LABKIT_HOSTS": str(self.folder / "hosts")}
        return {**os.environ, **scratch, "LABKIT_SSH_KEY": str(self.folder / "key"), "HOME": str(self.folder)}

    def call(self, *words: object, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
        """Call it and return how it ended."""
        given = {"env": self.environment, "cwd": self.folder, "timeout": timeout_s}
        return subprocess.run(self.command(*words), capture_output=True, text=True, check=False, **given)  # type: ignore[call-overload, no-any-return]

    def left(self) -> list[str]:
        """Return the processes and folders of any job that are left on the nodes."""
        found = [path.name for path in (self.folder / "scratch").iterdir()]
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if f"{self.folder}/scratch/labkit-node-".encode() in (folder / "cmdline").read_bytes():
                    found.append(folder.name)
            except OSError:
                continue
        return found

    def nothing_is_left(self, within_s: float = 30) -> bool:
        """Wait until nothing is left."""
        deadline = time.monotonic() + within_s
        while self.left():
            if time.monotonic() > deadline:
                raise AssertionError(self.left())
            time.sleep(0.1)
        return True


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "scratch").mkdir()
    (folder / "script.py").write_text(SUM)
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where root's ssh server locks its children in
    ports, servers = [], []
    for name in ("key", "other"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    # HOME is this folder, but ssh itself reads and writes the real one.
    known = f"UserKnownHostsFile {folder}/known_hosts\n"
    (folder / "ssh_config").write_text(known)
    wrapper = folder / "bin" / "ssh"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh_config "$@"\n')
    wrapper.chmod(0o755)
    for number in (1, 2):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
        home = folder / f"home{number}"
        home.mkdir()
        own = {"HOME": str(home), "LABKIT_SSH_PORT": str(ports[-1]), "TMPDIR": str(folder / "scratch")}
        own["LABKIT_AUTHORIZED_KEY"] = (folder / "key.pub").read_text()
        with (folder / f"log{number}").open("w") as log:
            servers.append(subprocess.Popen([START], env={**os.environ, **own}, stdout=log, stderr=log))
    for port in ports:
        _answers(port)
    nodes = tuple(f"127.0.0.1:{port}" for port in ports)
    (folder / "hosts").write_text("".join(f"{node}\n" for node in nodes))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
        yield Cluster(folder, nodes)
    for server in servers:
        server.terminate()
        server.wait()


def _answers(port: int) -> None:
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"no ssh server on port {port}")


def test_a_script_runs_on_all_nodes_in_the_order_of_the_hosts_file(cluster: Cluster) -> None:
    (cluster.folder / "data").mkdir(exist_ok=True)
    first, second = cluster.hosts
    nodes = ["--host", second, "--host", "localhost", "--host", first]
    done = cluster.call("run", *nodes, "--with", cluster.folder / "data", "script.py", "--epochs", "3")
    files = "['data', 'script.py']"
    assert sorted(done.stdout.splitlines()) == sorted(
        f"{node}/{rank} | {rank} of 3, life 0: 6 --epochs 3 {files}"
        for rank, node in enumerate((second, "localhost", first))
    )
    assert done.returncode == 0, done.stderr
    assert cluster.nothing_is_left()


@pytest.mark.thorough
def test_all_ranks_come_back_after_one_was_killed(cluster: Cluster) -> None:
    done = cluster.call("run", "--ranks", 1, "--restarts", 1, "script.py", "dies")
    assert done.returncode == 0, done.stderr
    first, second = cluster.hosts
    lives = {re.sub(r", life .*", "", line) for line in done.stdout.splitlines() if ": 3 dies" in line}
    assert lives == {f"{first}/0 | 0 of 2", f"{second}/1 | 1 of 2"}
    assert f"{second}/1 | 1 of 2, life 1: 3" in done.stdout


@pytest.mark.parametrize(
    ("what", "said"), [("fails", "ended with exit code 1:\n"), ("dies", "was killed by SIGKILL\nhint: the system ends")]
)
def test_the_rank_that_failed_is_reported_first_and_all_others_end(what: str, said: str, cluster: Cluster) -> None:
    done = cluster.call("run", "script.py", what)
    assert done.returncode == 1
    problem = done.stderr.partition("Error: ")[2]
    assert problem.startswith(f"{cluster.hosts[1]}: rank 1 of 2 {said}"), done.stderr
    if what == "fails":
        assert "ValueError: of rank 1" in problem.partition("hint: ")[0]
    assert cluster.nothing_is_left(5)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGKILL, -9, marks=pytest.mark.thorough)]
)
def test_a_head_that_is_stopped_or_dies_leaves_nothing_anywhere(
    number: signal.Signals, code: int, cluster: Cluster
) -> None:
    words = cluster.command("run", "--host", cluster.hosts[0], "--host", "localhost", "script.py", "sleeps")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    head = subprocess.Popen(words, env=cluster.environment, cwd=cluster.folder, **pipes)  # type: ignore[call-overload]
    with head:
        for _ in range(2):
            assert "asleep" in head.stdout.readline()
        head.send_signal(number)
        assert head.wait(40) == code
        if number == signal.SIGINT:
            assert cluster.nothing_is_left(5)
            assert head.stderr.read().splitlines()[-1] == "cluster: stopped"
    assert cluster.nothing_is_left(40)


def test_a_job_that_takes_too_long_is_ended(cluster: Cluster) -> None:
    done = cluster.call("run", "--timeout", 10, "script.py", "sleeps")
    names = ", ".join(cluster.hosts)
    assert f"Error: the job was still running on {names} after 10 s\nhint: " in done.stderr
    assert done.returncode == 1
    assert cluster.nothing_is_left(5)


def test_nodes_that_cannot_be_reached_are_named_before_anything_starts(cluster: Cluster) -> None:
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        away = f"127.0.0.1:{taken.getsockname()[1]}"
        done = cluster.call("run", "--host", cluster.hosts[0], "--host", away, "script.py")
    assert done.returncode == 1
    assert f"Error: {away}: ssh: connect to host 127.0.0.1 port" in done.stderr
    assert "Connection refused\nhint: no ssh server listens there" in done.stderr
    assert done.stdout == "" and cluster.nothing_is_left(5)


def test_a_key_that_a_node_does_not_know_is_refused(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    words = cluster.command("status", "--host", cluster.hosts[0])
    environment = {**cluster.environment, "LABKIT_SSH_KEY": str(cluster.folder / "other")}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "not reachable" in done.stdout
    assert "Permission denied (publickey).\nhint: the node takes another key" in done.stderr


def test_the_status_shows_versions_and_cores(cluster: Cluster) -> None:
    done = cluster.call("status")
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(cluster.hosts)
    assert re.search(r"labkit \d\S+  torch \d\S+  [\d.]+ cores  ", done.stdout)


def test_an_interface_that_is_not_there_is_an_error_with_those_that_are(cluster: Cluster) -> None:
    done = cluster.call("run", "--interface", "nosuch0", "script.py")
    assert re.search(r"Error: 127\.\S+: no interface nosuch0 with an address\nhint: there are .*lo", done.stderr)


def test_a_node_s_python_without_the_kit_is_an_error_with_a_hint(cluster: Cluster) -> None:
    done = cluster.call("status", "--python", "/nowhere/python")
    assert "/nowhere/python: No such file or directory\nhint: the kit's Python is not on the PATH there" in done.stderr


Starts = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def start(tmp_path: Path) -> Starts:
    def begin(**own: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **own}
        return subprocess.run([START], env=environment, capture_output=True, text=True, check=False, timeout=20)

    return begin


def test_a_worker_that_nobody_could_log_in_to_does_not_start(start: Starts, tmp_path: Path) -> None:
    done = start()
    assert done.returncode == 1
    assert f"LABKIT_AUTHORIZED_KEY is not set, and {tmp_path}/.cluster/key.pub is not there\nhint: " in done.stderr


def test_a_worker_refuses_what_is_no_public_key(start: Starts) -> None:
    done = start(LABKIT_AUTHORIZED_KEY="-----BEGIN OPENSSH PRIVATE KEY-----")
    assert done.returncode == 1
    assert "this is no public key: -----BEGIN OPENSSH PRIVATE KEY-----\nhint: " in done.stderr
