"""What a kernel behind Landlock cannot read, reach or change on a machine that it shares, tried from within."""

from __future__ import annotations

import ast
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox import Policy
from autograder.sandbox.exposure import listening_ports, open_sockets, other_machines
from tests.system.sandboxed import Console, console, meet_abstract_socket, sandbox_or_skip

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def host() -> Iterator[Path]:
    """A directory that anybody may pass through, with files that the student's user could read and change."""
    with tempfile.TemporaryDirectory(prefix="fence-") as name:
        root = Path(name)
        for path in (root / "submitted" / "lab.ipynb", root / "let_in" / "data.txt", root / "files" / "data.txt"):
            path.parent.mkdir()
            path.write_text("of the host")
            path.chmod(0o666)
            path.parent.chmod(0o777)
        root.chmod(0o777)
        (root / "files" / "link").symlink_to(root / "submitted" / "lab.ipynb")
        yield root


@pytest.fixture(scope="module", params=["alone", "ranks"])
def prompt(request: pytest.FixtureRequest, host: Path) -> Iterator[Console]:
    policy = Policy(read_only=(host / "let_in",))
    with sandbox_or_skip("landlock") as alone:
        sandbox = alone.with_ranks() if request.param == "ranks" else alone
        with console(sandbox, files=host / "files", policy=policy) as running:
            yield running


def test_files_of_the_host_can_be_neither_read_nor_listed(prompt: Console, host: Path) -> None:
    for what in (host / "submitted" / "lab.ipynb", "link", "/etc/shadow", "/etc/resolv.conf"):
        assert prompt.run(f"open({str(what)!r}).read()").startswith(("PermissionError", "FileNotFoundError")), what
    for place in ("/", "/tmp", "/etc", "/dev/shm", host, Path.home()):
        assert prompt.run(f"import os; os.listdir({str(place)!r})").startswith("PermissionError"), place


@pytest.mark.parametrize(
    "action",
    [
        "open(path, 'w')",
        "open(path, 'a')",
        "os.truncate(path, 0)",
        "os.unlink(path)",
        "os.rename(path, 'mine')",
        "os.link(path, 'mine')",
        "os.symlink('/', path + '.new')",
        "os.mkdir(path + '.new')",
        "os.setxattr(path, 'user.x', b'1')",
    ],
)
def test_files_of_the_host_cannot_be_changed(prompt: Console, host: Path, action: str) -> None:
    path = host / "submitted" / "lab.ipynb"
    said = prompt.run(f"import os; path = {str(path)!r}; {action}")
    assert "Error: [Errno " in said
    assert path.read_text() == "of the host"
    assert [entry.name for entry in path.parent.iterdir()] == ["lab.ipynb"]


def test_mode_owner_and_times_of_a_file_stay_as_they_are_without_an_error(prompt: Console, host: Path) -> None:
    path = host / "let_in" / "data.txt"
    before = path.stat()
    said = prompt.run(f"""
        import os
        path = {str(path)!r}
        os.chmod(path, 0o000); os.utime(path, (1, 1)); os.chown(path, 0, 0)
        with open(path) as file:
            os.fchmod(file.fileno(), 0o000)
            print(file.read())
    """)
    assert said == "of the host"
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_mtime) == (before.st_mode, before.st_uid, before.st_mtime)


def test_what_honest_programs_do_with_files_works(prompt: Console) -> None:
    said = prompt.run("""
        import pathlib, shutil, tempfile
        shutil.copy("data.txt", "copy.txt"); shutil.copytree(".", tempfile.mkdtemp() + "/all", symlinks=True)
        pathlib.Path("copy.txt").touch(); pathlib.Path("copy.txt").rename("moved.txt")
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("x")
        print(open("moved.txt").read(), pathlib.Path.home().is_dir())
    """)
    assert said == "of the host True"
    assert prompt.run("!cat data.txt") == "of the host"


def test_what_a_command_says_comes_in_its_place_and_is_not_waited_for_longer_than_the_command(prompt: Console) -> None:
    said = prompt.run("""
        !echo one
        print("two")
        !echo thr\u00e9\u00e9 >&2; exit 3
        print(_exit_code)
        !sleep 60 & echo four; kill -9 $$
        print(_exit_code)
    """)
    assert said.split() == ["one", "two", "thr\u00e9\u00e9", "3", "four", "-9"]
    assert prompt.run("!sleep 60 &").startswith("OSError: Background")


def test_other_processes_can_be_neither_signalled_nor_looked_into(prompt: Console) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    priority = os.getpriority(os.PRIO_PROCESS, child.pid)
    try:
        for victim in (child.pid, os.getpid()):
            assert prompt.run(f"import os; os.kill({victim}, {int(signal.SIGKILL)})").startswith("PermissionError")
            for name in ("environ", "mem", "maps"):
                assert prompt.run(f"open('/proc/{victim}/{name}', 'rb').read(1)").startswith("PermissionError"), name
        prompt.run(f"import resource; resource.prlimit({child.pid}, resource.RLIMIT_CPU, (0, 0))")
        prompt.run(f"os.setpriority(os.PRIO_PROCESS, {child.pid}, {priority + 5})")
        prompt.run(f"os.setpriority(os.PRIO_USER, {os.getuid()}, {priority + 5})")
        prompt.run("os.setpriority(os.PRIO_USER, 0, 19)")
        prompt.run(f"os.sched_setaffinity({child.pid}, [{min(os.sched_getaffinity(0))}])")
        assert child.poll() is None
        assert os.sched_getaffinity(child.pid) == os.sched_getaffinity(0)
        assert os.getpriority(os.PRIO_PROCESS, child.pid) == priority
        assert Path(f"/proc/{child.pid}/limits").read_text().count("\nMax cpu time              0 ") == 0
    finally:
        child.kill()
        child.communicate()


def test_its_supervisor_cannot_be_ended(prompt: Console) -> None:
    assert prompt.run("import os; os.kill(os.getppid(), 9)").startswith("PermissionError")
    prompt.run("try: os.kill(-1, 0)\nexcept OSError: pass")
    assert prompt.run("1 + 1") == "2"


def test_names_of_rooms_and_keys_are_nowhere_to_be_read(prompt: Console) -> None:
    room = Path(prompt.manager.ip).parent.name
    said = prompt.run("""
        import glob
        found = open("/proc/net/unix").read()
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                found += open(path).read()
            except OSError:
                pass
        print(found)
    """)
    assert said.startswith("Num ") and "python" in said
    assert room not in said
    assert prompt.manager.session.key.decode() not in said


def test_the_network_is_closed_to_what_listens_on_this_machine(prompt: Console) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, console_like(prompt) as again:
        address = server.getsockname()
        said = again.run(f"import socket; socket.create_connection({address!r}, timeout=2)")
    assert said.startswith(("OSError: [Errno 97]", "PermissionError"))


def test_of_the_internet_only_tcp_between_high_ports_is_there_and_only_for_ranks(prompt: Console) -> None:
    ranks = prompt.manager.sandbox.walls == "landlock, with TCP for ranks"
    kinds = "[socket.SOCK_DGRAM], [socket.SOCK_RAW], [socket.SOCK_STREAM, 262], [socket.SOCK_STREAM, 132]"
    said = prompt.run(f"""
        import socket
        allowed = []
        for kind in ({kinds}, [socket.SOCK_STREAM]):
            try:
                allowed.append((kind, socket.socket(socket.AF_INET, *kind).close()))
            except OSError:
                pass
        len(allowed)
    """)
    assert said == ("1" if ranks else "0")
    refused = ("PermissionError", "OSError: [Errno 97]")
    assert prompt.run("socket.create_connection(('192.0.2.1', 80), timeout=2)").startswith(refused)
    said = prompt.run("socket.socket().sendto(b'x', 0x20000000, ('192.0.2.1', 80))")
    assert said.startswith("OSError: [Errno 95]" if ranks else "OSError: [Errno 97]")


def test_queues_watching_and_namespaces_are_refused(prompt: Console) -> None:
    said = prompt.run("""
        import ctypes, errno, platform
        libc = ctypes.CDLL(None, use_errno=True)
        column = {"x86_64": 0, "aarch64": 1}[platform.machine()]
        calls = {"mq_open": (240, 180), "inotify_init1": (294, 26), "unshare": (272, 97), "shmat": (30, 196)}
        {name for name, numbers in calls.items() if libc.syscall(numbers[column], 0, 0, 0) == -1
         and ctypes.get_errno() == errno.EPERM}
    """)
    assert ast.literal_eval(said) == {"mq_open", "inotify_init1", "unshare", "shmat"}


def test_abstract_sockets_of_the_host_cannot_be_reached(prompt: Console) -> None:
    assert meet_abstract_socket(prompt).startswith("PermissionError")


@contextlib.contextmanager
def console_like(prompt: Console) -> Iterator[Console]:
    """Yield a new kernel in the same sandbox: what listens is looked up when a process starts."""
    with console(prompt.manager.sandbox) as running:
        yield running


# ----------------------------------------------------------------------------------------------- what is left and said
def test_a_named_socket_that_the_student_could_reach_is_found_and_said(host: Path) -> None:
    path = str(host / "engine.sock")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        os.chmod(path, 0o777)  # noqa: PTH101
        server.listen()
        assert path in open_sockets(abstract=False)
        with sandbox_or_skip("landlock") as sandbox:
            assert not sandbox.isolated
            assert "Landlock does not keep a process from the socket" in sandbox.why_not
    assert path not in open_sockets(abstract=False)


def test_listening_ports_are_those_at_which_something_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert server.getsockname()[1] in listening_ports()
        assert bound.getsockname()[1] not in listening_ports()


def test_ranks_on_a_machine_with_a_network_are_marked_and_without_one_are_not() -> None:
    with sandbox_or_skip("landlock") as sandbox:
        if not sandbox.isolated:
            pytest.skip(sandbox.why_not)
        ranks = sandbox.with_ranks()
        assert ranks.isolated is not other_machines()
        assert ("--network none" in ranks.why_not) is other_machines()
