"""What a kernel behind walls cannot see, reach or change, tried from within."""

from __future__ import annotations

import ast
import fcntl
import importlib.util
import os
import socket
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox import Policy, ProcessLimits
from autograder.sandbox.seccomp import filter_program
from tests.system.sandboxed import ISOLATED, Console, console, meet_abstract_socket, sandbox_or_skip

pytestmark = pytest.mark.slow

SECRET = "AUTOGRADER_TEST_SECRET"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of the grader: another student's submission, the gradebook, and two directories to be let in."""
    root = tmp_path_factory.mktemp("host")
    for name in ("submitted/other/lab.ipynb", "gradebook.db", "let_in/data.txt", "files/data.txt"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("of the host")
    (root / "files" / "link").symlink_to(root / "gradebook.db")
    return root


@pytest.fixture(scope="module", params=ISOLATED)
def prompt(request: pytest.FixtureRequest, host: Path) -> Iterator[Console]:
    policy = Policy(read_only=(host / "let_in",), environment={"COURSE": "dl"})
    limits = ProcessLimits(scratch_mib=32, shared_memory_mib=16)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET, "1")
        with (
            sandbox_or_skip(request.param, policy) as sandbox,
            console(sandbox, files=host / "files", policy=policy, limits=limits) as running,
        ):
            yield running


def checkout() -> Path:
    spec = importlib.util.find_spec("labkit")
    assert spec is not None and spec.origin is not None
    root = Path(spec.origin).parents[1]
    if not (root / "pyproject.toml").exists():
        pytest.skip(f"labkit is installed in {root}: there is no checkout to hide")
    return root


def exists(prompt: Console, *paths: Path | str) -> list[bool]:
    found = prompt.run(f"import os; [os.path.lexists(path) for path in {[str(path) for path in paths]!r}]")
    return [bool(answer) for answer in ast.literal_eval(found)]


def test_of_the_checkout_only_what_a_student_needs_is_there(prompt: Console) -> None:
    root = checkout()
    found = set(ast.literal_eval(prompt.run(f"import os; os.listdir({str(root)!r})")))
    prefix = Path(sys.prefix)
    assert found - ({prefix.relative_to(root).parts[0]} if prefix.is_relative_to(root) else set()) == {
        "autograder",
        "labkit",
        "datasets",
    }
    assert prompt.run(f"os.listdir({str(root / 'autograder')!r})") == "['boundary']"


def test_other_submissions_and_the_gradebook_are_not_there(prompt: Console, host: Path) -> None:
    assert exists(prompt, host / "gradebook.db", host / "submitted", host / "files") == [False] * 3
    assert prompt.run("open('link')").startswith("FileNotFoundError")


def test_homes_and_secrets_of_the_system_are_not_there(prompt: Console) -> None:
    paths = ["/home", "/etc/shadow", "/etc/resolv.conf", "/etc/ssh", "/var", "/srv", "/opt/course", "/mnt", "/boot"]
    assert exists(prompt, *paths) == [False] * len(paths)


def test_of_roots_home_only_a_python_below_it_is_there(prompt: Console) -> None:
    pythons = [Path(sys.prefix), Path(sys.base_prefix)]
    allowed = {python.relative_to("/root").parts[0] for python in pythons if python.is_relative_to("/root")}
    found = prompt.run("import os; os.listdir('/root') if os.path.exists('/root') else []")
    assert set(ast.literal_eval(found)) <= allowed


def test_the_environment_is_the_sandboxs_own(prompt: Console) -> None:
    said = ast.literal_eval(prompt.run(f"import os; {{name: os.environ.get(name) for name in ({SECRET!r}, 'COURSE')}}"))
    assert said == {SECRET: None, "COURSE": "dl"}
    assert prompt.run("os.listdir(os.environ['HOME'])").count("bash") == 0


@pytest.mark.parametrize(
    "place",
    ["/", "/dev", "/etc", "/usr/bin", "/usr/lib", "/run/autograder", "/run/autograder/files", "/proc/sys/kernel"],
)
def test_the_system_is_read_only(prompt: Console, place: str) -> None:
    said = prompt.run(f"open({place!r} + '/intruder', 'w')")
    assert said.startswith(("OSError: [Errno 30]", "PermissionError", "FileNotFoundError"))


def test_python_and_labkit_are_read_only(prompt: Console, host: Path) -> None:
    import labkit

    places = [sys.prefix, sys.base_prefix, str(Path(labkit.__file__).parent), str(host / "let_in")]
    for place in places:
        said = prompt.run(f"open({place!r} + '/intruder', 'w')")
        assert said.startswith(("OSError: [Errno 30]", "PermissionError")), place
    assert prompt.run(f"open({str(host / 'let_in/data.txt')!r}).read()") == "'of the host'"


def test_files_are_copies_that_belong_to_the_student(prompt: Console, host: Path) -> None:
    assert prompt.run("open('data.txt', 'a').write('!'); open('data.txt').read()") == "'of the host!'"
    assert (host / "files/data.txt").read_text() == "of the host"


def test_scratch_space_is_bounded(prompt: Console) -> None:
    for place in ("/tmp/fill", "fill", "/dev/shm/fill"):
        said = prompt.run(f"""
            try:
                with open({place!r}, "wb") as file:
                    for _ in range(64):
                        file.write(bytes(1 << 20))
            finally:
                os.remove({place!r})
        """)
        assert said == "OSError: [Errno 28] No space left on device"


def test_the_network_ends_at_its_own_loopback(prompt: Console) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        socket.create_connection(address, timeout=2).close()
        said = prompt.run(f"import socket; socket.create_connection({address!r}, timeout=2)")
    assert said.startswith("ConnectionRefusedError")
    assert prompt.run("socket.create_connection(('192.0.2.1', 80), timeout=2)").startswith("OSError: [Errno 101]")
    assert prompt.run("socket.if_nameindex()") == "[(1, 'lo')]"


def test_names_are_not_resolved(prompt: Console) -> None:
    assert prompt.run("import socket; socket.getaddrinfo('example.org', 80)").startswith("gaierror")


def test_abstract_sockets_of_the_host_cannot_be_reached(prompt: Console) -> None:
    assert meet_abstract_socket(prompt).startswith("ConnectionRefusedError")


def test_the_graders_sockets_cannot_be_reached(prompt: Console) -> None:
    assert exists(prompt, prompt.manager.ip, f"{prompt.manager.ip}-1", prompt.manager.connection_file) == [False] * 3


def test_processes_of_the_host_are_neither_seen_nor_signalled(prompt: Console) -> None:
    seen = sorted(map(int, ast.literal_eval(prompt.run("import os; list(filter(str.isdecimal, os.listdir('/proc')))"))))
    assert seen[0] == 1 and len(seen) <= 3
    host_pid = max(os.getpid(), seen[-1] + 1)
    assert prompt.run(f"os.kill({host_pid}, 0)").startswith("ProcessLookupError")


def test_its_first_process_can_be_neither_killed_nor_looked_through(prompt: Console) -> None:
    prompt.run("import os, signal\ntry: os.kill(1, signal.SIGKILL)\nexcept PermissionError: pass")
    assert prompt.run("1 + 1") == "2"
    roots = prompt.run("try: print(sorted(os.listdir('/proc/1/root')))\nexcept PermissionError: print([])")
    assert "home" not in ast.literal_eval(roots)


def test_it_has_no_rights_and_cannot_gain_any(prompt: Console) -> None:
    lines = prompt.run("print(open('/proc/self/status').read())").splitlines()
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == int(status["CapAmb"], 16) == 0
    assert status["NoNewPrivs"].strip() == "1"
    assert set(status["Uid"].split()) != {"0"}
    assert prompt.run("import os; os.setuid(0)").startswith(("PermissionError", "OSError: [Errno 22]"))


def test_on_the_host_it_is_not_root(prompt: Console) -> None:
    process = prompt.manager.provisioner._process
    assert process is not None
    owners = {Path(f"/proc/{pid}").stat().st_uid for pid in _innermost(process.pid)}
    assert len(owners) == 1
    assert not owners & {Path(path).stat().st_uid for path in ("/", "/tmp", "/etc/shadow")}


def _innermost(pid: int) -> list[int]:
    """Return the descendants of a process that have no children themselves."""
    children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [leaf for child in children for leaf in _innermost(child)] or [pid]


def test_programs_of_another_user_run_as_the_student(prompt: Console) -> None:
    setuid = [path for path in map(Path, ("/usr/bin/su", "/usr/bin/passwd", "/usr/bin/mount")) if path.exists()]
    setuid = [path for path in setuid if path.stat().st_mode & stat.S_ISUID]
    if not setuid:
        pytest.skip("this system has no setuid program to try")
    options = prompt.run(f"os.statvfs({str(setuid[0])!r}).f_flag & os.ST_NOSUID")
    assert options == str(os.ST_NOSUID)


def test_no_namespaces_can_be_made_inside(prompt: Console) -> None:
    assert "failed" in prompt.run("!unshare --user true")
    assert "failed" in prompt.run("!unshare --user --net true")


def test_system_calls_that_no_lab_needs_are_refused(prompt: Console) -> None:
    if not filter_program():
        pytest.skip("there is no list of system calls for this machine")
    said = prompt.run("""
        import ctypes, errno, platform, socket
        libc = ctypes.CDLL(None, use_errno=True)
        column = {"x86_64": 0, "aarch64": 1}[platform.machine()]
        calls = {"shmget": (29, 194), "keyctl": (250, 219), "bpf": (321, 280), "io_uring_setup": (425, 425)}
        refused = []
        for name, numbers in calls.items():
            if libc.syscall(numbers[column], 0, 4096, 0o1600) == -1 and ctypes.get_errno() == errno.EPERM:
                refused.append(name)
        try:
            socket.socket(socket.AF_VSOCK)
        except OSError:
            refused.append("vsock")
        refused
    """)
    assert ast.literal_eval(said) == ["shmget", "keyctl", "bpf", "io_uring_setup", "vsock"]


def test_the_connections_key_is_not_on_any_command_line(prompt: Console) -> None:
    lines = prompt.run("print([open(f'/proc/{pid}/cmdline').read() for pid in (1, 2)])")
    assert prompt.manager.session.key.decode() not in lines


def test_a_file_that_all_can_read_tells_nobody_who_uses_it(prompt: Console) -> None:
    """A lock on a library would be seen in every sandbox: two submissions could talk, and one retell hidden tests."""
    if not filter_program():
        pytest.skip("there is no list of system calls for this machine")
    said = prompt.run(f"""
        import fcntl
        library = open({os.__file__!r}, "rb")
        fcntl.flock(library, fcntl.LOCK_EX | fcntl.LOCK_NB)
        print("as if it had been done")
        fcntl.fcntl(library, fcntl.F_NOTIFY, fcntl.DN_ACCESS)
    """)
    assert said.split("\n") == ["as if it had been done", "PermissionError: [Errno 1] Operation not permitted"]
    with Path(os.__file__).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # BlockingIOError, had it been done


def test_two_processes_may_write_to_one_file_of_sqlite(prompt: Console) -> None:
    """Locks that are passed over lose what one of them has added, or tear the file."""
    said = prompt.run("""
        import sqlite3, subprocess, sys
        connection = sqlite3.connect("sums.db")
        connection.executescript("CREATE TABLE sums (value); INSERT INTO sums VALUES (0)")
        open("add.py", "w").write('''
        import sqlite3
        connection = sqlite3.connect("sums.db", timeout=60, isolation_level=None)
        for _ in range(2000):
            for step in "BEGIN IMMEDIATE", "UPDATE sums SET value = value + 1", "COMMIT":
                connection.execute(step)
        ''')
        adders = [subprocess.Popen([sys.executable, "add.py"]) for _ in range(2)]
        print([adder.wait() for adder in adders], *connection.execute("SELECT value FROM sums"))
    """)
    assert said == "[0, 0] (4000,)"


def test_a_device_that_all_may_write_to_keeps_nothing(prompt: Console) -> None:
    """/dev/null is one file in all sandboxes: two submissions could talk by its hints or times."""
    if not filter_program():
        pytest.skip("there is no list of system calls for this machine")
    before = Path(os.devnull).stat().st_mtime_ns
    said = prompt.run("""
        import fcntl, os
        nothing = open("/dev/null", "r+b")
        os.utime("/dev/null")
        os.utime(nothing.fileno())
        print("as if it had been done")
        fcntl.fcntl(nothing, 1036, bytes(8))  # F_SET_RW_HINT
    """)
    assert said.split("\n") == ["as if it had been done", "PermissionError: [Errno 1] Operation not permitted"]
    assert Path(os.devnull).stat().st_mtime_ns == before
