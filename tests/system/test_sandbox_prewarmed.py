"""Pre-warmed processes: as a cold start but faster, walls between two of them, and what happens when one fails."""

from __future__ import annotations

import ast
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import SandboxError
from autograder.sandbox import Job, Policy, Prewarmed, ProcessLimits, Sandbox, choose, zygote
from tests.system.sandboxed import Console, console, program, sandbox_or_skip

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def outer() -> Iterator[Sandbox]:
    with sandbox_or_skip("bubblewrap") as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with sandbox_or_skip("prewarmed") as sandbox:
        yield sandbox


@pytest.fixture
def fresh(outer: Sandbox) -> Iterator[Prewarmed]:
    """One without frameworks, to be broken."""
    with Prewarmed(outer, (), recycle_after=3) as sandbox:
        yield sandbox


def answer(sandbox: Sandbox, directory: Path, source: str, **job: Any) -> Any:
    """Return the value that the program told, by `tell`."""
    directory.mkdir(exist_ok=True)
    tell = "def tell(value): os.write(test, repr(value).encode())\n"
    with program(sandbox, directory, tell + source, **job) as running:
        text = "".join(iter(running.line, ""))
        assert running.process.wait(20) is not None and running.process.close() == 0, running.process.last_words()
    return ast.literal_eval(text)


def pids(sandbox: Prewarmed) -> list[int]:
    """Return the outermost process of each of the students' pre-warmed ones that has not ended, on the host."""
    return [each._process.pid for each in sandbox._lineages[False]._zygotes if each._process.poll() is None]


def pre_warmed_itself(sandbox: Prewarmed) -> int:
    """Return its pid on the host: below bwrap's two processes."""
    pid = pids(sandbox)[-1]
    for _ in range(2):
        pid = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
    return pid


# ------------------------------------------------------------------------------------------------------ as started cold
STATE = """
import pwd, resource, signal, stat, sysconfig
kinds = {}
known = {"0": "input", str(test): "test"}  # whose number is the lowest that was free in the grader when it started
for name in os.listdir("/proc/self/fd"):
    try:
        kinds[known.get(name, name)] = stat.S_IFMT(os.fstat(int(name)).st_mode) if name != "0" else None
    except OSError:
        pass  # the one that lists them
state = {
    "arguments": sys.argv[:1], "path": sys.path, "flags": tuple(sys.flags), "directory": os.getcwd(),
    "environment": dict(os.environ), "descriptors": kinds, "inheritable": os.get_inheritable(test),
    "name": __name__, "file": __file__, "builtins": __builtins__.__name__, "source": open(__file__).read(),
    "umask": os.umask(0), "input": sys.stdin.read(), "end of input": os.read(0, 1), "streams": sys.stdout.encoding,
    "threads": len(os.listdir("/proc/self/task")), "pid": os.getpid(), "parent": os.getppid(),
    "signals": [str(signal.getsignal(n)) for n in signal.Signals], "blocked": signal.pthread_sigmask(0, []),
    "limits": {n: resource.getrlimit(getattr(resource, n)) for n in dir(resource) if n.startswith("RLIMIT_")},
    "groups": os.getgroups(), "user": pwd.getpwuid(os.getuid()).pw_name,
    "first to go": open("/proc/self/oom_score_adj").read(),
    "own": [os.stat(path).st_uid == os.getuid() for path in ("data", "/proc/self/environ", "/proc/self/fd")],
    "modes": {path: oct(os.stat(path).st_mode) for path in ("/tmp", "..", ".", "/tmp/home", "/dev/shm", "data")},
    "files": {path: sorted(os.listdir(path)) for path in (".", "..", "../home", "/dev", "/etc", "/dev/pts")},
    "hash": hash("one"), "beside": [name for name in sys.modules if name in ("inner", "inside", "landlock")],
    "status": [line for line in open("/proc/self/status") if line.startswith(("NoNew", "CapEff", "Seccomp:"))],
    "name of the machine": os.uname().nodename, "globals": sorted(globals()),
}
del state["limits"]["RLIMIT_NPROC"]  # in the Linux before 5.14 what else runs counts as well
tell(state)
"""


def test_a_program_finds_what_it_would_find_when_started_cold(outer: Sandbox, fresh: Prewarmed, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "data").write_text("1")
    (files / "data").chmod(0o640)
    (files / "link").symlink_to("data")
    limits = ProcessLimits(memory_mib=1000, open_files=99, scratch_mib=16)
    policy = Policy(environment={"COURSE": "dl"})
    job = {"files": files, "stdin": b"input", "limits": limits, "policy": policy}
    cold, warm = (
        answer(sandbox, tmp_path / f"{number}", STATE, **job) for number, sandbox in enumerate((outer, fresh))
    )
    if cold["first to go"] == "0\n":  # the /proc of a container, which is read-only where a program is started cold
        cold["first to go"] = "1000\n"
    assert warm == cold


def test_modules_are_imported_before_the_program_starts(sandbox: Sandbox, tmp_path: Path) -> None:
    assert answer(sandbox, tmp_path, "tell({'numpy', 'IPython'} <= set(sys.modules))") is True


def test_each_program_draws_numbers_of_its_own(outer: Sandbox, tmp_path: Path) -> None:
    draw = """
import random, numpy, torch
tell([random.random(), float(numpy.random.rand()), float(torch.rand(())), float(numpy.random.default_rng().random())])
"""
    with Prewarmed(outer, ("numpy", "torch")) as sandbox:
        first, second = (answer(sandbox, tmp_path / name, draw) for name in "ab")
    assert all(one != other for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize(
    ("source", "code", "words"),
    [
        ("", 0, ""),
        ("sys.exit(3)", 3, ""),
        ("sys.exit('no')", 1, "no"),
        ("os._exit(4)", 4, ""),
        ("os.kill(os.getpid(), 9)", 137, ""),
        ("import ctypes; ctypes.string_at(0)", 139, ""),
        ("raise KeyboardInterrupt", 130, "KeyboardInterrupt"),
        ("import atexit; atexit.register(print, 'bye', file=sys.stderr)", 0, "bye"),
        ("os.kill(os.getppid(), 9)", None, None),
        ("if True print", 1, "SyntaxError: invalid syntax"),
    ],
)
def test_exit_codes_and_last_words_are_those_of_a_cold_start(
    outer: Sandbox, sandbox: Sandbox, tmp_path: Path, source: str, code: int | None, words: str | None
) -> None:
    ends = []
    for number, each in enumerate((outer, sandbox)):
        (tmp_path / f"{number}").mkdir()
        with program(each, tmp_path / f"{number}", source) as running:
            found = running.process.wait(20)
            assert running.process.close() == found
            ends.append((found, running.process.last_words().split("\n")[-1]))
    assert ends[0] == ends[1]
    assert code is None or ends[0][0] == code
    assert words is None or ends[0][1].endswith(words)


def test_an_error_is_shown_without_the_frames_of_the_sandbox(sandbox: Sandbox, tmp_path: Path) -> None:
    with program(sandbox, tmp_path, "def f(): 1 / 0\nf()") as running:
        running.process.wait(20)
        running.process.close()
        assert running.process.last_words().count("\n  File ") == 2


def test_two_forks_share_no_random_numbers(sandbox: Sandbox, tmp_path: Path) -> None:
    source = """
import random, tempfile, uuid
import numpy as np
numbers = random.random(), float(np.random.rand()), float(np.random.default_rng().random())
tell((*numbers, tempfile.mktemp(), uuid.uuid4().hex))
"""
    first, second = (answer(sandbox, tmp_path / f"{number}", source) for number in range(2))
    assert all(one != other for one, other in zip(first, second, strict=True))


# --------------------------------------------------------------------------------------------------------- between two
HOST = """
import mmap, pty, socket
name = socket.socket(socket.AF_UNIX)
name.bind("\\0of-the-first"); name.listen()
path = socket.socket(socket.AF_UNIX)
path.bind("/tmp/socket"); path.listen()
port = socket.create_server(("127.0.0.1", 4321))
for file in ("/tmp/own", "/dev/shm/own", "own"):
    open(file, "w").write("of the first")
terminal = pty.openpty()
os.chmod(os.ttyname(terminal[1]), 0o666)
os.write(test, f"{os.ttyname(terminal[1])} {os.getuid()}".encode())
time.sleep(60)
"""

NEIGHBOUR = """
import ctypes, signal, socket
terminal, uid = sys.stdin.read().split()
found = []
def attempt(what, action):
    try:
        if action() == b"":
            return  # a thread of the kernel, which has no memory
    except OSError:
        return
    found.append(what)
attempt("abstract socket", lambda: socket.socket(socket.AF_UNIX).connect("\\0of-the-first"))
attempt("socket", lambda: socket.socket(socket.AF_UNIX).connect("/tmp/socket"))
attempt("port", lambda: socket.create_connection(("127.0.0.1", 4321), timeout=2))
for file in ("/tmp/own", "/dev/shm/own", os.path.join("/tmp", "work", "own"), terminal):
    attempt(file, lambda: os.stat(file))
libc = ctypes.CDLL(None, use_errno=True)
def traced(pid):
    if libc.ptrace(0x4206, pid, None, None):  # PTRACE_SEIZE
        raise OSError
others = {int(pid) for pid in os.listdir("/proc") if pid.isdecimal()} - {int(os.readlink("/proc/self"))} | {1}
looked = 0
for pid in sorted(others):
    for file in ("environ", "mem", "maps", "auxv", "stack", "syscall"):
        attempt((pid, file), lambda: open(f"/proc/{pid}/{file}", "rb").read(1))
    for file in ("root", "cwd", "exe", "ns/net"):
        attempt((pid, file), lambda: os.readlink(f"/proc/{pid}/{file}"))
    for number in range(9):
        attempt((pid, number), lambda: os.stat(f"/proc/{pid}/fd/{number}"))
    attempt((pid, "trace"), lambda: traced(pid))
    if pid not in (1, os.getpid()):
        attempt((pid, "signal"), lambda: os.kill(pid, 0))
    looked += 1
try:
    os.kill(-1, signal.SIGKILL)
except OSError:
    pass
tell((found, looked, os.getuid() != int(uid)))
"""


def test_two_forks_that_run_at_once_do_not_meet(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "host").mkdir()
    with program(sandbox, tmp_path / "host", HOST) as host:
        known = host.line()
        found, looked, other_uid = answer(sandbox, tmp_path / "neighbour", NEIGHBOUR, stdin=known.encode())
        assert found == []
        assert looked >= 1
        assert other_uid or os.getuid() != 0
        assert host.process.poll() is None


def test_nothing_of_the_pre_warmed_process_is_open_in_a_fork(sandbox: Sandbox, tmp_path: Path) -> None:
    source = """
listed = os.listdir("/proc/self/fd")
sockets = open("/proc/self/net/unix").read().splitlines()[1:]
tell(({int(name) for name in listed if os.path.exists(f"/proc/self/fd/{name}")} - {test}, sockets))
"""
    assert answer(sandbox, tmp_path, source) == ({0, 1, 2}, [])


SEARCH = """
import re
# Spelled backwards: what it looks for is followed by digits only where the secret itself lies.
pattern = re.compile(("terces-eht"[::-1] + "-[0-9]{20}").encode())
hits = 0
with open("/proc/self/mem", "rb", buffering=0) as memory:
    for line in open("/proc/self/maps"):
        bounds, rights = line.split()[:2]
        first, last = (int(number, 16) for number in bounds.split("-"))
        if rights.startswith("rw"):
            memory.seek(first)
            try:
                hits += len(pattern.findall(memory.read(last - first)))
            except OSError:
                pass
tell(hits)
"""


def test_an_earlier_fork_has_left_no_trace_in_memory(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = f"the-secret-{time.time_ns():020}"
    job = {"stdin": secret.encode(), "policy": Policy(environment={"SECRET": secret})}
    assert answer(sandbox, tmp_path / "first", "kept = sys.stdin.read()\n" + SEARCH, **job) > 0
    assert answer(sandbox, tmp_path / "second", SEARCH) == 0


LAYOUT = """
import ctypes, numpy
places = [line.split("-")[0] for line in open("/proc/self/maps") if line.rstrip().endswith(("[heap]", "[stack]"))]
libc = ctypes.cast(ctypes.CDLL(None).malloc, ctypes.c_void_p).value
tell([*places, hex(libc), hex(id(numpy)), hex(id(numpy.zeros)), hex(id(object))])
"""


def test_no_address_of_a_students_program_is_one_of_a_trusted_program(sandbox: Sandbox, tmp_path: Path) -> None:
    if Path("/proc/sys/kernel/randomize_va_space").read_text().strip() == "0":
        pytest.skip("this machine lays out all processes alike (sysctl kernel.randomize_va_space=2)")
    students = [answer(sandbox, tmp_path / f"student{number}", LAYOUT) for number in range(2)]
    trusted = [answer(sandbox, tmp_path / f"trusted{number}", LAYOUT, trusted=True) for number in range(2)]
    assert len(students[0]) == 6
    for student in students:
        for other in trusted:
            assert set(student).isdisjoint(other)


def test_programs_run_side_by_side_from_several_threads(sandbox: Sandbox, tmp_path: Path) -> None:
    def one(number: int) -> tuple[int, float, float]:
        source = f"began = time.monotonic(); time.sleep(0.5); tell(({number}, began, time.monotonic()))"
        number, began, ended = answer(sandbox, tmp_path / f"{number}", source)
        return number, began, ended

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(one, range(16)))
    assert [number for number, _, _ in told] == list(range(16))
    assert max(sum(began <= moment < ended for _, began, ended in told) for _, moment, _ in told) >= 4


# ------------------------------------------------------------------------------------------- the pre-warmed process
def test_after_so_many_forks_a_new_process_takes_over_and_the_old_one_waits_for_its_last_program(
    fresh: Prewarmed, tmp_path: Path
) -> None:
    first = pids(fresh)
    (tmp_path / "long").mkdir()
    with program(fresh, tmp_path / "long", "os.write(test, b'.'); time.sleep(60)") as long:
        assert long.line() == "."
        for number in range(4):
            assert answer(fresh, tmp_path / f"{number}", f"tell({number})") == number
        assert first[0] in pids(fresh) and len(pids(fresh)) == 2
        assert long.process.poll() is None
    assert first[0] not in pids(fresh) and len(pids(fresh)) == 1


def test_a_pre_warmed_process_that_died_is_replaced_and_the_program_runs(fresh: Prewarmed, tmp_path: Path) -> None:
    os.kill(pre_warmed_itself(fresh), signal.SIGKILL)
    assert answer(fresh, tmp_path, "tell(1)") == 1


def test_programs_die_with_the_pre_warmed_process_and_the_next_one_runs(fresh: Prewarmed, tmp_path: Path) -> None:
    (tmp_path / "running").mkdir()
    with program(fresh, tmp_path / "running", "os.write(test, b'.'); time.sleep(60)") as running:
        assert running.line() == "."
        os.kill(pre_warmed_itself(fresh), signal.SIGKILL)
        assert running.process.wait(10) == 128 + signal.SIGKILL
        assert running.line(timeout_s=1) == ""
        assert answer(fresh, tmp_path / "next", "tell(1)") == 1


def test_a_pre_warmed_process_that_does_not_answer_is_replaced(
    fresh: Prewarmed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygote, "_ANSWER_TIMEOUT_S", 2)
    os.kill(pre_warmed_itself(fresh), signal.SIGSTOP)
    assert answer(fresh, tmp_path, "tell(1)") == 1


def test_a_trusted_program_has_a_pre_warmed_process_of_its_own_which_is_replaced_too(
    outer: Sandbox, tmp_path: Path
) -> None:
    def begun(sandbox: Prewarmed) -> list[int]:
        return [zygote.forks for zygote in sandbox._lineages[True]._zygotes if not zygote.closed]

    with Prewarmed(outer, (), recycle_after=2, trusted=False) as sandbox:
        assert answer(sandbox, tmp_path / "student", "tell(1)") == 1
        assert begun(sandbox) == []
        for number, forks in enumerate(([1], [2], [1])):
            assert answer(sandbox, tmp_path / f"{number}", f"tell({number})", trusted=True) == number
            assert begun(sandbox) == forks
        (zygote,) = sandbox._lineages[True]._zygotes
        os.kill(zygote._process.pid, signal.SIGKILL)
        assert answer(sandbox, tmp_path / "next", "tell(2)", trusted=True) == 2
        assert len(pids(sandbox)) == 1
    assert begun(sandbox) == []


def test_one_that_is_closed_before_its_second_process_is_warm_leaves_none(outer: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time; time.sleep(1)")
    policy = Policy(read_only=(tmp_path,), environment={"PYTHONPATH": str(tmp_path)})
    before = threading.enumerate(), _children()
    with Prewarmed(outer, ("slow",), policy=policy):
        pass
    assert (threading.enumerate(), _children()) == before


def _children() -> list[str]:
    return sorted(pid for task in Path("/proc/self/task").glob("*/children") for pid in task.read_text().split())


def test_a_closed_one_ends_all_that_runs(outer: Sandbox, tmp_path: Path) -> None:
    with Prewarmed(outer, ()) as sandbox:
        (tmp_path / "program.py").write_text("import time; time.sleep(60)")
        process = sandbox.start(Job(program=tmp_path / "program.py", directory=tmp_path))
    assert process.close() == 128 + signal.SIGKILL
    with pytest.raises(SandboxError, match="closed"):
        sandbox.start(Job(program=tmp_path / "program.py", directory=tmp_path))


@pytest.mark.parametrize(
    "policy",
    [
        Policy(read_only=(Path("/srv"),)),
        Policy(devices=(Path("/dev/full"),)),
        Policy(threads=2),
        Policy(environment={"OMP_NUM_THREADS": "2"}),
    ],
)
def test_what_was_settled_before_the_fork_cannot_be_changed_by_a_job(
    sandbox: Sandbox, tmp_path: Path, policy: Policy
) -> None:
    with pytest.raises(SandboxError, match="differs"):
        sandbox.start(Job(program=tmp_path / "program.py", directory=tmp_path, policy=policy))


def test_devices_and_paths_of_the_policy_are_there(outer: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "shown").mkdir()
    (tmp_path / "shown" / "data").write_text("1")
    (tmp_path / "file").write_text("2")
    policy = Policy(read_only=(tmp_path / "shown", tmp_path / "file"), devices=(Path("/dev/kmsg"),))
    source = f"""
try:
    open({str(tmp_path / "file")!r}, "a")
except OSError as error:
    refused = error.errno
read = [open(path).read() for path in ({str(tmp_path / "shown/data")!r}, {str(tmp_path / "file")!r})]
tell((*read, refused, os.path.exists("/dev/kmsg")))
"""
    with Prewarmed(outer, (), policy=policy) as sandbox:
        read, other, refused, device = answer(sandbox, tmp_path / "job", source, policy=policy)
    assert (read, other, device) == ("1", "2", True)
    assert refused in (13, 30)


def test_a_module_that_cannot_be_imported_is_an_error_that_names_it(outer: Sandbox) -> None:
    with pytest.raises(SandboxError, match="No module named 'nothing_of_this_name'"):
        Prewarmed(outer, ("nothing_of_this_name",))


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()", "1 threads"),
        ("import mmap\nkept = mmap.mmap(-1, 4096)", "all forks would share"),
    ],
)
def test_a_module_that_is_not_fit_for_forks_is_an_error(
    outer: Sandbox, tmp_path: Path, source: str, reason: str
) -> None:
    (tmp_path / "unfit.py").write_text(source)
    policy = Policy(read_only=(tmp_path,), environment={"PYTHONPATH": str(tmp_path)})
    with pytest.raises(SandboxError, match=reason):
        Prewarmed(outer, ("unfit",), policy=policy)


def test_without_walls_programs_are_started_cold(tmp_path: Path) -> None:
    with Prewarmed(choose("limits"), ("numpy",)) as sandbox:
        assert (sandbox.name, sandbox.isolated, sandbox.walls) == ("limits", False, "limits")
        assert sandbox.why_cold == "limits starts each program by itself"
        assert answer(sandbox, tmp_path, "tell('numpy' in sys.modules)") is False


def test_what_stands_is_said_in_words(fresh: Prewarmed) -> None:
    assert (fresh.name, fresh.isolated, fresh.why_not) == ("bubblewrap", True, "")
    assert fresh.walls == "bubblewrap, pre-warmed"


# --------------------------------------------------------------------------------------------------------- frameworks
@pytest.fixture(scope="module")
def frameworks(outer: Sandbox) -> Iterator[Sandbox]:
    with Prewarmed(outer, ("numpy", "torch", "tensorflow", "keras")) as sandbox:
        yield sandbox


@pytest.fixture
def prompt(frameworks: Sandbox) -> Iterator[Console]:
    with console(frameworks, timeout_s=60) as running:
        yield running


@pytest.mark.frameworks
@pytest.mark.parametrize("number", [0, 1, *(pytest.param(n, marks=pytest.mark.thorough) for n in (2, 3, 4))])
def test_torch_and_keras_train_after_a_fork(prompt: Console, number: int) -> None:
    said = prompt.run(
        """
        import torch
        layer = torch.nn.Linear(400, 200)
        optimizer = torch.optim.Adam(layer.parameters())
        for _ in range(3):
            layer(torch.randn(640, 400)).square().mean().backward()
            optimizer.step()
        import keras, numpy as np, tensorflow as tf
        model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2)])
        model.compile("adam", "mse")
        model.fit(np.ones((8, 4)), np.ones((8, 2)), verbose=0)
        float(tf.reduce_sum(tf.matmul(tf.ones((300, 300)), tf.ones((300, 300)))))
        """
    )
    assert said == "27000000.0"


@pytest.mark.frameworks
def test_processes_of_every_kind_can_be_started_from_a_fork(prompt: Console) -> None:
    said = prompt.run(
        """
        import multiprocessing, subprocess, sys, torch
        from concurrent.futures import ThreadPoolExecutor
        from torch.utils.data import DataLoader, TensorDataset
        batches = DataLoader(TensorDataset(torch.arange(100.0)), batch_size=10, num_workers=2)
        print(sum(float(batch[0].sum()) for batch in batches))
        for method in ("fork", "spawn", "forkserver"):
            with multiprocessing.get_context(method).Pool(2) as pool:
                print(pool.map(abs, [-1, -2]))
        with ThreadPoolExecutor(2) as pool:
            print(list(pool.map(abs, [-3])))
        print(subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, text=True).stdout)
        """
    )
    assert said.split("\n") == ["4950.0", "[1, 2]", "[1, 2]", "[1, 2]", "[3]", "42"]


@pytest.mark.frameworks
def test_labkit_launches_ranks_from_a_fork(prompt: Console) -> None:
    said = prompt.run(
        """
        import labkit
        def total(rank, world_size):
            import torch
            value = torch.tensor([float(rank)])
            torch.distributed.all_reduce(value)
            return value.item()
        labkit.launch(total, 4)
        """
    )
    assert said == "[6.0, 6.0, 6.0, 6.0]"


@pytest.mark.frameworks
def test_figures_are_drawn_inline_though_matplotlib_was_imported_before(prompt: Console) -> None:
    assert prompt.run("import sys; 'matplotlib' in sys.modules") == "True"
    (figure,) = prompt.cell("import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()").outputs
    assert "image/png" in figure.data
