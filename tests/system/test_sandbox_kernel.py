"""A kernel in each sandbox, driven by nbclient: it works, can be interrupted, its death is noticed, nothing is left."""

from __future__ import annotations

import resource
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbclient.util import run_sync

from autograder.sandbox import Job, Policy, ProcessLimits, Sandbox, kernel
from tests.system.sandboxed import NAMES, console, in_sandbox, sandbox_or_skip

pytestmark = pytest.mark.slow


@pytest.fixture(params=NAMES, scope="module")
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with sandbox_or_skip(request.param) as sandbox:
        yield sandbox


@pytest.fixture
def nothing_left_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    assert tmp_path.exists()  # made before tempdir is changed; its own name is too long for a socket below it
    with tempfile.TemporaryDirectory(prefix="rooms-") as directory:
        monkeypatch.setattr(tempfile, "tempdir", directory)
        Path(directory).chmod(0o711)
        yield
        assert list(Path(directory).glob("autograder*")) == []


@pytest.mark.usefixtures("nothing_left_behind")
def test_a_notebook_is_executed_like_by_any_other_kernel(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("1,2,3\n")
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("import os, numpy as np"),
            nbformat.v4.new_code_cell("np.loadtxt('data.csv', delimiter=',').sum()"),
            nbformat.v4.new_code_cell("os.environ.get('JPY_PARENT_PID'), os.listdir('.')"),
        ],
        # A student's kernelspec is not asked.
        metadata={"kernelspec": {"name": "evil", "display_name": "Evil", "language": "python"}},
    )
    with kernel(sandbox, files=tmp_path) as manager:
        NotebookClient(notebook, km=manager, timeout=30).execute()
    assert notebook.cells[1].outputs[0].data["text/plain"] == "np.float64(6.0)"
    assert notebook.cells[2].outputs[0].data["text/plain"] == "(None, ['data.csv'])"


@pytest.mark.usefixtures("nothing_left_behind")
def test_nbclient_may_end_the_kernel_itself(sandbox: Sandbox) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("6 * 7")])
    with kernel(sandbox) as manager:
        NotebookClient(notebook, km=manager, shutdown_kernel="immediate").execute(cleanup_kc=True)
        assert not manager.has_kernel
    assert notebook.cells[0].outputs[0].data["text/plain"] == "42"


@in_sandbox("prewarmed", "landlock")
@pytest.mark.usefixtures("nothing_left_behind")
def test_a_cell_that_takes_too_long_is_interrupted_and_the_next_one_runs(sandbox: Sandbox) -> None:
    with console(sandbox, timeout_s=1) as prompt:
        assert prompt.run("while True: pass") == "KeyboardInterrupt:"
        assert prompt.run("import time; time.sleep(30)") == "KeyboardInterrupt:"
        assert prompt.run("1 + 1") == "2"


@in_sandbox("prewarmed", "landlock")
@pytest.mark.usefixtures("nothing_left_behind")
@pytest.mark.parametrize(
    "source",
    [
        "import os; os._exit(3)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "import ctypes; ctypes.string_at(0)",
        "import os; os.abort()",
    ],
)
def test_a_dead_kernel_is_noticed_at_once(sandbox: Sandbox, source: str) -> None:
    with console(sandbox, timeout_s=60) as prompt:
        began = time.monotonic()
        with pytest.raises(DeadKernelError):
            prompt.run(source)
        assert time.monotonic() - began < 10


@pytest.mark.usefixtures("nothing_left_behind")
def test_too_much_memory_is_a_memory_error_or_the_kernels_death(sandbox: Sandbox) -> None:
    with console(sandbox, limits=ProcessLimits(memory_mib=1024)) as prompt:
        assert prompt.run("hoard = bytearray(2 << 30)").startswith("MemoryError")
        assert prompt.run("import numpy; numpy.ones(1 << 28)").startswith(("MemoryError", "_ArrayMemoryError"))
        try:
            said = prompt.run("hoard = []\nwhile True: hoard.append(' ' * (1 << 20))")
        except DeadKernelError:
            return
        assert said.startswith("MemoryError")


@pytest.mark.usefixtures("nothing_left_behind")
def test_a_flood_on_the_raw_streams_blocks_nobody(sandbox: Sandbox) -> None:
    flood = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import os; os.write(2, b\"x\" * 300_000)'])"
    with console(sandbox, timeout_s=30) as prompt:
        said = prompt.run(flood)  # a pipe holds 64 KiB: it ended, so the rest was read; how much of it by now is chance
        assert "returncode=0" in said
        assert said.count("x") > 1000
        assert prompt.run("1 + 1") == "2"


@in_sandbox("prewarmed")
@pytest.mark.usefixtures("nothing_left_behind")
def test_a_huge_message_does_not_reach_the_graders_memory(sandbox: Sandbox) -> None:
    with console(sandbox, timeout_s=30) as prompt:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        said = prompt.run("from IPython.display import display; display({'text/plain': 'x' * (300 << 20)}, raw=True)")
        assert len(said) < 1000
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10


@pytest.mark.usefixtures("nothing_left_behind")
def test_another_thread_can_end_a_kernel_that_is_busy(sandbox: Sandbox) -> None:
    with console(sandbox, timeout_s=60) as prompt:
        began = time.monotonic()
        threading.Timer(0.5, prompt.manager.end).start()
        with pytest.raises(DeadKernelError):
            prompt.run("while True: pass")
        assert time.monotonic() - began < 10


@pytest.mark.usefixtures("nothing_left_behind")
def test_an_exception_of_the_grader_leaves_no_kernel_behind(sandbox: Sandbox) -> None:
    with pytest.raises(ZeroDivisionError), console(sandbox) as prompt:
        prompt.run("1")
        raise ZeroDivisionError
    assert not prompt.manager.has_kernel


@pytest.mark.usefixtures("nothing_left_behind")
def test_kernels_run_side_by_side_with_different_keys(sandbox: Sandbox) -> None:
    with console(sandbox) as first, console(sandbox) as second:
        first.run("x = 1")
        assert second.run("x") == "NameError: name 'x' is not defined"
        assert first.run("x") == "1"
        assert first.manager.session.key != second.manager.session.key


@pytest.mark.usefixtures("nothing_left_behind")
def test_a_kernel_can_be_restarted(sandbox: Sandbox) -> None:
    with console(sandbox) as prompt:
        prompt.run("x = 1")
        prompt.client.kc.stop_channels()
        run_sync(prompt.manager.restart_kernel)(now=True)
        prompt.client.start_new_kernel_client()
        assert prompt.run("x") == "NameError: name 'x' is not defined"


def test_figures_are_drawn_inline_without_searching_for_fonts(sandbox: Sandbox) -> None:
    with console(sandbox) as prompt:
        prompt.run("%config InlineBackend.figure_formats = ['svg']")
        (figure,) = prompt.cell("import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()").outputs
        assert "<svg" in figure.data["image/svg+xml"]
        assert "fontlist" in prompt.run("import os; os.listdir(os.path.expanduser('~/.cache/matplotlib'))")


def test_labkit_loads_the_bundled_digits(sandbox: Sandbox) -> None:
    with console(sandbox) as prompt:
        assert "1,078 images" in prompt.run("import labkit; labkit.load('digits')")


@in_sandbox("prewarmed", "landlock")
@pytest.mark.frameworks
def test_torch_trains_within_the_default_limits(sandbox: Sandbox) -> None:
    with console(sandbox) as prompt:
        said = prompt.run(
            """
            import torch
            layer = torch.nn.Linear(4, 2)
            layer(torch.ones(3, 4)).sum().backward()
            torch.get_num_threads(), layer.weight.grad.shape
            """
        )
    assert said == "(1, torch.Size([2, 4]))"


@in_sandbox("prewarmed")
@pytest.mark.frameworks
def test_keras_fits_within_the_default_limits(sandbox: Sandbox) -> None:
    policy = Policy(environment={"KERAS_BACKEND": "tensorflow"})
    with console(sandbox, policy=policy, timeout_s=120) as prompt:
        said = prompt.run(
            """
            import keras, numpy as np
            model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2)])
            model.compile("adam", "mse")
            model.fit(np.ones((8, 4)), np.ones((8, 2)), verbose=0)
            print("fitted with", keras.backend.backend())
            """
        )
    assert said.endswith("fitted with tensorflow")


RANK = """\
import sys, torch, torch.distributed as dist
dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{sys.argv[2]}", rank=int(sys.argv[1]), world_size=4)
total = torch.tensor([float(sys.argv[1])])
dist.all_reduce(total)
print(total.item())
dist.destroy_process_group()
"""


@in_sandbox("prewarmed")
@pytest.mark.frameworks
def test_four_ranks_talk_over_the_loopback_interface(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "rank.py").write_text(RANK)
    with console(sandbox.with_ranks(), files=tmp_path) as prompt:
        said = prompt.run(
            """
            import socket, subprocess, sys
            with socket.create_server(("127.0.0.1", 0)) as server:
                port = server.getsockname()[1]
            command = [sys.executable, "rank.py"]
            ranks = [subprocess.Popen([*command, str(r), str(port)], stdout=-1, stderr=-1) for r in range(4)]
            print({rank.communicate(timeout=50)[0] for rank in ranks})
            """
        )
    assert said == "{b'6.0\\n'}"


def test_a_program_outlives_the_thread_that_started_it(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import time; time.sleep(20)")
    started = []
    job = Job(program=tmp_path / "program.py", directory=tmp_path)
    thread = threading.Thread(target=lambda: started.append(sandbox.start(job)))
    thread.start()
    thread.join()
    assert started[0].wait(0.3) is None
    assert started[0].close() == 128 + signal.SIGKILL
