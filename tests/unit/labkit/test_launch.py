"""Ranks: what they return, print and raise, and that nothing of them stays behind."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import os
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from labkit._launch.errors import RankError, RankNotImplementedError, blame, died, ranks, reported
from labkit._launch.fresh_process import ProcessError, in_fresh_process
from labkit._launch.launcher import launch
from labkit._launch.rank import Report
from labkit._launch.server import warm_server
from labkit._system import LINUX

pytestmark = pytest.mark.frameworks

BARRIER = "from torch import distributed as dist; dist.barrier()"


def failure(fn: Callable[..., Any], world_size: int = 3, **options: Any) -> RankError:
    with pytest.raises(RankError) as caught:
        launch(fn, world_size, **options)
    return caught.value


# ------------------------------------------------------------------------------------------------------------- values
def test_values_come_back_ordered_by_rank_after_a_collective() -> None:
    def total(rank: int, world_size: int, start: float) -> tuple[int, int, float]:
        import torch
        from torch import distributed as dist

        value = torch.tensor([start + rank])
        dist.all_reduce(value)
        return rank, world_size, value.item()

    assert launch(total, 4, 10.0) == [(rank, 4, 46.0) for rank in range(4)]


def test_large_arguments_and_values_cross_whole() -> None:
    def double(rank: int, world_size: int, x: np.ndarray) -> Any:
        import torch

        return torch.from_numpy(x * 2 + rank)

    x = np.arange(500_000, dtype=np.float64)
    for rank, value in enumerate(launch(double, 2, x)):
        assert np.array_equal(value.numpy(), x * 2 + rank)


def test_plain_processes_need_no_process_group() -> None:
    def alone(rank: int, world_size: int) -> bool:
        from torch import distributed as dist

        return dist.is_initialized()

    assert launch(alone, 2, backend="none") == [False, False]
    assert launch(alone, 2) == [True, True]


def test_a_rank_sees_the_notebooks_directory_modules_and_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "helper_of_a_lab.py").write_text("answer = 42\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("LAB_SETTING", "seven")

    def look(rank: int, world_size: int) -> tuple[Any, ...]:
        import helper_of_a_lab  # type: ignore[import-not-found]

        return Path.cwd(), helper_of_a_lab.answer, os.environ["LAB_SETTING"], os.environ["RANK"]

    assert launch(look, 2, backend="none") == [(tmp_path, 42, "seven", "0"), (tmp_path, 42, "seven", "1")]


def test_every_rank_has_one_thread_and_its_own_repeatable_random_numbers() -> None:
    def draw(rank: int, world_size: int) -> tuple[int, float, float]:
        import torch

        return torch.get_num_threads(), float(np.random.rand()), torch.rand(1).item()

    first, second = launch(draw, 2)
    assert first[0] == second[0] == 1
    assert first[1:] != second[1:]
    assert launch(draw, 2) == [first, second]


def test_output_is_shown_in_whole_lines_with_the_rank_in_front(capfd: pytest.CaptureFixture[str]) -> None:
    def speak(rank: int, world_size: int) -> None:
        print("first")
        print("50 %\r100 %", file=sys.stderr)
        os.write(1, b"from C\n")
        print("no newline", end="")

    launch(speak, 2, backend="none")
    out, err = capfd.readouterr()
    for rank in range(2):
        mine = [line for line in out.splitlines() if line.startswith(f"[rank {rank}] ")]
        assert [line[9:] for line in mine] == ["first", "100 %", "from C", "no newline"]
    assert len(out.splitlines()) == 8
    assert err == ""


# ----------------------------------------------------------------------------------------------------------- failures
def test_the_guilty_rank_is_named_with_its_traceback() -> None:
    def work(rank: int, world_size: int) -> None:
        if rank == 1:
            raise ValueError("shapes differ")
        exec(BARRIER)

    error = failure(work)
    assert error.rank == 1
    assert str(error).startswith("launch: rank 1 of 3 raised ValueError: shapes differ\n")
    assert 'raise ValueError("shapes differ")' in error.traceback
    assert "worker.py" not in error.traceback


def test_an_error_of_every_rank_is_reported_once() -> None:
    def work(rank: int, world_size: int) -> None:
        raise KeyError("same")

    error = failure(work)
    assert error.rank == 0
    assert "ranks 1 and 2 failed in the same way" in str(error)
    assert str(error).count("Traceback") == 1


def test_an_unfinished_task_in_a_rank_is_still_a_not_implemented_error() -> None:
    def work(rank: int, world_size: int) -> None:
        raise NotImplementedError("Task 2: ring_all_reduce")

    error = failure(work)
    assert isinstance(error, RankNotImplementedError | NotImplementedError)
    assert str(error) == "Task 2: ring_all_reduce (rank 0 of 3)"


def test_an_exception_that_cannot_be_pickled_is_reported_as_text() -> None:
    class Stubborn(Exception):
        def __init__(self, one: int, two: int) -> None:
            super().__init__("stubborn")
            self.lock = threading.Lock()

    def work(rank: int, world_size: int) -> None:
        raise Stubborn(1, 2)

    assert "Stubborn: stubborn" in str(failure(work, backend="none"))


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda: sys.exit(3), "called sys.exit(3)"),
        (lambda: sys.exit(0), "called sys.exit(0)"),
        (lambda: os._exit(0), "ended with exit code 0 before it returned"),
        (lambda: os._exit(9), "ended with exit code 9 before it returned"),
        (lambda: ctypes.string_at(0), "was killed by SIGSEGV"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "was killed by SIGKILL"),
    ],
    ids=["sys.exit(3)", "sys.exit(0)", "os._exit(0)", "os._exit(9)", "segmentation fault", "SIGKILL"],
)
def test_a_rank_that_ends_early_is_blamed_and_not_those_who_lost_it(action: Callable[[], Any], words: str) -> None:
    def work(rank: int, world_size: int) -> None:
        exec(BARRIER)
        if rank == 1:
            action()
        exec(BARRIER)

    error = failure(work)
    assert error.rank == 1
    assert f"rank 1 of 3 {words}" in str(error)


def test_calls_that_do_not_match_are_named_as_the_cause() -> None:
    def work(rank: int, world_size: int) -> None:
        import torch

        torch.distributed.all_reduce(torch.ones(100 if rank else 3))

    error = failure(work, 2)
    assert "received a message of another size: the calls of the ranks do not match" in str(error)
    assert "hint: all make the same calls in the same order" in str(error)


def test_a_launch_waits_while_others_fill_what_may_be_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel counts the descriptors that all programs of a user have sent, and nobody has received."""
    send, refused = socket.send_fds, [3]

    def full(*arguments: Any) -> Any:
        if refused[0]:
            refused[0] -= 1
            raise OSError(errno.ETOOMANYREFS, os.strerror(errno.ETOOMANYREFS))
        return send(*arguments)

    monkeypatch.setattr(socket, "send_fds", full)
    assert launch(lambda rank, _world_size: rank, 2, backend="none") == [0, 1]
    refused[0] = 1000
    monkeypatch.setattr("labkit._launch.server._FULL_S", 0.1)
    with pytest.raises(OSError, match=r"launch: Too many references.*\nhint: other programs of this user"):
        launch(lambda rank, _world_size: rank, 2, backend="none")


def test_a_function_with_a_cache_goes_along_and_begins_anew() -> None:
    @functools.lru_cache(maxsize=5, typed=True)
    def doubled(n: int) -> int:
        return 2 * n

    doubled(7)

    def ask(rank: int, _world_size: int) -> tuple[int, ...]:
        return doubled(rank), doubled.cache_info().currsize, *doubled.cache_parameters().values()  # type: ignore[arg-type]

    assert launch(ask, 2) == [(0, 1, 5, True), (2, 1, 5, True)]


def test_a_value_that_cannot_be_sent_is_named() -> None:
    error = failure(lambda rank, world_size: (i for i in range(3)), backend="none")
    assert "rank 0 of 3 returned a value that cannot be sent" in str(error)
    assert "hint: return numbers" in str(error)


def test_a_value_that_cannot_be_read_here_is_named() -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return int, ("not a number",)

    error = failure(lambda rank, world_size: Trap() if rank else 1, backend="none")
    assert error.rank == 1
    assert "returned a value that cannot be read here" in str(error)


def test_a_hang_ends_in_time_and_shows_where_each_rank_was() -> None:
    def work(rank: int, world_size: int) -> None:
        if rank == 1:
            time.sleep(60)
        exec(BARRIER)

    start = time.monotonic()
    error = failure(work, timeout_s=1.0)
    assert time.monotonic() - start < 30
    assert error.rank == 1
    assert "ranks 0, 1 and 2 of 3 were still running after 1 s" in str(error)
    assert "ranks 0 and 2 waited for rank 1" in str(error)
    assert "time.sleep(60)" in error.traceback


def test_a_rank_that_returns_while_others_wait_for_it_is_mentioned() -> None:
    def work(rank: int, world_size: int) -> None:
        if rank != 1:
            exec(BARRIER)

    assert "rank 1 had returned" in str(failure(work, timeout_s=1.0))


def test_a_function_that_a_rank_cannot_import_is_an_error_of_that_rank(tmp_path: Path) -> None:
    source = tmp_path / "vanishing.py"
    source.write_text("def work(rank, world_size): pass\n")
    sys.path.insert(0, str(tmp_path))
    try:
        import vanishing  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(tmp_path))
    assert "No module named 'vanishing'" in str(failure(vanishing.work, backend="none"))


def test_a_fresh_process_has_no_rank_and_its_own_environment(capfd: pytest.CaptureFixture[str]) -> None:
    def look(name: str) -> tuple[str, bool, int]:
        print("said there")
        return os.environ[name], "RANK" in os.environ, os.getpid()

    value, ranked, process = in_fresh_process(look, "KIND", environment={"KIND": "of its own"})
    assert (value, ranked) == ("of its own", False)
    assert process != os.getpid()
    assert "KIND" not in os.environ
    assert capfd.readouterr().out == "said there\n"


def test_what_tensorflow_says_when_it_starts_is_not_shown(capfd: pytest.CaptureFixture[str]) -> None:
    def start() -> None:
        print("WARNING: All log messages before absl::InitializeLog() is called are written to STDERR", file=sys.stderr)
        print("I0000 00:00:1795287148.255811    4363 cudart_stub.cc:31] Could not find cuda drivers", file=sys.stderr)
        print("WARNING: mine", file=sys.stderr)

    in_fresh_process(start)
    assert capfd.readouterr().out == "WARNING: mine\n"


def test_an_error_in_a_fresh_process_names_the_function_and_no_rank() -> None:
    def divide(a: int) -> float:
        return a / 0

    with pytest.raises(ProcessError, match="in_fresh_process: divide raised ZeroDivisionError") as caught:
        in_fresh_process(divide, 1)
    assert "rank" not in str(caught.value)
    assert "return a / 0" in caught.value.traceback
    with pytest.raises(ProcessError, match=r"sleep was still running after 0.3 s"):
        in_fresh_process(time.sleep, 30, timeout_s=0.3)


def test_an_unfinished_task_in_a_fresh_process_is_a_not_implemented_error() -> None:
    def task() -> None:
        raise NotImplementedError("Task 5: build_keras")

    with pytest.raises(NotImplementedError, match=r"^Task 5: build_keras$") as caught:
        in_fresh_process(task)
    assert type(caught.value).__name__ == "NotImplementedError"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: in_fresh_process(3), "expected a function first, got 3"),  # type: ignore[arg-type]
        (lambda: in_fresh_process(int, timeout_s=0), "expected a positive time"),
        (lambda: in_fresh_process(lambda a: a), "does not take these arguments"),
        (lambda: in_fresh_process(int, only_write_in="no/such"), "there is no folder .*no/such to write in"),
        (lambda: in_fresh_process(int, only_compute=True, only_write_in="."), "exclude each other"),
    ],
)
def test_a_wrong_call_of_a_fresh_process_is_refused(call: Callable[[], Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        call()


TELLING: dict[str, Callable[[str], Any]] = {
    "write a file": lambda folder: Path(folder, "told").write_text("x"),
    "append to a file": lambda folder: os.write(os.open(Path(folder, "here"), os.O_APPEND | os.O_WRONLY), b"x"),
    "move a file": lambda folder: Path(folder, "here").rename(Path(folder, "there")),
    "remove a file": lambda folder: Path(folder, "here").unlink(),
    "make a folder": lambda folder: Path(folder, "told").mkdir(),
    "make a link": lambda folder: Path(folder, "told").symlink_to("x"),
    "name an attribute": lambda folder: os.setxattr(Path(folder, "here"), "user.told", b"x"),
    "open a socket": lambda folder: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM),
    "a pair of sockets that is inherited": lambda folder: _inherited_sockets(),
    "end another process": lambda _folder: os.kill(os.getppid(), 0),
    "change its own limits": lambda _folder: resource.prlimit(0, resource.RLIMIT_CORE, (0, 0)),
    "start a process": lambda folder: os.fork() or os._exit(0),
    "share memory": lambda folder: ctypes.CDLL(None, use_errno=True).shmget(1, 4096, 0o1600) >= 0 or _refused(),
}


def _refused() -> NoReturn:
    raise PermissionError(ctypes.get_errno(), "refused")


def _inherited_sockets() -> None:
    """Raise PermissionError if there is no socket but the one for the value."""
    found = []
    for descriptor in range(3, 64):
        with contextlib.suppress(OSError):
            found += [descriptor] if stat.S_ISSOCK(os.fstat(descriptor).st_mode) else []
    if len(found) <= 1:
        raise PermissionError


@pytest.mark.skipif(not LINUX, reason="Linux sees to it")
@pytest.mark.parametrize("way", TELLING)
def test_what_may_only_compute_or_write_in_its_folder_tells_nobody_else(way: str, tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    for folder in (outside, inside):
        folder.mkdir()
        (folder / "here").write_text("")

    def tell(telling: Callable[[str], Any], folder: str) -> str:
        try:
            telling(folder)
        except OSError as error:
            return type(error).__name__
        return "told"

    told = TELLING[way], str(outside)
    assert in_fresh_process(tell, *told, only_compute=True) in {"PermissionError", "BlockingIOError", "OSError"}
    if way != "start a process" or os.geteuid():  # the limit is not root's
        assert in_fresh_process(tell, *told, only_write_in=inside) in {"PermissionError", "BlockingIOError", "OSError"}
    assert [path.name for path in outside.iterdir()] == ["here"]
    assert not (outside / "here").read_text()


class _Unpacked:
    """Runs code where it is unpacked."""

    def __init__(self, code: str) -> None:
        self._code = code

    def __reduce__(self) -> tuple[Any, ...]:
        return eval, (self._code,)


@pytest.mark.skipif(not LINUX, reason="Linux sees to it")
@pytest.mark.parametrize("how", ["only_compute", "only_write_in"])
def test_what_is_unpacked_tells_nobody_else_either(how: str, tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    for folder in (outside, inside):
        folder.mkdir()
    walls: dict[str, Any] = {how: True if how == "only_compute" else inside}
    with pytest.raises(ProcessError, match="PermissionError"):
        in_fresh_process(id, _Unpacked(f"open({str(outside / 'told')!r}, 'w')"), **walls)
    assert list(outside.iterdir()) == []


SILENT: dict[str, tuple[Callable[[str], object], Callable[[str], object]]] = {
    "times": (lambda file: os.utime(file, (1, 2)), lambda file: Path(file).stat().st_mtime_ns),
    "mode": (lambda file: Path(file).chmod(0o4711), lambda file: Path(file).stat().st_mode),
    "priority": (lambda _file: os.setpriority(os.PRIO_PROCESS, 0, 7), lambda _file: os.getpriority(os.PRIO_PROCESS, 0)),
    "processors": (lambda _file: os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]),
                   lambda _file: len(os.sched_getaffinity(0)) > 1 or os.cpu_count() == 1),
}  # fmt: skip


@pytest.mark.skipif(not LINUX, reason="Linux sees to it")
@pytest.mark.parametrize("what", SILENT)
def test_what_others_could_read_of_a_file_or_process_stays_as_it_was(what: str, tmp_path: Path) -> None:
    """Nor is it an error: libraries that copy files ask for it."""
    file = tmp_path / "file"
    file.write_text("")

    def change(folder: str) -> bool:
        doing, seen = SILENT[what]
        before = seen(folder)
        doing(folder)
        return seen(folder) == before

    assert in_fresh_process(change, str(file), only_write_in=tmp_path)


def test_what_may_only_write_in_its_folder_writes_there(tmp_path: Path) -> None:
    def write(folder: Path) -> str:
        (folder / "first").write_text("x")
        shutil.copy2(folder / "first", folder / "second")
        (folder / "first").unlink()
        return (folder / "second").read_text() + Path(os.__file__).read_text()[:0]

    assert in_fresh_process(write, tmp_path, only_write_in=tmp_path) == "x"


def test_what_may_only_compute_computes() -> None:
    def compute() -> float:
        a = np.arange(250_000.0).reshape(500, 500)
        print(time.monotonic() > 0, np.random.default_rng().random() >= 0)
        return float(np.linalg.norm(a @ a.T)) + float(np.frombuffer(os.urandom(8), np.uint8).sum() * 0)

    assert in_fresh_process(compute, only_compute=True) > 0


def test_a_launch_after_a_failed_one_works() -> None:
    failure(lambda rank, world_size: os._exit(1))
    assert launch(lambda rank, world_size: rank, 2) == [0, 1]


def test_a_server_that_died_is_replaced() -> None:
    with warm_server() as server:
        server._process.kill()
        server._process.wait()
    assert launch(lambda rank, world_size: rank, 2) == [0, 1]


@pytest.mark.slow
def test_a_forked_process_starts_ranks_of_its_own() -> None:
    code = """if True:
        import os
        from labkit import launch
        def server(rank, world_size):
            return os.getppid()
        first = launch(server, 2, backend="none")
        child = os.fork()
        mine = launch(server, 2, backend="none")
        print((mine == first) == bool(child), flush=True)
        if child:
            os.waitpid(child, 0)
    """
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("True\nTrue\n", "")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: launch(lambda rank: rank, 2), "does not take these arguments"),
        (lambda: launch(2, lambda rank, world_size: rank), "expected a function first"),  # type: ignore[arg-type]
        (lambda: launch(print, 2, threading.Lock()), "cannot be copied"),
        (lambda: launch(print, 0), "expected 1 to 64 ranks, got world_size=0"),
        (lambda: launch(print, 2, timeout_s=0), "timeout_s=0"),
    ],
)
def test_a_wrong_call_is_refused_before_any_process_starts(call: Callable[[], Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        call()


# ----------------------------------------------------------------------------------------------------- left behind
SCRIPT = """
import os, sys, time
from labkit import launch

def work(rank, world_size, kind):
    import multiprocessing, torch
    from torch import distributed as dist
    if kind == "grandchild":
        multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,)).start()
    if kind == "hang":
        print("hanging")
        time.sleep(60)
    total = torch.ones(1)
    dist.all_reduce(total)
    return total.item()

print(launch(work, 3, sys.argv[1]))
"""


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start an unguarded script with its own temporary directory; afterwards nothing of it may be there."""
    token, scratch = f"launch-test-{os.getpid()}-{time.monotonic_ns()}", tmp_path / "scratch"
    scratch.mkdir()
    (tmp_path / "script.py").write_text(SCRIPT)
    environment = {**os.environ, "LAUNCH_TOKEN": token, "TMPDIR": str(scratch)}

    def start(kind: str, *before: str) -> subprocess.Popen[str]:
        command = [*before, sys.executable, "-u", str(tmp_path / "script.py"), kind]
        return subprocess.Popen(
            command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    yield start
    deadline = time.monotonic() + 20
    while (left := alive(token)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def alive(token: str) -> list[str]:
    """Return the command lines of processes that carry the token in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if token.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "grandchild"])
def test_an_unguarded_script_leaves_no_process_and_no_file(
    kind: str, script: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    output, _ = script(kind).communicate(timeout=60)
    assert output == "[3.0, 3.0, 3.0]\n"
    assert list((tmp_path / "scratch").glob("labkit-*")) == []


@pytest.mark.slow
def test_an_interrupt_stops_every_rank_and_says_so(
    script: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    process = script("hang")
    assert process.stdout
    assert "hanging" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=20)
    assert "launch: interrupted, ranks 0, 1 and 2 stopped" in output
    assert "KeyboardInterrupt" in output
    assert list((tmp_path / "scratch").glob("labkit-*")) == []


@pytest.mark.slow
def test_ranks_end_when_the_process_that_launched_them_is_killed(
    script: Callable[..., subprocess.Popen[str]],
) -> None:
    process = script("hang")
    assert process.stdout
    assert "hanging" in process.stdout.readline()
    process.kill()
    process.communicate(timeout=20)


@pytest.mark.slow
def test_ranks_find_each_other_in_a_sandbox_without_a_network(tmp_path: Path) -> None:
    sandbox = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    if not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed")
    if subprocess.run([*sandbox, "true"], check=False, capture_output=True).returncode:
        pytest.skip("bubblewrap cannot create namespaces here")
    scratch = ["--bind", str(tmp_path), str(tmp_path), "--setenv", "TMPDIR", str(tmp_path), "--chdir", "/"]
    command = [*sandbox, *scratch, sys.executable, "-c", SCRIPT, "plain"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("[3.0, 3.0, 3.0]\n", "")


@pytest.mark.slow
def test_cell_functions_run_in_a_notebook_and_an_interrupt_leaves_it_usable() -> None:
    import nbclient
    import nbformat

    cells = [
        "from labkit import launch\ndef work(rank, world_size):\n    print('here')\n    if rank == 1:\n        1 / 0",
        "try:\n    launch(work, 2)\nexcept Exception as error:\n    print(error)",
        "import os, signal, threading, time\n"
        "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "launch(lambda rank, world_size: time.sleep(60), 2, timeout_s=25)",
        "launch(lambda rank, world_size: rank * 10, 3)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = nbclient.NotebookClient(notebook, timeout=60, allow_errors=True)
    client.execute()
    text = ["".join(out.get("text", "") for out in cell.outputs) for cell in notebook.cells]
    assert "[rank 0] here" in text[1]
    assert "rank 1 of 2 raised ZeroDivisionError" in text[1]
    assert "Cell In[1], line 5, in work\n    1 / 0\n" in text[1]
    assert "launch: interrupted" in text[2]
    assert notebook.cells[3].outputs[0].data["text/plain"] == "[0, 10, 20]"


# ------------------------------------------------------------------------------------------------------------- wording
def test_ranks_are_listed_as_a_person_would() -> None:
    assert [ranks([2]), ranks([3, 0]), ranks({0, 2, 3})] == ["rank 2", "ranks 0 and 3", "ranks 0, 2 and 3"]


def test_a_lost_connection_is_a_consequence_whichever_came_first() -> None:
    lost = reported(0, Report(error="RuntimeError", message="RuntimeError: ... Connection closed by peer [127.0.0.1]"))
    cause = died(2, -11, "")
    error = blame([lost, cause], 3)
    assert (error.rank, lost.consequence) == (2, True)
    assert "rank 0 lost the connection: a consequence" in str(error)


def test_without_a_known_cause_the_first_lost_connection_is_reported() -> None:
    report = Report(error="DistBackendError", message="DistBackendError: Connection reset by peer")
    error = blame([reported(2, report), reported(0, report)], 3)
    assert error.rank == 2
    assert str(error).count("rank 0") == 1


def test_a_students_error_that_quotes_a_lost_connection_is_not_a_consequence() -> None:
    assert not reported(0, Report(error="ValueError", message="ValueError: Connection closed by peer")).consequence


def test_an_unknown_signal_has_a_number() -> None:
    assert died(0, -255, "").what == "was killed by signal 255"
