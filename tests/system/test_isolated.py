"""Test cells in a process of their own: what crosses over, what does not, and how it ends when one side fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.execution import Executor, preloads
from autograder.execution.notebook_run import Run
from autograder.execution.results import Failure
from autograder.model import Limits
from autograder.sandbox import Gpu, choose
from tests.system.executions import LIMITS, cases, run, said

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor(choose(), preloads([])) as found:
        yield found


def test_a_kernel_has_cost_little_when_its_first_cell_runs(executor: Executor) -> None:
    """Nor does a process wait beside it for launches, which its lab has none of: that imports torch."""
    if not executor.sandbox.isolated:
        pytest.skip("no bubblewrap here: all processes of the machine are seen")
    look = "import os, time\nprint(time.process_time() < 1, *sorted(n for n in os.listdir('/proc') if n.isdigit()))"
    (shown,) = run(executor, look).notebook.cells[0].outputs
    assert shown.text == "True 1 2\n"


RANKS = """
import sys
def which(rank, world_size):
    return "sklearn" in sys.modules, rank
def alone():
    import keras
    return "sklearn" in sys.modules, keras.backend.backend()
"""
LAUNCHES = """#test t
from labkit import check, in_fresh_process, launch
with check.case("ranks"):
    check.equal(launch(which, 2), [(True, 0), (True, 1)])
for backend in ("torch", "tensorflow"):
    with check.case(backend):
        check.equal(in_fresh_process(alone, environment={"KERAS_BACKEND": backend}), (True, backend))
check.score(3)
"""


def test_processes_of_frameworks_are_forked_off_the_pre_warmed_one_and_keras_backend_is_chosen_in_them() -> None:
    """One test for both, because torch and tensorflow are imported for it."""
    limits = Limits(cell_time_s=30, total_time_s=60, memory_mib=6144, output_kib=64)
    modules = preloads([RANKS, LAUNCHES, "KERAS_BACKEND"], ("sklearn", "tensorflow", "keras"))
    assert {"torch", "tensorflow"} < set(modules) and "keras" not in modules
    with Executor(choose(), modules) as executor:
        launched = run(executor, RANKS, LAUNCHES, limits=limits)
        chosen = run(
            executor,
            "import os\nos.environ['KERAS_BACKEND'] = 'torch'",
            "import keras\ndef backend(): return keras.backend.backend()",
            "#test t\nfrom labkit import check\nwith check.case('b'): check.equal(backend(), 'torch')\ncheck.score(1)",
            limits=limits,
        )
    assert cases(launched, "t") == {"ranks": "", "torch": "", "tensorflow": ""}, said(launched, "t")
    assert cases(chosen, "t") == {"b": ""}, said(chosen, "t")


def test_the_test_is_not_in_the_student_s_process(executor: Executor) -> None:
    look = """
import gc, os, sys
from pathlib import Path
def search():
    found = []
    for path in ("/proc/self/environ", "/proc/self/cmdline"):
        found.append(Path(path).read_bytes().decode(errors="replace"))
    found += [str(o)[:500] for o in gc.get_objects() if type(o) in {list, tuple}]
    found += [o for o in gc.get_objects() if isinstance(o, str)]
    frame = sys._getframe()
    while frame:
        found += [str(v)[:500] for v in {**frame.f_locals}.values()] + [frame.f_code.co_filename]
        frame = frame.f_back
    found += [str(get_ipython().user_ns.get(n)) for n in ("In", "Out", "_ih", "_i", "_ii")]
    return any("-".join(("secret", "of", "the", "test")) in text for text in found), os.getpid()
"""
    execution = run(
        executor, look, "#test t\nwanted = 'secret-of-the-test'\nfound, pid = search()\nassert not found\nfound"
    )
    assert said(execution, "t") == "False"


def test_seeds_of_a_test_reach_both_processes(executor: Executor) -> None:
    draw = "import random, numpy as np\ndef draw(): return random.random(), float(np.random.rand())"
    test = """#test t
import random, numpy as np
from labkit import seed_everything
seed_everything(3)
there = draw()
seed_everything(3)
here = random.random(), float(np.random.rand())
random.seed(5), np.random.seed(5)
again = draw()
random.seed(5), np.random.seed(5)
(there == here, again == (random.random(), float(np.random.rand())))"""
    assert said(run(executor, draw, test), "t") == "(True, True)"


def test_what_a_visible_test_imports_is_there_as_in_a_notebook(executor: Executor) -> None:
    execution = run(
        executor,
        "def f(x): return math.floor(x)",
        "#test t\nimport math\n### BEGIN HIDDEN TESTS\nimport fractions\n### END HIDDEN TESTS\nf(2.5)",
        "try: fractions\nexcept NameError: print('not there')\nprint(math.pi)",
    )
    assert said(execution, "t") == "2"
    assert execution.notebook.cells[2].outputs[0].text == "not there\n3.141592653589793\n"


def test_what_a_function_prints_is_shown_with_its_test(executor: Executor) -> None:
    execution = run(executor, "def f(): print('of the student')", "#test t\nf()\nprint('of the test')\n1.5")
    assert said(execution, "t") == "of the student\nof the test\n1.5"


def test_only_the_instructor_s_files_lie_beside_a_test(executor: Executor, tmp_path: Path) -> None:
    (tmp_path / "given.txt").write_text("the instructor's")
    (tmp_path / "own.txt").write_text("the student's")
    files: Mapping[str, Path] = {name: tmp_path / name for name in ("given.txt", "own.txt")}
    execution = run(
        executor,
        "from pathlib import Path\ndef files(): return sorted(p.name for p in Path().iterdir())",
        "#test t\nfrom pathlib import Path\nsorted(p.name for p in Path().iterdir()), files()",
        files=files,
        given={"given.txt": files["given.txt"]},
    )
    assert said(execution, "t") == "(['given.txt'], ['given.txt', 'own.txt'])"


def test_a_module_of_the_instructor_s_can_be_imported_by_both(executor: Executor, tmp_path: Path) -> None:
    for name, text in (("ours.py", "def three(): return 3"), ("json.py", "raise RuntimeError")):
        (tmp_path / name).write_text(text)
    files: Mapping[str, Path] = {name: tmp_path / name for name in ("ours.py", "json.py")}
    code = "from ours import three\ndef f(): return three()"
    test = "#test t\nimport json\nfrom ours import three\nthree() + f()"
    assert said(run(executor, code, test, files=files, given=files), "t") == "6"


def test_a_loop_costs_its_case_and_those_after_it(executor: Executor) -> None:
    test = """#test t
from labkit import check
with check.case("before"): check.equal(f(1), 1)
with check.case("loop"): f(2)
with check.case("after"): check.equal(f(1), 1)
check.score(3)"""
    patient = replace(LIMITS, total_time_s=60, patience=20)  # on a busy machine the clock is not to stop it before
    execution = run(executor, "def f(x):\n    while x > 1: pass\n    return x", test, "#test u\nf(1)", limits=patient)
    assert cases(execution, "t") == {"before": "", "loop": "TimeLimit", "after": "TimeLimit"}
    assert execution.problems == ("cell 't' was stopped after 3 s of computing",)
    assert not execution.complete
    assert said(execution, "u") == "1", "the process goes on"


def test_a_process_that_dies_costs_its_case_and_those_after_it(executor: Executor) -> None:
    test = """#test t
from labkit import check
with check.case("before"): check.equal(f(1), 1)
with check.case("dies"): check.raises(Exception, f, 2)
with check.case("after"): check.equal(f(1), 1)
check.score(3)"""
    execution = run(executor, "import os\ndef f(x): return os._exit(0) if x > 1 else x", test, "#test u\nf(1)")
    assert cases(execution, "t") == {"before": "", "dies": "ProcessDied", "after": "ProcessDied"}
    assert execution.problems == ("the Python process died in cell 't': out of memory, a crash, or it ended itself",)
    assert said(execution, "u") == "NotRun: the Python process died in an earlier cell"


def test_a_test_process_that_dies_fails_closed(executor: Executor) -> None:
    execution = run(executor, "x = 1", "#test t\nimport os\nx\nos._exit(0)", "#test u\nx")
    ended = "the process that runs the tests has ended: what it was sent was too much for it"
    assert said(execution, "t") == f"CheckFailed: {ended}"
    assert said(execution, "u") == f"KernelDied: {ended}"
    assert execution.problems == (f"cell 't': {ended}",)
    assert not execution.complete


def test_memory_that_a_test_is_made_to_use_is_bounded(executor: Executor) -> None:
    bomb = """class B:
    def __len__(self): return 1 << 40
    def __iter__(self): return self
    def __next__(self): return "x" * 10**6"""
    execution = run(executor, bomb, "#test t\nlist(B())\n3", "#test u\n4", limits=Limits(2, 20, 1024, 64))
    assert "3" not in said(execution, "t")


def test_an_error_outside_a_case_is_shown_with_its_line(executor: Executor) -> None:
    execution = run(executor, "def f(): raise ValueError('no')", "#test t\nx = 1\nf()")
    assert said(execution, "t") == "ValueError: no"
    failure = execution.reports["t"].failure
    assert failure == Failure("ValueError", "no", ("line 3 of the test", "ValueError: no"), line=3)


def test_a_launch_of_the_student_s_function_happens_where_it_is(executor: Executor) -> None:
    execution = run(
        executor,
        "def rank(number, size): return number * 10 + size",
        "#test t\nfrom labkit import launch\nlaunch(rank, 2)",
        limits=Limits(20, 40, 6000, 64),
    )
    assert said(execution, "t") == "[2, 12]"


def test_everything_is_stopped_from_another_thread(executor: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once its test has begun, whose loop would take half a minute."""
    begun, stopped = threading.Event(), list[float]()
    run_test = Run._run_test

    def noted(self: Run, *arguments: Any) -> Any:
        begun.set()
        return run_test(self, *arguments)

    def stop() -> None:
        begun.wait()
        time.sleep(0.2)
        stopped.append(time.monotonic())
        other.stop()

    monkeypatch.setattr(Run, "_run_test", noted)
    other = Executor(choose())
    threading.Thread(target=stop, daemon=True).start()
    execution = run(other, "def f():\n    while True: pass", "#test t\nf()", limits=Limits(30, 60, 3072, 64))
    assert time.monotonic() - stopped[0] < 25
    assert not execution.complete


def test_a_device_is_let_in_for_both_processes_without_a_limit_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    node = next(
        (path for path in map(Path, ("/dev/fuse", "/dev/kmsg", "/dev/rtc0", "/dev/loop0")) if path.exists()), None
    )
    if node is None or not choose().isolated:
        pytest.skip("no further device node here, or no sandbox that hides it")
    look = f"""import os, resource
def look(): return os.path.exists({str(node)!r}), resource.getrlimit(resource.RLIMIT_AS)[0]"""
    test = f"#test t\nimport os\n(os.path.exists({str(node)!r}), look()[0], look()[1] > 1 << 45)"
    patient = {"limits": replace(LIMITS, cell_time_s=20, total_time_s=60)}
    monkeypatch.setattr(Gpu, "works_in", lambda *_: None)  # this device is none
    with Executor(choose(), ("numpy",), gpu=Gpu((node,))) as with_it, Executor(choose(), ("numpy",)) as without:
        assert said(run(with_it, look, test, **patient), "t") == "(True, True, True)"
        assert said(run(without, look, test, **patient), "t") == "(False, False, False)"


SHOWN = """#test first
from labkit import check
points = [0.0, 1.0]
print("seen by nobody")
### BEGIN HIDDEN TESTS
secret = 7241
### END HIDDEN TESTS
with check.case("double"):
    check.equal(double(points), [0.0, 2.0])
check.score(1)
"""


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("seen = double(points)", "2.0"),
        ("def later(): return points\nseen = double(later())", "2.0"),
        ("points = [3.0, 4.0]\nseen = double(points)", "8.0"),  # its own
        ("try: secret\nexcept NameError: seen = [0, 1.0]", "1.0"),
    ],
)
def test_a_student_s_cell_may_use_what_a_visible_test_binds(cell: str, expected: str, executor: Executor) -> None:
    execution = run(
        executor,
        "def double(xs): return [2 * x for x in xs]",
        SHOWN,
        cell,
        "#test second\nfrom labkit import check\n"
        f"with check.case('s'): check.equal(seen[1], {expected})\ncheck.score(1)",
    )
    assert cases(execution, "second") == {"s": ""}, said(execution, "second")
    assert [found.outputs for found in execution.notebook.cells if found.source == cell] == [[]]
    assert execution.problems == ()


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [("points = 5", "", "[0.0, 1.0]"), ("points = 5", "points = 6", "6"), ("", "", "[0.0, 1.0]")],
)
def test_who_binds_a_name_last_gives_it_its_meaning(before: str, after: str, expected: str, executor: Executor) -> None:
    execution = run(
        executor,
        f"{before}\ndef double(xs): return [2 * x for x in xs]",
        SHOWN,
        after,
        "seen = points",
        f"#test second\nfrom labkit import check\nwith check.case('s'): check.equal(seen, {expected})\ncheck.score(1)",
    )
    assert cases(execution, "second") == {"s": ""}, said(execution, "second")


@pytest.mark.parametrize(
    "argument",
    ["__import__('functools').reduce(lambda a, b: (b, a), range(60), ())", "1 << 70_000", "'x' * 50_000_000"],
)
def test_an_exception_whose_arguments_cannot_travel_is_the_exception_that_it_is(
    executor: Executor, argument: str
) -> None:
    code = f"def f():\n    raise ValueError('no samples', {argument})"
    test = "#test t\ntry:\n    f()\nexcept ValueError:\n    print('told')"
    started = time.monotonic()
    execution = run(executor, code, test)
    assert time.monotonic() - started < 20
    assert said(execution, "t") == "told\n"
