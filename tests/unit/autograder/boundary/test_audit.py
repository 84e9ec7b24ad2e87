"""While a test runs, Python's own announcements decide: what would make code of a value is refused, modules are not."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

REFUSED = {
    "exec": "exec('1')",
    "eval": "eval('1 + 1')",
    "a function of a library": "import timeit; timeit.timeit('1', number=1)",
    "a module given, that evaluates": "import beside; beside.evaluates('1')",
    "a module that was written": "from pathlib import Path; Path('late.py').write_text('x = 1'); import late",
    "one written elsewhere": "import sys, tempfile; from pathlib import Path; sys.path[:0] = [tempfile.gettempdir()];"
    " Path(tempfile.gettempdir(), 'late_elsewhere.py').write_text('x = 1'); import late_elsewhere",
    "one in an archive": "import io, zipfile; f = io.BytesIO(); z = zipfile.ZipFile(f, 'w');"
    " z.writestr('from_zip.py', 'x = 1'); z.extractall(); import from_zip",
    "a library that was written": "import shutil, _ctypes; shutil.copy(_ctypes.__file__, 'native.so');"
    " import importlib.machinery as m, importlib.util as u;"
    " u.module_from_spec(u.spec_from_file_location('_ctypes', 'native.so'))",
    "a compiled module that was written": "import os, py_compile as p; from pathlib import Path;"
    " Path('c.py').write_text('x = 1');"
    " p.compile('c.py', 'compiled.pyc', invalidation_mode=p.PycInvalidationMode.UNCHECKED_HASH);"
    " os.remove('c.py'); import compiled",
    "one that calls itself a string": "import importlib._bootstrap_external as b; from pathlib import Path;"
    " code = compile('x = 1', '<string>', 'exec');"
    " Path('string.pyc').write_bytes(bytes(b._code_to_hash_pyc(code, b'12345678', False)));"
    " import importlib.machinery as m, importlib.util as u;"
    " spec = u.spec_from_file_location('of_a_string', 'string.pyc');"
    " spec.loader.exec_module(u.module_from_spec(spec))",
    "one run by its path": "import runpy; runpy.run_path('beside.py')",
    "a pickle": "import pickle; pickle.loads(b'cbuiltins\\nprint\\n.')",
    "Python's own pickle": "import pickle; pickle._loads(b'cbuiltins\\nprint\\n.')",
    "an array that is a pickle": "import io, numpy as np; f = io.BytesIO(); np.save(f, np.array([print, len]));"
    " f.seek(0); np.load(f, allow_pickle=True)",
    "marshal": "import marshal; marshal.loads(marshal.dumps(1))",
    "a function of code": "import types; types.FunctionType((lambda: 1).__code__, {})",
    "other code": "(lambda: 1).__code__.replace(co_name='f')",
    "a program": "import subprocess, sys; subprocess.run([sys.executable, '-c', '1'])",
    "a shell": "import os; os.system('true')",
    "a fork": "import os; os.fork() or os._exit(0)",
    "a spawn": "import os, sys; os.posix_spawn(sys.executable, ['python', '-c', '1'], {})",
    "a library": "import ctypes, tempfile; ctypes.CDLL(tempfile.gettempdir() + '/none.so')",
    "a thread": "import threading; found = []\n"
    "def run():\n    try: exec('1')\n    except BaseException as e: found.append(e)\n"
    "t = threading.Thread(target=run); t.start(); t.join(); raise found[0]",
}
ALLOWED = {
    "a named tuple": "from collections import namedtuple; assert namedtuple('P', 'x y')(1, 2).y == 2",
    "a typed one": "import typing; assert typing.NamedTuple('P', [('x', int)])(3).x == 3",
    "a data class": "from dataclasses import make_dataclass; assert make_dataclass('P', ['x'])(4).x == 4",
    "a module": "import colorsys, xml.dom.minidom, wave",
    "one that makes code while it is imported": "import scipy.stats",
    "a distribution": "from scipy import stats; assert stats.norm(1, 2).mean() == 1",
    "a module that lay there": "import beside; assert beside.value == 7",
    "a folder of modules": "import loose.inner; assert loose.inner.value == 9",
    "one that was overwritten, as it was": "from pathlib import Path; Path('overwritten.py').write_text('x = 2');"
    " import overwritten; assert overwritten.x == 1",
    "its package": "import package.inner; assert package.inner.value == 8",
    "parsing": "import ast; ast.parse('x = 1'); compile('1', '', 'eval')",
    "a comparison": "import numpy as np; np.testing.assert_allclose([1.0], [1.0]); np.einsum('ij->', np.eye(2))",
    "tensors": "import torch; assert torch.nn.Linear(2, 1)(torch.ones(2)).shape == (1,)",
    "one that runs a string while it is imported": "import optree",
    "a library of the system": "import ctypes; ctypes.CDLL(None)",
    "copies": "import copy; assert copy.deepcopy({'a': [1]}) == {'a': [1]}",
}
PROGRAM = """
import json, sys, types
from pathlib import Path
from autograder.boundary.audit import CodeMade, Sentry
from autograder.boundary.beside import Beside
Beside(Path.cwd()).install()
sys.path.insert(0, "")  # as a test may do itself
said = {}
functions = {name: types.FunctionType(compile(source, "<test>", "exec"), {"__builtins__": __builtins__})
             for name, source in json.load(sys.stdin).items()}
sentry = Sentry()
for name, function in functions.items():
    with sentry.watching():
        try:
            function()
            said[name] = "allowed"
        except CodeMade as error:
            said[name] = f"refused: {error}"
        except BaseException as error:
            said[name] = repr(error)
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return what became of each, in one process."""
    folder = tmp_path_factory.mktemp("audit")
    (folder / "beside.py").write_text("value = 7\ndef evaluates(text): return eval(text)\n")
    (folder / "overwritten.py").write_text("x = 1\n")
    (folder / "loose").mkdir()
    (folder / "loose/inner.py").write_text("value = 9\n")
    (folder / "package").mkdir()
    (folder / "package/__init__.py").touch()
    (folder / "package/inner.py").write_text("value = 8\n")
    given = json.dumps(ALLOWED | REFUSED)
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, cwd=folder, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("what", REFUSED)
def test_what_would_make_code_of_a_value_is_refused(what: str, said: dict[str, str]) -> None:
    assert said[what].startswith("refused: ")


@pytest.mark.parametrize("what", ALLOWED)
def test_what_a_test_ordinarily_does_is_not(what: str, said: dict[str, str]) -> None:
    assert said[what] == "allowed"
