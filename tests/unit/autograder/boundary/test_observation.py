"""Tests about how something is computed, or what it is, are known by their text; ordinary ones are not."""

from __future__ import annotations

import pytest

from autograder.boundary.observation import observes

ABOUT = [
    ("import warnings\nwarnings.simplefilter('error')", "simplefilter"),
    ("with np.errstate(all='raise'): f(1)", "errstate"),
    ("from unittest import mock\nwith mock.patch('builtins.sum'): f(1)", "mock"),
    ("import math\nmath.factorial = None\nassert f(3) == 6", "math.factorial"),
    ("import sys\nsys.modules['numpy'] = None", "sys.modules"),
    ("__builtins__.len = None", "__builtins__"),
    ("import builtins\nvars(builtins)['any'] = None", "vars(builtins)"),
    ("sum = None\nassert f([1]) == 1", "another sum"),
    ("def max(*a): raise TypeError\nassert f([1]) == 1", "another max"),
    ("def helper(x): return 0\nassert f(1) == 1", "another helper"),
    ("assert hasattr(f(), '__add__')", "hasattr"),
    ("assert callable(f())", "callable"),
    ("from collections.abc import Iterator\nassert isinstance(f(), Iterator)", "isinstance of Iterator"),
    ("import collections\nassert isinstance(f(), collections.abc.Hashable)", "isinstance of Hashable"),
    ("a = [1]\nassert f(a) is not a", "is"),
    ("a = [1]\nassert id(f(a)) != id(a)", "id"),
    ("assert not np.shares_memory(f(a), a)", "shares_memory"),
    ("a = [[1]]\nb = f(a)\nb[0][0] = 9\nassert a[0][0] == 1", "writing to b"),
    ("with pytest.raises(ValueError): f()[0] = 7", "writing to f"),
    ("assert not hasattr(f(), '__dict__')", "hasattr"),
    ("assert set(dir(f())) <= {'x'}", "dir"),
    ("import os\nassert not os.path.exists('left')", "exists"),
    ("import time\nt = time.process_time()", "process_time"),
    ("assert 'for' not in inspect.getsource(f)", "getsource"),
    ("from numpy.lib.stride_tricks import as_strided", "as_strided"),
    ("from scipy.sparse import csr_matrix\ncsr_matrix(f())", "csr_matrix"),
    ("state = np.random.get_state()", "get_state"),
    ("import sys\nassert 'scipy' not in sys.modules", "sys.modules"),
    ("from sys import modules as loaded\nassert 'scipy' not in loaded", "sys.modules"),
    ("import inspect\nf(lambda x: seen.append(len(inspect.stack())))", "inspect.stack"),
    ("import gc\nassert len(gc.get_objects()) < 9", "gc.get_objects"),
    ("import os\nassert os.times().user < 1", "os.times"),
    ("import multiprocessing as mp\nassert mp.active_children() == []", "multiprocessing.active_children"),
]
ORDINARY = [
    "assert f(2) == 4",
    "assert f(2) is None and f(3) is not True",
    "import numpy as np\nx = np.zeros(3)\nx[0] = 1\nassert np.allclose(f(x), 1)",
    "x = [0] * 3\nx[1] = 2\nassert f(x) == 2",
    "g = {}\nfor k in 'ab': g[k] = f(k)\nassert g['a'] == 1",
    "graph = make()\nassert graph[0] == 1",
    "import warnings\nwarnings.simplefilter('ignore')\nassert f(1) == 1",
    "from collections.abc import Iterable\nassert f(1) == 1",
    "class T:\n    def __init__(self): self.x = 1\nassert f(T()) == 1",
    "assert isinstance(f(1), (int, float))",
    "assert hasattr(model, 'weights')",
    "assert type(f(1)(2)).__name__ == 'A'",
    "rng = np.random.default_rng(0)\nx = rng.normal(size=3)\nx[0] = 0\nassert f(x) == 0",
    "data = sorted([3, 1])\ndata[0] = 0\nassert f(data) == 0",
    "%matplotlib inline",
    "import os, sys\nassert f(os.path.join('a')) < sys.float_info.max\nprint(sys.version, file=sys.stderr)",
]


def _around(source: str) -> list[str]:
    """Return a test as it stands, in a function, in a loop and in a class of unittest's."""
    lines = source.replace("\n", "\n    ")
    deep = source.replace("\n", "\n        ")
    return [
        source,
        f"def test_it():\n    {lines}\ntest_it()",
        f"for _ in range(2):\n    {lines}",
        f"with open('x') as file:\n    {lines}",
        f"class T(unittest.TestCase):\n    def test_it(self):\n        {deep}",
    ]


MEMORY = {
    "base": [
        "v.base is not None",
        "v.base is None",
        "not v.base",
        "bool(f(1).base)",
        "f(1).base",
        "(b := v.base) is None",
        "None is not v.T.base",
        "getattr(v, 'base') is not None",
        "v.base and v.sum() == 1",
        "v.base == None",
        "getattr(f(1), 'base', None) is None",
    ],
    "flags": [
        "not v.flags.owndata",
        'v.flags["C_CONTIGUOUS"]',
        "v.flags.c_contiguous",
        "not f(1).flags.writeable",
        "getattr(v, 'flags').owndata",
        "operator.attrgetter('flags.owndata')(v)",
        "all(x.flags.owndata for x in v)",
    ],
    "strides": ["v.strides == (8,)", "f(1).strides[0] == 8", "getattr(v, 'strides') == (8,)"],
    "is_contiguous": ["v.is_contiguous()", "f(torch.ones(2)).is_contiguous()", "f(1).T.is_contiguous()"],
    "stride": ["v.stride() == (1,)", "v.stride(0) == 1", "operator.methodcaller('stride')(v) == (1,)"],
    "storage_offset": ["v.storage_offset() == 0"],
    "getsizeof": ["sys.getsizeof(v) < 100"],
    "__array_interface__": ["v.__array_interface__['strides'] is None"],
}
KINDS = [
    "type(words()) == str",
    "type(words()) != list",
    "type(w) in (str, bytes)",
    "type(w) not in {int}",
    "str == type(w)",
    "[type(x) for x in w] == [int, str]",
    "all(type(x) == int for x in w)",
    "{*map(type, w)} == {int}",
    "type(f(1)) == type(f(2))",
    "set(map(type, f(1))) <= {int}",
    "str(type(w)) == \"<class 'str'>\"",
]
WARNINGS = {
    "assert_no_warnings": [
        "np.testing.assert_no_warnings(f, 1)",
        "from numpy.testing import assert_no_warnings as a\na(f, 1)",
        "from numpy import testing\ntesting.assert_no_warnings(f, 1)",
    ],
    "assert_warns": [
        "np.testing.assert_warns(UserWarning, f)",
        "import numpy.testing as t\nt.assert_warns(UserWarning, f)",
    ],
    "suppress_warnings": ["with np.testing.suppress_warnings() as sup:\n    f(1)"],
    "errstate": [
        "with np.errstate(over='raise', under='ignore'):\n    f(1)",
        "with np.errstate(all='ignore', divide='raise'):\n    f(1)",
        "import numpy\nwith numpy.errstate(invalid='call', call=print):\n    f(1)",
        "with np.errstate(all='print'):\n    f(1)",
        "from numpy import errstate as e\nwith e(over='raise', under='ignore'):\n    f(1)",
        "e = np.errstate\nwith e(over='raise', under='ignore'):\n    f(1)",
        "with np.errstate(over=how, under='ignore'):\n    f(1)",
    ],
    "seterr": ["np.seterr(over='raise', under='ignore')", "np.seterr('ignore', 'raise')"],
    "simplefilter": [
        "import warnings\nwarnings.simplefilter('error', append='ignore')",
        "import warnings as w\nw.simplefilter(action='error')",
        "from warnings import simplefilter as s\ns('error')",
        "import warnings\nwarnings.simplefilter(how)",
    ],
    "filterwarnings": ["import warnings\nwarnings.filterwarnings('error', 'ignore')"],
    "catch_warnings": ["import warnings\nwith warnings.catch_warnings(action='error'):\n    f(1)"],
    "warns": ["with pytest.warns(UserWarning):\n    f(1)"],
}
PATCHED = {
    "MonkeyPatch": [
        "with pytest.MonkeyPatch.context() as m:\n    f(1)",
        "from pytest import MonkeyPatch as M\nM().setattr('builtins.sum', no)",
        "m = pytest.MonkeyPatch()\nf(1)",
    ],
    "setattr": [
        "with pytest.MonkeyPatch.context() as m:\n    m.setattr('builtins.sum', no)\n    f(1)",
        "m.setattr('builtins.sum', no)\nf(1)",
        "m.setattr(helper, 'sum', no)\nf(1)",
    ],
    "builtins.sum": ["with patch('builtins.sum', no):\n    f(1)", "@patch('builtins.sum')\ndef g(s): f(1)\ng()"],
    "mock": ["import unittest\nwith unittest.mock.patch.object(a, 'sum'):\n    f(1)"],
    "unittest.mock": [
        "import unittest.mock as m\nf(1)",
        "from unittest.mock import patch\nwith patch('builtins.sum'):\n    f(1)",
    ],
    "capture_output": [
        "from IPython.utils.capture import capture_output\nwith capture_output() as out:\n    f(1)",
        "from IPython.utils import io\nwith io.capture_output() as out:\n    f(1)",
        "import IPython\nwith IPython.utils.capture.capture_output() as out:\n    f(1)",
        "from IPython.utils.capture import capture_output as c\nwith c() as out:\n    f(1)",
    ],
    "redirect_stdout": [
        "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as out:\n    f(1)",
        "from contextlib import redirect_stdout as r\nwith r(None):\n    f(1)",
    ],
    "sys.stdout": ["import sys, io\nsys.stdout = io.StringIO()\nf(1)"],
}
ALARMS = {
    "signal.alarm": [
        "import signal\nsignal.alarm(3)\nf(1)",
        "from signal import alarm as a\na(3)\nf(1)",
        "signal.alarm(3)",
    ],
    "signal.setitimer": [
        "import signal as s\ns.setitimer(0, 1.5)\nf(1)",
        "from signal import setitimer\nsetitimer(0, 1)",
    ],
    "signal.signal": [
        "import signal\nsignal.signal(signal.SIGALRM, stop)\nf(1)",
        "from signal import signal\nsignal(14, no)",
    ],
}
DRAWN = {
    "np.random.rand": [
        "np.random.seed(5)\na = np.random.rand()\nnp.random.seed(5)\nrng()\nassert np.random.rand() == a",
        "np.random.seed(5)\na = np.random.rand()\nnp.random.seed(5)\nrng()\nb = np.random.rand()\nassert a == b",
        "np.random.seed(5)\nlist(map(rng, [1]))\nassert np.random.rand() < 0.3",
        "np.random.seed(5)\nfor i in range(3):\n    assert np.random.rand() == WANTED[i]\n    rng()",
        "np.random.seed(5)\nm = Model()\nm.fit()\nnp.testing.assert_equal(np.random.rand(), 0.2)",
        "np.random.seed(5)\nrng(np.ones(3))\nassert np.random.rand() == 0.2 + np.zeros(3)",
    ],
    "numpy.random.rand": ["import numpy\nnumpy.random.seed(5)\nrng()\nassert numpy.random.rand() == 0.2"],
    "npr.normal": ["import numpy.random as npr\nnpr.seed(5)\nrng()\nassert npr.normal() == 0.2"],
    "rand": ["from numpy.random import rand, seed\nseed(5)\nrng()\nassert rand() == 0.2"],
    "random.random": ["import random\nrandom.seed(5)\nrng()\nassert random.random() == 0.2"],
    "random": ["from random import random, seed\nseed(5)\nrng()\nassert random() == 0.2"],
    "torch.rand": [
        "import torch\ntorch.manual_seed(5)\nrng()\nassert torch.rand(1) == 0.2",
        "import torch\ntorch.manual_seed(5)\nwith torch.no_grad():\n    rng()\nb = torch.rand(1)\nassert b == 0.2",
    ],
    "drawn": ["def drawn(): return np.random.rand()\nnp.random.seed(5)\nrng()\nassert drawn() == 0.2"],
}
NUMBERS = [
    "p = pred(torch.ones(2)).numpy()",
    "p = pred(torch.ones(2))\nq = p.numpy()",
    "import torch as t\nq = pred(t.ones(2)).numpy()",
    "x = torch.ones(2)\ny = x + pred(x)\nassert y.numpy()[0] == 1",
    "net = Net()\nq = net(torch.ones(2)).cpu().numpy()",
    "net = Net()\nq = net.weight.numpy()",
    "for p in outputs(torch.ones(2)):\n    assert p.numpy()[0]",
    "q = [p.numpy() for p in outputs(torch.ones(2))]",
    "def array(t): return t.numpy()\nq = array(pred(torch.ones(2)))",
    "q = list(map(lambda t: t.numpy(), outputs(torch.ones(2))))",
    "loss = torch.nn.MSELoss()(pred(1), torch.ones(2)).numpy()",
    "assert weights.numpy()[0] == torch.ones(1)",
    "a, b = both(torch.ones(2))\nassert b.numpy() == 1",
]
FOUND = [
    *((f"v = f(1)\nassert {each}", name) for name, some in MEMORY.items() for each in some),
    *(
        (f"v = f(1)\nif not ({each}):\n    raise AssertionError", name)
        for name, some in MEMORY.items()
        for each in some
    ),
    *((f"w = words()\nassert {each}", "type") for each in KINDS),
    ("t = type(words())\nassert t == str", "type"),
    ("self.assertEqual(type(words()), str)", "type"),
    ("np.testing.assert_equal(type(words()), str)", "type"),
    *((each, name) for some in (WARNINGS, PATCHED, ALARMS) for name, found in some.items() for each in found),
    *((each, f"{name} after a call") for name, some in DRAWN.items() for each in some),
    *((each, "numpy() of what may require gradients") for each in NUMBERS),
]
APART = [
    "assert v.shape == (3,) and v.dtype == float and v.ndim == 1 and v.size == 3 and v.nbytes == 24",
    "assert v is not None",
    "v = f(1)\nassert v is not None and np.allclose(v, 1)",
    "assert f(10).base == 2",
    "assert convert(3, base=2) == '11'",
    "n = Number(3)\nn.base = 2\nassert n.digits() == '11'",
    "a = np.ones(3)\na.flags.writeable = False\nassert f(a) == 3",
    "a = np.ones(3)\na.setflags(write=False)\nassert f(a) == 3",
    "a = np.ones(3)\na.flags['WRITEABLE'] = False\nassert f(a) == 3",
    "import re\nassert re.search('a', f(1), flags=re.I)",
    "conv = layer()\nassert conv.stride == (2, 2)",
    "import sys\nassert f(1) if sys.flags.optimize else f(2)",
    "assert a.T.shape == (2, 3)",
    "try:\n    f(1)\nexcept Exception as e:\n    assert type(e).__name__ == 'ValueError'",
    "print(type(f(1)))",
    "assert isinstance(f(1), str)",
    "assert f(1) == 3, f'it is a {type(f(1))}'",
    "x = f(1)\nassert type(x)(3) == x",
    "T = type('T', (), {'x': 1})\nassert f(T()) == 1",
    "assert f(1) == 1, type(f(1)).__name__",
    "with np.errstate(all='ignore'):\n    assert f(1) == 1",
    "with np.errstate(divide='ignore', invalid='warn'):\n    assert f(1) == 1",
    "np.seterr(all='ignore')\nassert f(1) == 1",
    "import warnings\nwarnings.filterwarnings('ignore', category=UserWarning)\nf(1)",
    "import warnings\nwith warnings.catch_warnings():\n    warnings.simplefilter(action='ignore')\n    f(1)",
    "import warnings\nwarnings.filterwarnings('ignore', message='error')\nassert f(1) == 1",
    "import warnings\nwith warnings.catch_warnings(action='ignore'):\n    assert f(1) == 1",
    "from scipy import signal\nassert np.allclose(f(1), signal.convolve([1], [2]))",
    "clock.alarm(3)\nassert clock.rings",
    "p = Point(1)\nsetattr(p, 'x', 3)\nassert norm(p) == 3",
    "assert getattr(f(1), 'x') == 3",
    "assert f('sum') == 1",
    "rng = np.random.default_rng(5)\nassert f(rng) == 1\nassert rng.normal() < 9",
    "np.random.seed(5)\nassert f() == 3",
    "np.random.seed(5)\nx = np.random.rand(3)\nassert np.allclose(f(x), x)",
    "np.random.seed(5)\nfor _ in range(5):\n    x = np.random.rand(3)\n    assert np.allclose(f(x), x ** 2)",
    "np.random.seed(5)\nfor _ in range(5):\n    n = np.random.randint(5)\n    x = [n] * 3\n    assert f(x) == 3 * n",
    "np.random.seed(5)\ngot = f()\nnp.random.seed(5)\nassert got == np.random.rand()",
    "np.random.seed(5)\nassert f(np.random.rand()) == 1\nassert f(np.random.rand()) == 1",
    "np.random.seed(5)\nassert f(1) == 1\nxs = []\nxs.append(np.random.rand())\nassert f(xs) == xs",
    "np.random.seed(5)\nassert f(1) == 1\nfor i in np.random.permutation(3):\n    assert f(i) == i",
    "np.random.seed(5)\nassert f(1) == 1\nxs = [1, 2]\nnp.random.shuffle(xs)\nassert f(xs) == 3",
    "np.random.seed(5)\nassert f(1) == 1\nassert all(f(x) == x for x in np.random.rand(3))",
    "def drawn(): return np.random.rand()\nnp.random.seed(5)\nassert f(1) == 1\nx = drawn()\nassert f(x) == x",
    "def check(x): assert f(x) == x\nnp.random.seed(5)\nfor _ in range(3):\n    check(np.random.rand())",
    "import random\nrandom.seed(5)\nxs = [random.random() for _ in range(3)]\nassert f(xs) == sorted(xs)",
    "import torch\ng = torch.Generator().manual_seed(5)\nf(1)\nassert torch.rand(1, generator=g) < 2",
    "import torch\ntorch.manual_seed(5)\nassert f(torch.rand(2)).shape == (2,)\nassert f(torch.rand(3)).shape == (3,)",
    "torch.manual_seed(0)\nm = Net()\ny = torch.randn(4)\nloss = ((m(torch.ones(4)) - y) ** 2).mean()\nassert loss < 9",
    "x = torch.ones(2)\nassert f(x.numpy()) == 2",
    "assert pred(torch.ones(2)).detach().numpy()[0] == 1",
    "p = pred(torch.ones(2)).detach().cpu()\nassert p.numpy()[0] == 1",
    "p = pred(torch.ones(2))\nassert p.detach().numpy()[0] == 1",
    "with torch.no_grad():\n    p = pred(torch.ones(2)).numpy()",
    "with torch.no_grad():\n    p = pred(torch.ones(2))\nq = p.numpy()",
    "assert (pred(torch.ones(2)) > 0).numpy().all()",
    "assert pred(torch.ones(2)).argmax(1).numpy()[0] == 1",
    "import tensorflow as tf\nassert pred(tf.ones(2)).numpy()[0] == 1",
    "assert pred(torch.ones(2)).data.numpy()[0] == 1",
    "def data(n): return torch.ones(n)\nassert f(data(3).numpy()) == 3",
    "assert frame(1).to_numpy().sum() == 3",
    "for x in (torch.ones(2), torch.zeros(2)):\n    assert f(x.numpy()) == 3",
    "def reference(x): return x.numpy() * 2\nx = torch.ones(2)\nassert np.allclose(f(x).tolist(), reference(x))",
]


@pytest.mark.parametrize(("source", "found"), ABOUT)
def test_what_a_test_looks_at_is_named(source: str, found: str) -> None:
    assert observes(source, theirs={"helper"}) == found


@pytest.mark.parametrize("source", ORDINARY)
def test_an_ordinary_test_looks_at_values(source: str) -> None:
    assert observes(source, theirs={"answer"}) == ""


def test_what_a_test_brings_along_counts_and_what_a_locked_cell_imports() -> None:
    assert observes("assert f(1) == 1", "import warnings\nwarnings.simplefilter('error')") == "simplefilter"
    assert observes("math.factorial = None", "import math") == "math.factorial"


@pytest.mark.parametrize(("source", "found"), FOUND)
def test_what_cannot_be_seen_apart_is_named_wherever_it_stands(source: str, found: str) -> None:
    said = [observes(each, theirs={"weights"}) for each in _around(source)]
    assert said[0] == found
    assert all(said)


@pytest.mark.parametrize("source", APART)
def test_what_can_be_seen_apart_stays_there(source: str) -> None:
    assert {observes(each, theirs={"weights"}) for each in _around(source)} == {""}


def test_what_a_locked_cell_defines_is_the_test_s_own_unless_it_calls_the_student_s() -> None:
    given = "import torch\ndef data(n): return torch.ones(n)\ndef output(): return pred(data(3))"
    assert observes("x = data(3).numpy()", given, {"pred"}) == ""
    assert observes("x = output().numpy()", given, {"pred"}) == "numpy() of what may require gradients"
