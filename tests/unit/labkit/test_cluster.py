"""What the head of a cluster reads, asks for and reports; no node is reached here."""

from __future__ import annotations

import io
import json
import re
import tarfile
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from labkit._cluster import probe, ssh
from labkit._cluster.addresses import address_of, interface_of
from labkit._cluster.blame import Ending, blame
from labkit._cluster.job import Job, pack, ranks_of, requests
from labkit._cluster.nodes import ClusterError, Node, named, read_hosts
from labkit._cluster.probe import Facts, expect_alike
from labkit.cli import main

HEAD, ONE, TWO = Node("localhost", name="localhost"), Node("w1", 2222, name="w1"), Node("w2", 2222, name="w2")
OWN = {name: metadata.version(package) for name, package in (("labkit", "dl-scale-practicum"), ("torch", "torch"))}


def facts(address: str = "", head: str = "", gpus: int = 0) -> Facts:
    given = {"head": head, "address": address, "interface": "eth0" if address else "", "interfaces": ["eth0"]}
    known: dict[str, Any] = {**OWN, "cores": 2.0, "gpus": ["a GPU"] * gpus, "free_port": 4321, **given}
    return Facts(**known)


@pytest.fixture
def hosts(tmp_path: Path) -> Any:
    def write(text: str) -> Path:
        file = tmp_path / "hosts"
        file.write_text(text)
        return file

    return write


# ------------------------------------------------------------------------------------------------------- the hosts file
def test_a_hosts_file_names_nodes_ports_users_and_ranks(hosts: Any) -> None:
    text = "# the cluster\nlocalhost 2\n\n10.0.0.7:2222   4  # a worker\nada@w-2.example:22\n[fe80::1%eth0]:2222 1\n"
    assert read_hosts(hosts(text)) == [
        Node("localhost", None, "", 2, "localhost"),
        Node("10.0.0.7", 2222, "", 4, "10.0.0.7"),
        Node("w-2.example", 22, "ada", None, "w-2.example"),
        Node("fe80::1%eth0", 2222, "", 1, "fe80::1%eth0"),
    ]


def test_only_localhost_without_a_port_is_this_machine(hosts: Any) -> None:
    nodes = read_hosts(hosts("localhost\nlocalhost:2222\n"))
    assert [(node.local, node.name) for node in nodes] == [(True, "localhost"), (False, "localhost:2222")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("w1\nw2 two\n", "hosts:2: not a node: 'w2 two'\nhint: a node is host, host:port"),
        ("w1:ssh", "hosts:1: not a node: 'w1:ssh'"),
        ("-oProxyCommand=x", "hosts:1: not a node: '-oProxyCommand=x'"),
        ("w1; reboot", "hosts:1: not a node: 'w1; reboot'"),
        ("w1:99999", "hosts:1: no such port: 99999\nhint: a number from 1 to 65535"),
        ("w1 0", "hosts:1: no ranks on w1\nhint: at least 1"),
        ("w1:22\n# w1\nw1:22 3\n", "hosts:3: w1:22 is there already, see "),
        ("# nobody\n\n", "hosts: it names no node\nhint: one host[:port] [ranks] a line"),
    ],
)
def test_a_hosts_file_that_cannot_be_meant_is_an_error(text: str, said: str, hosts: Any) -> None:
    with pytest.raises(ClusterError) as caught:
        read_hosts(hosts(text))
    assert said in str(caught.value)


def test_a_missing_hosts_file_is_an_error_that_says_what_goes_into_it(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"none: No such file or directory\nhint: write the nodes into it, one host"):
        read_hosts(tmp_path / "none")


def test_two_nodes_on_one_host_are_told_apart_by_their_ports() -> None:
    nodes = named([("a", "w1:22"), ("b", "w1:23"), ("c", "w2:22")])
    assert [node.name for node in nodes] == ["w1:22", "w1:23", "w2"]


# ------------------------------------------------------------------------------------------------------------------ ssh
def test_ssh_asks_nobody_and_uses_only_the_key_of_the_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_SSH_KEY", str(tmp_path / "key"))
    words = ssh.command(Node("w1", 2222, "ada", name="w1"), "/opt/py thon")
    assert words[0] == "ssh" and "BatchMode=yes" in words and "IdentitiesOnly=yes" in words
    assert words[words.index("-i") + 1] == str(tmp_path / "key")
    assert words[-2:] == ["w1", "'/opt/py thon' -P -m labkit._cluster.node_program"]
    assert words[-3] == "--"  # what follows is no option


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("jovyan@w1: Permission denied (publickey).", "its authorised key has to be the public half"),
        ("Host key verification failed.", "ssh-keygen -R '[w1]:2222'"),
        ("ssh: Could not resolve hostname w1: Name or service not known", "no such name"),
        ("ssh: connect to host w1 port 2222: Connection refused", "is the node's container running"),
        ("ssh: connect to host w1 port 2222: Connection timed out", "does its firewall let ssh through"),
        ("bash: line 1: python: command not found", "--python names it"),
        ("/usr/bin/python: No module named labkit", "--python names it"),
        ("something new", ""),
    ],
)
def test_what_ssh_says_comes_with_what_to_do(said: str, hint: str) -> None:
    found = ssh.explain(ONE, said)
    assert hint in found and bool(found) == bool(hint)


# ----------------------------------------------------------------------------------------------- what nodes say of them
def test_all_nodes_that_do_not_answer_are_named() -> None:
    errors: dict[Node, Facts | ClusterError] = {
        ONE: ClusterError("w1: Connection refused", "start it"),
        HEAD: facts(),
        TWO: ClusterError("w2: no answer"),
    }
    with pytest.raises(ClusterError, match=r"^w1: Connection refused\nhint: start it\nw2: no answer$"):
        expect_alike(errors)


@pytest.mark.parametrize("what", ["labkit", "torch"])
def test_a_node_with_another_version_is_named(what: str) -> None:
    versions: dict[str, Any] = {what: "0.0.1"}
    other = replace(facts("10.0.0.2", "10.0.0.1"), **versions)
    with pytest.raises(ClusterError, match=rf"^{what} differs: w2 has 0\.0\.1, this machine {re.escape(OWN[what])}"):
        expect_alike({ONE: facts("10.0.0.1"), TWO: other})


def test_a_node_without_torch_is_named_but_another_build_of_it_is_fine() -> None:
    public = OWN["torch"].partition("+")[0]
    expect_alike({ONE: replace(facts("10.0.0.1"), torch=f"{public}+cu130")})
    with pytest.raises(ClusterError, match="torch differs: w1 has none"):
        expect_alike({ONE: replace(facts("10.0.0.1"), torch="")})


def test_an_interface_that_a_node_lacks_is_an_error() -> None:
    with pytest.raises(ClusterError, match=r"^w1: no interface ib0 with an address\nhint: there are eth0"):
        expect_alike({ONE: replace(facts("", "10.0.0.1"), interface="ib0")}, interface="ib0")


def test_the_loopback_has_its_interface_and_address() -> None:
    assert (interface_of("127.0.0.1"), address_of("lo")) == ("lo", "127.0.0.1")
    assert (interface_of("192.0.2.1"), address_of("nosuch0")) == ("", "")


# ---------------------------------------------------------------------------------------------------- what is asked for
def test_ranks_come_from_the_command_else_the_file_else_the_gpus() -> None:
    found = {HEAD: facts(), replace(ONE, ranks=3): facts("10.0.0.2", gpus=8), TWO: facts("10.0.0.3", gpus=4)}
    assert ranks_of(Job(Path("s.py")), found) == [1, 3, 4]
    assert ranks_of(Job(Path("s.py"), ranks=2), found) == [2, 2, 2]


def test_each_node_is_told_the_address_of_the_first_one_that_it_sees() -> None:
    # The head has two networks, one to each worker.
    found = {HEAD: facts(), ONE: facts("10.0.0.2", head="10.0.0.1"), TWO: facts("10.9.0.2", head="10.9.0.1")}
    asked = [request["torchrun"] for request in requests(Job(Path("s.py")), found)]
    assert [one["rdzv-endpoint"] for one in asked] == ["10.0.0.1:4321", "10.0.0.1:4321", "10.9.0.1:4321"]
    assert [one["local-addr"] for one in asked] == ["10.0.0.1", "10.0.0.2", "10.9.0.2"]
    assert "is_host=True,number=0,first=10.0.0.1," in asked[0]["rdzv-conf"]
    assert "is_host=False,number=2,first=10.9.0.1," in asked[2]["rdzv-conf"]


def test_without_a_local_node_the_first_one_holds_the_rendezvous() -> None:
    found = {ONE: facts("10.0.0.2", head="10.0.0.1"), TWO: facts("fd00::3", head="10.0.0.1")}
    asked = requests(Job(Path("s.py"), port=29400), found)
    assert [one["torchrun"]["rdzv-endpoint"] for one in asked] == ["10.0.0.2:29400"] * 2
    turned = requests(Job(Path("s.py")), dict(reversed(found.items())))
    assert turned[1]["torchrun"]["rdzv-endpoint"] == "[fd00::3]:4321"
    assert [one["interface"] for one in asked] == ["eth0", "eth0"]


def test_one_machine_alone_uses_its_loopback() -> None:
    (asked,) = requests(Job(Path("s.py"), ["--epochs", "3"], ranks=2), {HEAD: facts()})
    assert (asked["torchrun"]["rdzv-endpoint"], asked["interface"]) == ("127.0.0.1:4321", "lo")
    assert (asked["arguments"], asked["ranks"]) == (["--epochs", "3"], 2)


def test_the_script_and_what_goes_along_lie_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text("")
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "data" / "deep" / "x.bin").write_bytes(b"x")
    archive = io.BytesIO()
    pack(Job(tmp_path / "s.py", files=[tmp_path / "data"]), archive)
    archive.seek(0)
    with tarfile.open(fileobj=archive) as files:
        assert set(files.getnames()) == {"s.py", "data", "data/deep", "data/deep/x.bin"}
    with pytest.raises(ClusterError, match=r"none: no such file"):
        pack(Job(tmp_path / "s.py", files=[tmp_path / "none"]), io.BytesIO())
    with pytest.raises(ClusterError, match=r"s\.py has the same name"):
        pack(Job(tmp_path / "s.py", files=[tmp_path / "data" / ".." / "s.py"]), io.BytesIO())


# ------------------------------------------------------------------------------------------------------ who is to blame
LOST = ("RuntimeError: [/__w/gloo/pair.cc:553] Connection closed by peer [10.0.0.2]:4",)


def test_a_rank_that_lost_another_is_not_to_blame() -> None:
    endings = [Ending(ONE, 0, 1, LOST), Ending(TWO, 3, 1, ("Traceback", "ValueError: of rank 3"))]
    text, hint = blame(endings, 4)
    assert text == "w2: rank 3 of 4 ended with exit code 1:\n  Traceback\n  ValueError: of rank 3"
    assert hint == "w1: rank 0 of 4 lost the connection: a consequence, not the cause"


def test_a_node_that_is_gone_comes_before_ranks_that_noticed() -> None:
    text, hint = blame([Ending(ONE, 1, 1, LOST), Ending(TWO, None, None, ())], 2)
    assert text == "w2 lost its connection"
    assert hint.startswith("did the machine, its container or its network stop?\n      w1: rank 1 of 2 lost")


def test_a_node_whose_program_fails_is_shown_with_its_traceback() -> None:
    said = ("Traceback (most recent call last):", "OSError: [Errno 28] No space left on device")
    text, hint = blame([Ending(ONE, None, None, said)], 2)
    assert text.startswith("w1 could not run its part of the job:\n  Traceback") and text.endswith("left on device")
    assert hint == ""


def test_a_signal_is_named_and_memory_is_suspected() -> None:
    text, hint = blame([Ending(ONE, 1, -9, ("step 3",))], 2)
    assert text == "w1: rank 1 of 2 was killed by SIGKILL:\n  step 3"
    assert "memory" in hint


def test_an_agent_that_fails_is_shown_without_its_log() -> None:
    said = ("W1122 07:01:02.000 run.py: closing", "RuntimeError: address in use")
    assert blame([Ending(ONE, None, 1, said)], 2)[0] == "w1 ended with exit code 1:\n  RuntimeError: address in use"


# ---------------------------------------------------------------------------------------------------- the command line
def test_the_command_line_refuses_what_cannot_be_meant(tmp_path: Path) -> None:
    def said(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(main, ["cluster", *words])
        return done.exit_code, click.unstyle(done.output)

    assert said("run", "--host", "w1", "--hosts", "x", "s.py")[0] == 2
    assert said("run", "--host", "w1", "--ranks", "0", "s.py")[0] == 2
    assert said("run", "--host", "w1", str(tmp_path / "s.py")) == (
        1, f"Error: {tmp_path / 's.py'}: no such script\nhint: give its path from here\n",
    )  # fmt: skip
    assert said("status", "--host", "w 1 2")[1].startswith("Error: --host: not a node: 'w 1 2'\nhint: ")
    assert "none: No such file" in said("status", "--hosts", str(tmp_path / "none"))[1]


def test_the_status_tells_who_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {ONE: facts("10.0.0.2", gpus=2), TWO: ClusterError("w2: Connection refused", "start it")}
    monkeypatch.setattr(probe, "examine", lambda nodes, **_: found)
    done = CliRunner().invoke(main, ["cluster", "status", "--host", "w1", "--host", "w2"])
    version = f"labkit {OWN['labkit']}  torch {OWN['torch']}"
    assert done.stdout == f"w1  {version}  2 cores  2 x a GPU\nw2  not reachable\n"
    assert done.stderr == "Error: w2: Connection refused\nhint: start it\n"
    assert done.exit_code == 1
    rows = json.loads(CliRunner().invoke(main, ["cluster", "status", "--host", "w1", "--json"]).stdout)
    assert [row["reachable"] for row in rows] == [True, False]
