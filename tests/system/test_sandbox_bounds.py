"""What a program in each sandbox may use, and that nothing of it survives: first mildly, then with malice."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.errors import SandboxError
from autograder.sandbox import Job, ProcessLimits, Sandbox, choose
from autograder.sandbox.scratch_dir import PREFIX
from tests.system.sandboxed import ISOLATED, NAMES, program, sandbox_or_skip

pytestmark = pytest.mark.slow

# Every loop in a hostile program ends by itself after this time, should a limit ever fail.
SELF_LIMIT_S = 15

DAEMON = """
told, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(test, b"daemon")
        os.write(tell, b".")
        time.sleep(60)
        os.write(test, b"survived")
    os._exit(0)
os.read(told, 1)
"""


@pytest.fixture(params=NAMES, scope="module")
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with sandbox_or_skip(request.param) as sandbox:
        yield sandbox


def test_more_processes_than_allowed_cannot_be_started(sandbox: Sandbox, tmp_path: Path) -> None:
    source = """
    started = 0
    try:
        for _ in range(10):
            if os.fork() == 0:
                time.sleep(20)
                os._exit(0)
            started += 1
    except BlockingIOError:
        pass
    os.write(test, str(started).encode())
    """
    with program(sandbox, tmp_path, source, limits=ProcessLimits(processes=5)) as running:
        assert 1 <= int(running.line()) <= 4


def test_a_fork_bomb_is_bounded_and_can_be_killed(sandbox: Sandbox, tmp_path: Path) -> None:
    source = f"""
    children = []
    try:
        for _ in range(40):
            children.append(os.fork())
            if children[-1] == 0:
                time.sleep(20)
                os._exit(0)
    except BlockingIOError:
        pass
    else:
        os.write(test, b"without a limit it is not lit")
        os._exit(1)
    for child in children:
        os.kill(child, 9)
        os.waitpid(child, 0)
    os.write(test, b"lit")
    end = time.monotonic() + {SELF_LIMIT_S}
    while time.monotonic() < end:
        try:
            os.fork()
        except BlockingIOError:
            pass
    """
    with program(sandbox, tmp_path, source, limits=ProcessLimits(processes=30)) as running:
        assert running.line() == "lit"
        time.sleep(1)
        assert 10 <= len(_family(running.process.pid)) <= 40
        began = time.monotonic()
        running.process.close()
        assert time.monotonic() - began < SELF_LIMIT_S - 2
        assert running.line(timeout_s=1) == ""


def test_a_file_grows_no_further_than_allowed(sandbox: Sandbox, tmp_path: Path) -> None:
    source = """
    with open("large", "wb", buffering=0) as file:
        try:
            for _ in range(8):
                file.write(bytes(1 << 20))
        except OSError as error:
            os.write(test, f"{error.strerror} at {os.stat('large').st_size >> 20} MiB".encode())
    """
    with program(sandbox, tmp_path, source, limits=ProcessLimits(file_size_mib=2)) as running:
        assert running.line() == "File too large at 2 MiB"


@pytest.mark.parametrize("name", ISOLATED)
@pytest.mark.parametrize("place", [".", "/tmp", "~", "/dev/shm"])
def test_no_more_files_than_allowed_can_be_made(name: str, place: str, tmp_path: Path) -> None:
    source = f"""
    made = 0
    try:
        while made < 1000:
            open(os.path.expanduser(f"{place}/{{made}}"), "w").close()
            made += 1
        os.write(test, b"without a bound")
    except OSError as error:
        os.write(test, f"{{error.strerror}}, {{made // 100}}".encode())
    """
    with (
        sandbox_or_skip(name) as sandbox,
        program(sandbox, tmp_path, source, limits=ProcessLimits(files=400)) as running,
    ):
        assert running.line() == "No space left on device, 3"


def test_no_more_files_than_allowed_can_be_open(sandbox: Sandbox, tmp_path: Path) -> None:
    source = """
    kept = []
    try:
        while len(kept) < 500:
            kept.append(open("/dev/null"))
    except OSError as error:
        os.write(test, error.strerror.encode())
    """
    with program(sandbox, tmp_path, source, limits=ProcessLimits(open_files=64)) as running:
        assert running.line() == "Too many open files"


def test_address_space_is_limited(sandbox: Sandbox, tmp_path: Path) -> None:
    source = """
    try:
        bytearray(1 << 30)
    except MemoryError:
        os.write(test, b"MemoryError")
    """
    with program(sandbox, tmp_path, source, limits=ProcessLimits(memory_mib=512)) as running:
        assert running.line() == "MemoryError"


def test_processor_time_is_limited(sandbox: Sandbox, tmp_path: Path) -> None:
    source = f"""
    end = time.monotonic() + {SELF_LIMIT_S} * 4
    while time.monotonic() < end: pass
    """
    with program(sandbox, tmp_path, source, limits=ProcessLimits(cpu_s=1)) as running:
        code = running.process.wait(SELF_LIMIT_S * 3)
    assert code in (128 + signal.SIGKILL, 128 + signal.SIGXCPU)


def test_it_is_the_first_to_go_when_memory_runs_out(sandbox: Sandbox, tmp_path: Path) -> None:
    with program(sandbox, tmp_path, "os.write(test, open('/proc/self/oom_score_adj', 'rb').read())") as running:
        assert running.line() == "1000\n"


def test_a_daemon_does_not_survive_the_end_of_the_program(sandbox: Sandbox, tmp_path: Path) -> None:
    with program(sandbox, tmp_path, DAEMON) as running:
        assert running.line() == "daemon"
        assert running.process.wait(10) == 0
        running.process.close()
        assert running.line(timeout_s=1) == ""


def test_a_daemon_does_not_survive_the_killing_of_the_program(sandbox: Sandbox, tmp_path: Path) -> None:
    with program(sandbox, tmp_path, DAEMON + "\ntime.sleep(60)") as running:
        assert running.line() == "daemon"
        assert running.process.poll() is None
        running.process.close()
        assert running.line(timeout_s=1) == ""


def test_processes_that_ignore_every_signal_are_killed_too(sandbox: Sandbox, tmp_path: Path) -> None:
    source = """
    import signal
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    """
    with program(sandbox, tmp_path, source + DAEMON.replace("\n", "\n    ") + "\n    time.sleep(60)") as running:
        assert running.line() == "daemon"
        running.process.close()
        assert running.line(timeout_s=1) == ""


@pytest.mark.parametrize("name", NAMES)
def test_nothing_survives_the_graders_own_death(name: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import os, sys, time\ntest = int(sys.argv[1])" + DAEMON + "time.sleep(60)")
    grader = """
    import sys, time
    from pathlib import Path
    from autograder.sandbox import Job, Prewarmed, choose
    directory, pipe, name = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    room = directory / "room"
    room.mkdir()
    job = Job(program=directory / "program.py", directory=room, arguments=(pipe,), descriptors=(int(pipe),))
    sandbox = Prewarmed(choose(), ()) if name == "prewarmed" else choose(name)
    process = sandbox.start(job)
    time.sleep(60)
    """.replace("\n    ", "\n")
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        victim = subprocess.Popen([sys.executable, "-c", grader, str(tmp_path), str(writer), name], pass_fds=[writer])
        os.close(writer)
        assert pipe.read(6) == b"daemon"
        victim.kill()
        victim.wait()
        began = time.monotonic()
        assert pipe.read(6) == b""
        assert time.monotonic() - began < SELF_LIMIT_S


@pytest.mark.parametrize("name", ["bubblewrap", "landlock", "limits"])
def test_whenever_a_grader_is_killed_while_a_sandbox_begins_the_next_grader_leaves_nothing_of_it(name: str) -> None:
    grader = """
    import os, signal, subprocess, sys, time
    from pathlib import Path
    from autograder.sandbox import Job, choose
    from autograder.sandbox.scratch_dir import ScratchDir
    pipe, program, sandbox, delay_s = int(sys.argv[1]), Path(sys.argv[2]), choose(sys.argv[3]), float(sys.argv[4])
    class Fatal(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            time.sleep(delay_s)
            os.kill(os.getpid(), signal.SIGKILL)
    subprocess.Popen = Fatal
    sandbox.start(Job(program=program, directory=ScratchDir().path, descriptors=(pipe,)))
    """.replace("\n    ", "\n")
    with sandbox_or_skip(name), tempfile.TemporaryDirectory(prefix="t-") as folder:  # a room's path is short
        program = Path(folder, "program.py")
        program.write_text("import time; time.sleep(60)")
        environment = {**os.environ, "TMPDIR": folder}
        reader, writer = os.pipe()
        for delay_ms in (0, 2, 4, 6, 8, 10, 20):
            command = [sys.executable, "-c", grader, str(writer), str(program), name, str(delay_ms / 1000)]
            done = subprocess.run(command, env=environment, pass_fds=[writer], check=False)
            assert done.returncode == -signal.SIGKILL
        os.close(writer)
        assert len(list(Path(folder).glob(f"{PREFIX}*"))) >= 7
        with os.fdopen(reader, "rb", buffering=0) as pipe:
            next_one = "from autograder.sandbox.scratch_dir import ScratchDir; ScratchDir().leave()"
            began = time.monotonic()
            while rooms := list(Path(folder).glob(f"{PREFIX}*")):
                assert time.monotonic() - began < SELF_LIMIT_S
                for room in rooms:
                    os.utime(room, (0, 0))
                subprocess.run([sys.executable, "-c", next_one], env=environment, check=True)
            assert select.select([pipe], [], [], SELF_LIMIT_S)[0], "something holds the pipe still"
            assert pipe.read(1) == b""


def test_limits_started_by_root_run_as_a_user_who_can_change_nothing(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("started by an ordinary user, limits run as that user; limits.py says so")
    source = f"""
    done = []
    for attempt in (
        lambda: open("/etc/intruder", "w"),
        lambda: os.remove({str(tmp_path / "program.py")!r}),
        lambda: os.kill(os.getppid(), 9),
        lambda: os.kill({os.getpid()}, 0),
        lambda: os.setuid(0),
    ):
        try:
            attempt()
            done.append("did it")
        except PermissionError:
            pass
    capabilities = [line for line in open("/proc/self/status") if line.startswith("CapEff")][0].split()[1]
    os.write(test, repr((os.getuid() > 0, done, int(capabilities, 16) & ~4)).encode())  # 4: read every file
    """
    with program(choose("limits"), tmp_path, source) as running:
        assert running.line() == "(True, [], 0)"


@pytest.mark.parametrize("name", ISOLATED)
def test_files_that_do_not_fit_are_an_error_before_anything_runs(name: str, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "large").write_bytes(bytes(3 << 20))
    limits = ProcessLimits(scratch_mib=1)
    with (
        sandbox_or_skip(name) as sandbox,
        pytest.raises(SandboxError, match="No space left on device"),
        program(sandbox, tmp_path, "os.write(test, b'ran')", files=files, limits=limits) as running,
    ):
        assert running.line() == ""


def test_last_words_are_what_it_wrote_to_standard_error(sandbox: Sandbox, tmp_path: Path) -> None:
    with program(sandbox, tmp_path, "sys.exit('farewell ' + 'x' * 100_000 + ' world')") as running:
        assert running.process.wait(10) == 1
    words = running.process.last_words()
    assert words.endswith("x world") and len(words) == 8191


def test_a_program_that_is_not_there_is_an_error(sandbox: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="sandbox: "):
        process = sandbox.start(Job(program=tmp_path / "none.py", directory=tmp_path))
        process.wait(10)
        process.close()
        raise SandboxError(f"sandbox: {process.last_words()}")


def _family(parent: int) -> set[int]:
    parents = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it ended meanwhile
    found = {parent}
    while more := {pid for pid, its_parent in parents.items() if its_parent in found} - found:
        found |= more
    return found - {parent}
