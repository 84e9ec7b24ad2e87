"""Collectives whose messages the test carries: they end as in a notebook, and forged counts count for nothing."""

from __future__ import annotations

import functools
import itertools
import logging
import random
import re
import socket
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import ipykernel.kernelapp
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import labkit
from autograder.boundary import rank_host, student_ranks
from autograder.boundary.foreseen import Foreseen, _held, import_named
from autograder.boundary.frames import Carrier, Connection, ProcessDied
from autograder.boundary.network import LinkDown, Network
from autograder.boundary.peer import Peer
from autograder.boundary.replay import Replay, Told, is_same
from labkit import RankError, count
from labkit._launch.deadlock import EXCHANGE, RECEIVE, SEND, Wait
from labkit._launch.patience import MOST
from tests.unit.autograder.boundary.talk import Talk

pytestmark = pytest.mark.usefixtures("ranks")

RING = """
    import numpy as np
    def f(comm, x):
        total, carried = x.copy(), x
        for _ in range(comm.size - 1):
            carried = comm.exchange(carried, (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size)
            total = total + carried
        return total
"""
JOBS = "[(3, [np.arange(4.0) * r for r in range(3)]), (1, [np.ones(2)]), (2, [np.ones(2, int)] * 2)]"
TEST = f"import numpy as np\nfrom labkit import count\nfound = count.collective(f, {JOBS}, gains=(1, 2), timeout_s=8)\n"


def in_a_notebook(code: str, **options: Any) -> Any:
    """Return what count.collective returns where there is no boundary."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(textwrap.dedent(code), names)
    jobs = [(3, [np.arange(4.0) * r for r in range(3)]), (1, [np.ones(2)]), (2, [np.ones(2, int)] * 2)]
    return count.collective(names["f"], jobs, **options)


def shown(found: Any) -> str:
    return repr([[{**done, "value": np.asarray(done["value"]).tolist()} for done in ranks] for ranks in found])


def test_it_finds_what_it_finds_in_a_notebook(talk: Talk) -> None:
    talk.code(RING)
    there = talk.value(
        f"{TEST}[[{{**done, 'value': np.asarray(done['value']).tolist()}} for done in ranks] for ranks in found]"
    )
    assert there == shown(in_a_notebook(RING, gains=(1, 2)))


FAILURES = {
    "an error": "if comm.rank == 1: raise ValueError('no such thing')\n    return comm.recv(1) if comm.rank else x",
    "a task": "raise NotImplementedError('write f')",
    "all send first": "comm.send(x, (comm.rank + 1) % comm.size)\n    return comm.recv((comm.rank - 1) % comm.size)",
    "nobody sends": "return comm.recv((comm.rank - 1) % comm.size) if comm.size > 1 else x",
    "one has returned": "return comm.recv(1) if comm.rank != 1 and comm.size > 1 else x",
    "no such rank": "return comm.exchange(x, 9, 0) if comm.size > 1 else x",
    "what is no array": "return comm.exchange(None, 1 - comm.rank, 1 - comm.rank) if comm.size > 1 else x",
    "a file that is read": "open('table.json')",
    "a file that is written": "np.save('own.npy', x)",
    "a process that ends": "if comm.rank == 1: os._exit(3)\n    return comm.recv(1) if comm.size > 1 else x",
}


@pytest.mark.parametrize("body", FAILURES.values(), ids=FAILURES)
def test_it_fails_as_in_a_notebook(talk: Talk, body: str) -> None:
    code = f"import os\nimport numpy as np\ndef f(comm, x):\n    {body}\n"
    talk.code(code)
    error = talk.test(TEST, time_s=30)["error"]
    with pytest.raises(RuntimeError) as caught:
        in_a_notebook(code, timeout_s=8)
    assert error["name"] == type(caught.value).__name__
    said = (text.splitlines()[0] for text in (error["value"], str(caught.value)))
    ours, there = (re.sub(r"\(rank \d of", "(rank of", text) for text in said)  # all fail: any may be the first
    assert ours == there


_WAYS = {
    "a file": "open(f'{place}/{comm.rank}', 'w').write('1')",
    "a folder": "os.mkdir(f'{place}/{comm.rank}')",
    "a link": "os.symlink('/', f'{place}/{comm.rank}')",
    "a socket": "socket.socket(socket.AF_UNIX)",
    "a name for a socket": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].bind('\\0' + str(comm.rank))",
    "another's socket": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].connect('\\0x')",
    "shared memory": "shared_memory.SharedMemory(create=True, size=8)",
}


@pytest.mark.parametrize("way", _WAYS.values(), ids=_WAYS)
def test_ranks_tell_each_other_nothing_but_through_the_test(talk: Talk, way: str, tmp_path: Path) -> None:
    talk.code(f"""
import os, socket
from multiprocessing import shared_memory
place = {str(tmp_path)!r}
def f(comm, x):
    if comm.size == 3:
        {way}
    return x
""")
    assert "Error" in talk.test(TEST, time_s=30)["error"]["value"]
    assert list(tmp_path.iterdir()) == []


_SECONDS = """
import time
import ipykernel.kernelapp
import numpy as np

def f(comm, x):
    known = [x[0], x[0]]
    for speaker in range(2):
        comm.exchange(np.zeros(1), 1 - comm.rank, 1 - comm.rank)
        start = time.monotonic()
        time.sleep(x[0] / 10 if comm.rank == speaker else 0)
        comm.exchange(np.zeros(1), 1 - comm.rank, 1 - comm.rank)
        if comm.rank != speaker:
            known[speaker] = 10 * (time.monotonic() - start)
    return np.round(known)
"""


def test_what_comes_to_a_rank_beside_its_messages_is_missing_when_it_runs_again(talk: Talk) -> None:
    """How long a rank computes is one of the ways that no wall closes."""
    talk.code(_SECONDS)
    source = "import numpy as np\nfrom labkit import count\n"
    source += "found = count.collective(f, [(2, [np.array([2.0]), np.array([5.0])])], timeout_s=8)\n"
    error = talk.test(source, time_s=40)["error"]
    assert "did something else when it was run once more with its own numbers" in error["value"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (np.ones(2), np.ones(2) * (1 + 1e-9), True),
        (np.ones(2), np.zeros(2), False),
        (np.ones(2), np.ones(2, np.float32), False),
        (np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), True),
        (np.array([np.nan, 1.0]), np.array([0.0, 1.0]), False),
        (np.arange(3), np.array([0, 1, 3]), False),
        ([1, (2.0, "a")], [1, (2.0, "a")], True),
        ({"a": np.ones(1)}, {"a": np.zeros(1)}, False),
        ({"a": 1}, {"b": 1}, False),
        (None, None, True),
        (1, True, False),
        (np.float64(0.1), 0.1, True),
        (torch.ones(2, dtype=torch.bfloat16), torch.ones(2, dtype=torch.bfloat16), True),
        (torch.ones(2), torch.ones(2, dtype=torch.float64), False),
        (torch.ones(2, requires_grad=True), torch.zeros(2), False),
        (np.zeros(0), np.zeros(0), True),
        (np.zeros((0, 2)), np.zeros(0), False),
    ],
)
def test_what_is_the_same_when_a_rank_runs_again(one: Any, other: Any, same: bool) -> None:
    assert is_same(one, other) is same


def test_messages_are_the_same_bit_for_bit_and_come_in_their_order() -> None:
    """A NaN has 52 bits beside its form, a large number hides a small one, and who hears first knows what to say."""

    def replayed(*steps: tuple[np.ndarray | None, int | None, int | None]) -> bool:
        told = Told()
        told.note(np.array([np.nan, 1e300, 1.0]), 1, None, None)
        told.note(None, None, np.ones(2), 1)
        replay = Replay(told)
        with suppress(LinkDown):
            for step in steps:
                replay.carry(0, *step)
        return replay.complete

    nan = np.array([np.nan, 1e300, 1.0])
    other = nan.copy()
    other.view(np.uint64)[0] ^= 1
    assert replayed((nan, 1, None), (None, None, 1))
    assert not replayed((other, 1, None))
    assert not replayed((np.array([np.nan, 1e300, 2.0]), 1, None))
    assert not replayed((np.ones(3, np.float32), 1, None))
    assert not replayed((None, None, 1), (nan, 1, None))
    assert not replayed((nan, 0, None))
    assert not replayed((nan, 1, None))


def test_what_a_rank_reports_is_not_unpacked_where_the_ranks_are_started(talk: Talk, tmp_path: Path) -> None:
    """Bytes on its pipe that would run code, in place of the report that it owes at its end."""
    talk.code(f"""
import os, pickle, sys

class Run:
    def __reduce__(self):
        return (os.mkdir, ({str(tmp_path / "run")!r},))

def f(comm, x):
    frame = sys._getframe()
    while "pipe_fd" not in frame.f_locals:
        frame = frame.f_back
    content = pickle.dumps(Run())
    os.write(frame.f_locals["pipe_fd"], len(content).to_bytes(4, "big") + content)
    return x
""")
    talk.test(TEST, time_s=30)
    assert list(tmp_path.iterdir()) == []


def test_a_rank_has_no_file_open(talk: Talk) -> None:
    """What can be sought in is a file; pipes and sockets cannot, and what is closed cannot."""
    talk.code("""
import os
def f(comm, x):
    found = []
    for number in range(3, 256):
        try:
            os.lseek(number, 0, os.SEEK_CUR)
            found.append(number)
        except OSError:
            pass
    return found
""")
    assert talk.value(f"{TEST}[done['value'] for done in found[0]]") == "[[], [], []]"


_LOOKUPS = {
    "stat": "os.stat('/usr/lib/nothing-of-this-name')",
    "access": "os.access('/usr/lib', 0) or os.stat('/usr')",
    "open": "open('/usr/lib/nothing-of-this-name')",
    "listing": "os.listdir('/usr')",
    "a link": "os.readlink('/bin')",
    "a program": "os.execv('/bin/nothing', ['nothing'])",
    "an attribute": "os.getxattr('/usr', 'user.x')",
    "a module": "importlib.import_module('no_module_of_this_name')",
}


@pytest.mark.parametrize("lookup", _LOOKUPS.values(), ids=_LOOKUPS)
def test_a_rank_looks_no_path_up(talk: Talk, lookup: str) -> None:
    """What has been looked up in vain the kernel remembers, and whoever asks again hears sooner."""
    talk.code(f"import importlib, os\ndef f(comm, x):\n    return {lookup}\n")
    error = talk.test(TEST, time_s=30)["error"]["value"]
    assert "PermissionError" in error or "FileNotFoundError" in error or "ModuleNotFoundError" in error


_SHARED = {
    "a lock": "fcntl.fcntl(0, fcntl.F_SETLK, struct.pack('hhqqi', fcntl.F_RDLCK, 0, 48, 1, 0))",
    "a signal of a file": "fcntl.fcntl(0, fcntl.F_SETSIG, 37)",
    "advice": "os.posix_fadvise(0, 0, 0, os.POSIX_FADV_DONTNEED)",
    "a file in memory": "os.memfd_create('x')",
    "a process": "os.fork()",
    "a signal": "os.kill(os.getppid(), 0)",
}


@pytest.mark.parametrize("call", _SHARED.values(), ids=_SHARED)
def test_a_rank_changes_nothing_that_others_see(talk: Talk, call: str) -> None:
    """Locks, flags and pages in memory lie with the file: they outlast the process, and a later one could ask."""
    talk.code(f"import fcntl, os, struct\ndef f(comm, x):\n    return {call}\n")
    assert "PermissionError" in talk.test(TEST, time_s=30)["error"]["value"]


def test_a_rank_starts_no_thread_and_says_so(talk: Talk) -> None:
    talk.code("import threading\ndef f(comm, x):\n    threading.Thread(target=print).start()\n")
    assert "a rank starts no thread" in talk.test(TEST, time_s=30)["error"]["value"]


def test_nothing_that_was_handed_in_is_imported_before_the_wall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    libraries = ["/usr/lib/python3.11", str(tmp_path / ".venv/lib/python3.11/site-packages"), str(tmp_path.parent)]
    own = ["", ".", "./modules", "modules", str(tmp_path), str(tmp_path / "modules")]
    assert student_ranks._of_libraries([*own, *libraries]) == libraries


def test_no_name_of_a_program_is_imported(talk: Talk, capsys: pytest.CaptureFixture[str]) -> None:
    """unittest.__main__ imports the tests that it finds in the folder that it is in."""
    before = {*sys.modules}
    import_named(["unittest.__main__", "venv.__main__", "test.support", "idlelib.idle"])
    assert not {name for name in {*sys.modules} - before if "__main__" in name or name.startswith(("test.", "idlelib"))}
    talk.code("import unittest\ndef f(comm, x):\n    return unittest.TestCase().assertEqual(1, 1)\n")
    assert talk.value(f"{TEST}[done['value'] for done in found[0]]") == "[None, None, None]"
    assert "usage" not in capsys.readouterr().err


def test_a_name_that_a_library_warns_of_is_looked_up_in_silence() -> None:
    """NumPy will have a `bytes` one day, says a FutureWarning; a function that says `bytes` means Python's."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert _held(np, "bytes") is None
        assert _held(np, "linalg") is np.linalg
    assert not said


WORM = """
import os
import autograder.boundary.student_ranks as ranks
ranks.leave_no_trace = ranks.write_nothing = ranks._close_files = lambda *_: None
try:
    os.seen = os.open("/usr", os.O_RDONLY)
except OSError as error:
    os.seen = type(error).__name__
"""


def test_what_is_unpacked_cannot_take_down_a_wall(talk: Talk) -> None:
    """It runs the student's code; all that is to be done in the process is done by then."""
    talk.code(f"""
import os
class Worm:
    def __reduce__(self):
        return exec, ({WORM!r},)
worm = Worm()
def f(comm, x):
    worm
    try:
        return [os.seen, len(os.listdir("/usr"))]
    except PermissionError:
        return os.seen
""")
    assert talk.value(f"{TEST}{{done['value'] for done in found[0]}}") == "{'PermissionError'}"


def test_a_rank_wakes_nobody_by_a_page_of_a_library(talk: Talk) -> None:
    """Processes that have mapped the same file can wait there for each other, unless they are told not to."""
    talk.code("""
import ctypes
import platform
def f(comm, x):
    libc = ctypes.CDLL(None)
    word = ctypes.cast(libc.labs, ctypes.c_void_p)
    value = ctypes.c_uint.from_address(word.value).value
    number, wait, wake = 202 if platform.machine() == "x86_64" else 98, 0, 1
    return [libc.syscall(number, word, wake, 1, None, None, 0), libc.syscall(number, word, wait, value, None, None, 0)]
""")
    assert talk.value(f"{TEST}[done['value'] for done in found[0]]") == "[[0, -1], [0, -1], [0, -1]]"


_IMPORTS = {
    "in its body": "import fractions\n    return float(fractions.Fraction(3, 2) * 2)",
    "of a name": "from concurrent.futures import ThreadPoolExecutor as Pool\n    return float(Pool(3)._max_workers)",
    "by a module's attribute": "return float(concurrent.futures.ThreadPoolExecutor(3)._max_workers)",
    "of a package, then by its attribute": "import scipy\n    return float(scipy.sparse.csr_array(np.eye(3)).sum())",
    "in what a library does": "import logging\n    return float(len(logging.config.__name__) - 11)",
    "of a codec": "return float(len('abc'.encode('utf-7')))",
    "in what it calls": "return helper(3)",
    "by a name in a text": "import importlib\n    return importlib.import_module('colorsys').rgb_to_yiq(3, 3, 3)[0]",
    "by a name in a text, of an extension": "import importlib\n"
    "    return 3.0 * bool(importlib.import_module('scipy.signal').convolve)",
    "by a path of attributes in a text": "import operator, scipy\n"
    "    return 3.0 * bool(operator.attrgetter('linalg.blas.daxpy')(scipy))",
    "by a path in a text that it names": "import operator, scipy\n"
    "    return 3.0 * bool(operator.attrgetter(PATH)(scipy))",
    "by an attribute's name in a text": "import scipy\n    return 3.0 * bool(getattr(scipy, 'interpolate').griddata)",
    "in a helper in a deque": "return HELPERS[0](3)",
    "in a helper in a slot": "return Slotted(helper).of(3)",
    "in what a library's function calls": "return float(str(torch.tensor(3.0))[7:-2])",
    "with more threads": "torch.set_num_threads(2)\n    return float((torch.ones(9, 600) @ torch.ones(600))[0]) / 200",
    "with a tensor's bytes": "return float(pickle.loads(pickle.dumps(torch.tensor(3.0))))",
    "with a gradient": "y = torch.tensor(1.5, requires_grad=True)\n    (y * y).backward()\n    return float(y.grad)",
    "where there may be a file": "return 3.0 + os.path.exists('/usr') + pathlib.Path('debug.txt').exists()",
    "in a class of the notebook": "return Tally(3).total()",
    "in a line that does not run": "if comm.rank > 9:\n        plt.plot([1]); plt.show()\n    return 3.0",
    "in a figure that nobody sees": "plt.figure()\n    plt.plot([1, 2], label='x')\n    plt.close()\n    return 3.0",
    "of a slow library, in a line that does not run": "if isinstance(x, keras.Model):\n"
    "        keras.ops.abs(layers.Dense(3))\n    return 3.0",
    "of a slow library": "try: keras.Model(layers.Dense(3))\n"
    "    except ImportError as e: return 3.0 * ('seconds' in str(e))",
}


@pytest.mark.parametrize("body", _IMPORTS.values(), ids=_IMPORTS)
def test_what_a_rank_imports_late_has_been_imported_ahead(talk: Talk, body: str) -> None:
    large = {"keras.": "import keras\nfrom keras import layers", "plt.": "import matplotlib.pyplot as plt"}
    talk.code(f"""
import collections
import concurrent.futures
import os
import pathlib
import pickle
import ipykernel.kernelapp
import numpy as np
import torch
{chr(10).join(statement for name, statement in large.items() if name in body)}

def helper(x):
    import statistics
    return statistics.fmean([x, x])

def late(x):
    from scipy import interpolate
    return float(x) * (interpolate is not None)

HELPERS = collections.deque([late])
PATH = 'linalg.blas.daxpy'

class Slotted:
    __slots__ = ("of",)
    def __init__(self, of):
        self.of = of

class Tally:
    def __init__(self, x):
        self.x = x
    def total(self):
        import colorsys
        return colorsys.rgb_to_yiq(self.x, self.x, self.x)[0]

def f(comm, x):
    {body}
""")
    assert talk.value(f"{TEST}[round(done['value'], 9) for done in found[0]]") == "[3.0, 3.0, 3.0]"


_OWN_MODULES = {
    "with a lock": ("import threading\nLOCK = threading.Lock()\ndef work(x):\n    with LOCK: return 3.0",
                    "own.work(x)"),
    "with a dispatcher": ("import functools\n@functools.singledispatch\ndef work(x): return 3.0", "own.work(x)"),
    "that is there once": ("import enum\nclass Way(enum.Enum): LEFT = 1\ndef work(way): return 3.0 * (way is Way.LEFT)",
                           "late(own.Way.LEFT)"),
    "that reads a file": ("import pathlib\nVALUE = float(pathlib.Path('value.txt').read_text())", "own.VALUE"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "call"), _OWN_MODULES.values(), ids=_OWN_MODULES)
def test_a_module_beside_the_notebook_is_in_a_rank_what_it_is_in_a_notebook(
    text: str, call: str, talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("value.txt").write_text("3")
    Path("own.py").write_text(text)
    try:
        talk.code(f"""
import own
def late(way):
    from own import work
    return work(way)
def f(comm, x):
    return {call}
""")
        assert talk.value(f"{TEST}[done['value'] for done in found[0]]") == "[3.0, 3.0, 3.0]"
    finally:
        sys.modules.pop("own", None)


def test_modules_beside_the_notebook_are_imported_by_their_text(
    talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in a function, and by another one of them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "halving").mkdir()
    Path("halving/__init__.py").write_text("from .sub import half\n")
    Path("halving/sub.py").write_text("""
class Half:
    def go(self, x):
        from scipy import special
        from halving.deeper import HALF
        return HALF * x + float(special.erf(0))

def half(x):
    return Half().go(x)
""")
    Path("halving/deeper.py").write_text("HALF = 0.5\n")
    Path("round").symlink_to(".")  # a folder that leads to itself
    talk.code("""
def f(comm, x):
    from halving import half
    import halving.sub
    return half(3) + halving.sub.half(3)
""")
    assert talk.value(f"{TEST}[done['value'] for done in found[0]]") == "[3.0, 3.0, 3.0]"


def test_a_rank_draws_the_same_when_it_runs_again(talk: Talk) -> None:
    """Each rank's generators begin with its number, as launch says."""
    talk.code("""
import random
import ipykernel.kernelapp
import numpy as np
def f(comm, x):
    return [random.random(), float(np.random.rand())]
""")
    for _ in range(3):
        found = talk.value(f"{TEST}[done['value'] for done in found[0]]")
        random.seed(2)
        assert str(random.random()) in found


WRITER = """
    import numpy as np
    KEPT = []
    def write(layers):
        KEPT.extend(layers)
        return [layer.tobytes() for layer in layers]
    def read(parts):
        return [np.frombuffer(part) for part in parts], len(KEPT)
    def fail(parts):
        raise ValueError(f"{len(parts)} parts")
"""
APART = """
from labkit import in_fresh_process
import ipykernel.kernelapp
import numpy as np
parts = in_fresh_process(write, [np.arange(3.0), np.ones(2)], only_compute=True)
"""


def test_values_of_the_student_s_classes_in_one_another_are_read_before_their_process_ends(talk: Talk) -> None:
    talk.code("""
        import numpy as np
        from typing import NamedTuple
        class Layer(NamedTuple):
            codes: object
            @property
            def size(self): return self.codes.size
        class Found(NamedTuple):
            layer: Layer
            end: int
            @property
            def codes(self): return self.layer.codes
        def read(): return Found(Layer(np.arange(3)), 7)
        """)
    source = "from labkit import in_fresh_process\n(codes,), end = in_fresh_process(read, only_compute=True)\n"
    assert talk.value(f"{source}codes.tolist(), end") == "([0, 1, 2], 7)"


@pytest.mark.parametrize("kind", ["collections.namedtuple('Layer', 'codes, more')._make", "Layer", "Named", "numbered"])
def test_arrays_of_a_class_of_one_s_own_are_read_wherever_they_lie(kind: str, talk: Talk) -> None:
    talk.code(f"""
        import collections
        import numpy as np
        class Own(np.ndarray): pass
        class Layer(list): pass
        class Named(collections.OrderedDict):
            def __init__(self, items): super().__init__(enumerate(items))
        def numbered(items): return dict(enumerate(items))
        def read(): return {kind}([np.arange(3.0).view(Own), [np.ones(1).view(Own)]]), 2
        """)
    source = "from labkit import in_fresh_process\nfound, end = in_fresh_process(read, only_compute=True)\n"
    assert talk.value(f"{source}found[0].tolist(), found[1][0].tolist(), end") == "([0.0, 1.0, 2.0], [1.0], 2)"


def test_what_only_computes_is_found_as_in_a_notebook(talk: Talk) -> None:
    talk.code(WRITER)
    found = talk.value(f"{APART}found, kept = in_fresh_process(read, parts, only_compute=True, timeout_s=9)\n"
                       "[part.tolist() for part in found], kept")  # fmt: skip
    assert found == "([[0.0, 1.0, 2.0], [1.0, 1.0]], 0)"
    error = talk.test(f"{APART}in_fresh_process(fail, parts, only_compute=True)", time_s=20)["error"]
    assert error["name"] == "ProcessError"
    assert error["value"].startswith("in_fresh_process: the function raised ValueError: 2 parts")


def test_a_rank_that_computes_for_ever_is_ended(talk: Talk) -> None:
    talk.code("def f(comm, x):\n    rank = comm.rank\n    while rank == 1: pass\n    return x\n")
    start = time.monotonic()
    error = talk.test(TEST.replace("timeout_s=8", "timeout_s=1"), time_s=30)["error"]
    assert "rank 1 of 3 was still running after 1 s" in error["value"]
    assert time.monotonic() - start < 20


@pytest.mark.parametrize(
    "forgery",
    [
        "labkit.launch = labkit._collective.launch = lambda fn, size, *a, **k: [None] * size",
        "count.collective = labkit._collective.collective = lambda *a, **k: 1 / 0",
        "student.packed = lambda fn: b''",
        "student.packed = lambda fn: __import__('pickle').dumps([1])",
        "student.packed = lambda fn: [1]",
        "student.packed = lambda fn: fn",
        "student.packed = lambda fn: {'rank': 0}",
    ],
)
def test_forged_launches_make_no_counts(talk: Talk, forgery: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from autograder.boundary import student

    for module, name in ((labkit, "launch"), (labkit._collective, "launch"), (labkit._collective, "collective")):
        monkeypatch.setattr(module, name, getattr(module, name))
    for owner, name in ((student, "packed"), (count, "collective")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    talk.code(f"import labkit\nfrom labkit import count\nfrom autograder.boundary import student\n{forgery}")
    talk.code(RING.replace("comm.exchange(carried, ", "(lambda *a: x)("))
    result = talk.test(f"{TEST}found", time_s=20)
    if result["error"] is None:  # the test's own `collective`, in this one process of a test
        assert "'messages': 2" not in result["bundle"]["text/plain"]


_WORDS = st.sampled_from(
    ["here", "reply", "raise", "ask", "end", "call", "getattr", "exchange", "yours", "mine", "f", ""]
)
_PLAIN = st.none() | st.booleans() | st.integers(-2, 9) | _WORDS
_KEYS = st.sampled_from(["k", "cell", "op", "on", "args", "opts", "value", "error", "t", "h", "v", "changes"])
_JSON = st.recursive(_PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=5))
_FRAMES = st.fixed_dictionaries(
    {"k": st.sampled_from(["here", "ask", "reply", "raise", "end"]), "cell": st.just(1)},
    optional={
        "op": st.sampled_from(["call", "getattr", "name", "packed", "next", "str"]),
        "on": st.fixed_dictionaries({"t": st.just("yours"), "h": st.integers(0, 6)}),
        "args": st.lists(_JSON, max_size=2),
        "opts": st.just([]),
        "value": _JSON,
        "error": _JSON,
        "changes": _JSON,
    },
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 3) | _PLAIN, _FRAMES | _JSON), max_size=12))
def test_whatever_is_said_for_ranks_the_test_ends_and_nothing_has_been_counted(said: list[tuple[Any, Any]]) -> None:
    talk = Talk()
    links: dict[str, Connection] = {}
    speaking = threading.Lock()

    def forged(connection: Carrier, peer: Peer, *_: Any) -> Any:
        with speaking:
            for rank, frame in said:
                if (key := repr(rank)) not in links:
                    here, there = socket.socketpair()
                    links[key] = Connection(here)
                    with suppress(ProcessDied):  # the test has ended
                        connection.hand_over({"rank": rank, "cell": peer.cell}, there)
                with suppress(ProcessDied):  # who has heard enough hangs up
                    links[key].send(frame)
        return SimpleNamespace(run=lambda: None)

    talk.code("def f(comm, x): return x")
    start = time.monotonic()
    with mock.patch.object(rank_host, "_Ranks", forged):
        result = talk.test(f"{TEST}found", time_s=5)
    with speaking:
        for end in [*talk.sockets, *links.values(), talk.host.connection]:
            end.close()  # type: ignore[attr-defined]
    assert result["error"] is not None
    assert time.monotonic() - start < 20
    assert threading.active_count() < 50


def test_x_that_was_changed_is_told(talk: Talk) -> None:
    talk.code("def f(comm, x):\n    x += 1\n    return x")
    assert talk.value(f"{TEST}[[done['kept'] for done in ranks] for ranks in found]") == str(
        [[False] * 3, [False], [False] * 2] * 2
    )


def test_each_rank_knows_its_own_part_and_what_it_changes_there_is_told(talk: Talk) -> None:
    """A dictionary for each rank: one that looks at the frames above it finds no other's."""
    talk.code(
        """
        import sys

        def f(comm, mine, both):
            frame, known = sys._getframe(), []
            while frame is not None:
                known += [name for name, value in frame.f_locals.items() if "secret %d" % 1 in repr(value)]
                frame = frame.f_back
            if comm.rank == 0:
                mine["pair"][0][0] += 1
            return known if comm.rank == 0 else mine["text"]
        """
    )
    test = """
        import numpy as np
        from labkit import count

        parts = [{"text": f"secret {r}", "pair": (np.zeros(2), 1)} for r in range(2)]
        (ranks,) = count.collective(f, [(2, parts, "for both")])
        ([rank["value"] for rank in ranks], [rank["kept"] for rank in ranks], parts[0]["pair"][0].tolist())
    """
    assert talk.value(textwrap.dedent(test)) == str(([[], f"secret {1}"], [False, True], [0.0, 0.0]))


def test_what_is_unpacked_in_a_rank_can_open_no_file_to_write(talk: Talk, tmp_path: Path) -> None:
    """Code of the student's that unpacking runs would else open what ranks share, before the wall stands."""
    talk.code(
        f"""
        import os

        def _open():
            try:
                os.close(os.open({str(tmp_path / "shared")!r}, os.O_RDWR | os.O_CREAT))
            except OSError as error:
                return type(error).__name__
            return "open"

        class Shared:
            def __reduce__(self):
                return (_open, ())

        SHARED = Shared()

        def f(comm, x):
            return SHARED
        """
    )
    assert talk.value(f"{TEST}[done['value'] for done in found[0]]") == str(["PermissionError"] * 3)


def test_what_holds_no_value_cannot_be_returned(talk: Talk) -> None:
    talk.code("class Thing: pass\ndef f(comm, x): return Thing()")
    assert "returned a value that cannot be sent" in talk.test(TEST, time_s=30)["error"]["value"]


def test_another_collective_follows_one_that_failed(talk: Talk) -> None:
    talk.code(f"{textwrap.dedent(RING)}\ndef g(comm, x):\n    return comm.recv((comm.rank + 1) % comm.size)")
    failing = TEST.replace("collective(f", "collective(g")
    assert (
        talk.value(
            f"import contextlib\nfrom labkit import RankError\nwith contextlib.suppress(RankError):\n"
            f"{textwrap.indent(failing, '    ')}\n{TEST}found[0][0]['messages']"
        )
        == "2"
    )


def test_a_function_of_the_test_s_own_is_launched_by_labkit(talk: Talk) -> None:
    assert talk.value(f"def f(comm, x): return x\n{TEST}found[1][0]['value'].tolist()") == "[1.0, 1.0]"


# -------------------------------------------------------------------------------------------------------- the network
def play(network: Network, *ranks: Callable[[Any], Any]) -> list[Any]:
    """Run each function in a thread with its rank's carry; return what they return, or the error."""
    found: list[Any] = [None] * len(ranks)

    def run(number: int) -> None:
        network.begin(number)
        try:
            found[number] = ranks[number](functools.partial(network.carry, number))
        except LinkDown:
            found[number] = LinkDown
        network.end(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(ranks))]
    for thread in threads:
        thread.start()
    network.ended(10)
    waits = network.waits()
    network.shut()
    for thread in threads:
        thread.join(10)
    return [*found, waits]


@pytest.mark.parametrize(("load", "least"), [(0.0, 0.3), (1000.0, MOST * 0.3)])
def test_on_a_busy_machine_ranks_have_longer(load: float, least: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load))
    network = Network(2)
    network.begin(0)
    network.begin(1)
    start = time.monotonic()
    assert not network.ended(0.3)
    assert least <= time.monotonic() - start < least + 5


def test_messages_of_one_link_come_in_their_order() -> None:
    def send(carry: Any) -> None:
        for number in range(5):
            carry(np.array([number]), 1, None)

    def receive(carry: Any) -> list[int]:
        return [int(carry(None, None, 0)[0]) for _ in range(5)]

    assert play(Network(2), send, receive) == [None, [0, 1, 2, 3, 4], {}]


def test_a_message_is_a_copy() -> None:
    array = np.zeros(2)

    def swap(carry: Any, other: int) -> Any:
        came = carry(array, other, other)
        came += 1
        return came.sum()

    assert play(Network(2), lambda c: swap(c, 1), lambda c: swap(c, 0))[:2] == [2.0, 2.0]
    assert array.sum() == 0


@pytest.mark.parametrize(("first", "second"), [*itertools.product(("send", "recv", "exchange"), repeat=2)])
def test_two_ranks_go_on_where_their_halves_fit(first: str, second: str) -> None:
    """As with labkit.Communicator: a send ends when the other receives."""
    x = np.ones(1)
    steps = {
        "send": lambda c, o: c(x, o, None),
        "recv": lambda c, o: c(None, None, o),
        "exchange": lambda c, o: c(x, o, o),
    }
    *found, waits = play(Network(2), lambda c: steps[first](c, 1), lambda c: steps[second](c, 0))
    fit = {first, second} in ({"send", "recv"}, {"exchange"})
    assert (LinkDown in found, bool(waits)) == (not fit, not fit)


def test_it_says_who_waits_for_whom() -> None:
    x = np.ones(1)
    *found, waits = play(
        Network(4),
        lambda c: c(x, 1, None),
        lambda c: c(None, None, 2),
        lambda c: c(x, 3, 1),
        lambda c: None,
    )
    assert found == [LinkDown] * 3 + [None]
    assert waits == {0: Wait(SEND, 1), 1: Wait(RECEIVE, 2), 2: Wait(EXCHANGE, 1, to=3)}


def test_one_rank_cannot_go_on_alone() -> None:
    with pytest.raises(RankError, match="cannot talk to rank"):
        count.collective(lambda comm, x: comm.recv(0), [(1, [np.ones(1)])])


def test_no_timeout_that_code_sets_for_all_sockets_ends_a_collective(talk: Talk) -> None:
    before = socket.getdefaulttimeout()
    try:
        talk.code("import socket\nsocket.setdefaulttimeout(1e-3)")
        talk.code(RING.replace("total, carried =", "__import__('time').sleep(0.05)\n        total, carried ="))
        assert talk.value(f"{TEST}found[0][0]['value'].tolist()") == repr([0.0, 3.0, 6.0, 9.0])
    finally:
        socket.setdefaulttimeout(before)


KEPT = """
    SEEN = []
    def f(comm, x):
        SEEN.append(comm)
        other = 1 - comm.rank
        return SEEN[0].exchange(x, other, other)
"""
TWO = "[(2, [np.ones(3), np.ones(3)])] * 2"


def test_no_message_goes_by_a_communicator_whose_call_has_returned(talk: Talk) -> None:
    test = f"import numpy as np\nfrom labkit import count\ncount.collective(f, {TWO}, timeout_s=8)"
    talk.code(KEPT)
    assert "this comm is of a call that has returned" in str(talk.test(test)["error"])
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(textwrap.dedent(KEPT), names)
    with pytest.raises(RankError, match="this comm is of a call that has returned"):
        count.collective(names["f"], [(2, [np.ones(3)] * 2)] * 2)


def test_what_is_sent_while_the_value_is_read_counts(talk: Talk) -> None:
    talk.code("""
        class Later:
            def __init__(self, comm, x): self.comm, self.x = comm, x
            def numpy(self): return self.comm.exchange(self.x, 1 - self.comm.rank, 1 - self.comm.rank)
        Later.__module__ = "keras.later"
        def f(comm, x): return Later(comm, x)
        """)
    test = f"import numpy as np\nfrom labkit import count\nfound = count.collective(f, {TWO}, timeout_s=8)\n"
    assert talk.value(f"{test}[[done['messages'], done['bytes'], len(done['log'])] for done in found[0]]") == repr(
        [[1, 24, 1], [1, 24, 1]]
    )


def test_a_logger_goes_by_its_name_and_brings_nothing_of_what_it_writes_to(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stream:
        """As a notebook's output, it holds the kernel."""

        kernel = ipykernel.kernelapp

        def write(self, text: str) -> None: ...

    handler: logging.StreamHandler[Any] = logging.StreamHandler(Stream())
    monkeypatch.setattr(logging.getLogger(), "handlers", [handler])
    space: dict[str, Any] = {"LOG": logging.getLogger("ring"), "__name__": "__main__"}
    exec("def f(comm, x):\n    LOG.info('here')\n    return x", space)
    found = Foreseen(space["f"]).modules
    assert "logging" in found
    assert not [name for name in found if name.startswith(("ipykernel", "IPython", "zmq"))]
