"""What is handed in beside the notebook: modules that shadow others, start-up files, links, and no files at all."""

import os
from collections.abc import Callable
from pathlib import Path

from autograder.model import Status
from tests.redteam.redlab import FAKES, Attack

_EVIL = """
import sys
try:
    import labkit.check as check
    for name in ("close", "equal", "true", "at_least", "at_most"):
        setattr(check, name, lambda *a, **k: None)
except BaseException:
    pass
"""
_CHECK = """
from contextlib import contextmanager, suppress
def case(*a, **k):
    return suppress(BaseException)
hidden_case = case
class Score(float):
    def _repr_mimebundle_(self, **k):
        one = dict(title="x", passed=True, message="", hint="", hidden=False, weight=1.0, error="")
        return {"text/plain": repr(float(self)), "application/vnd.labkit.check+json": {"cases": [one]}}
score = Score
def __getattr__(name):
    return lambda *a, **k: None
"""
# Every one of these loads itself in the place of a module that a kernel or a test needs.
_NAMES = (
    *("json", "numpy", "torch", "math", "contextlib", "dataclasses", "linecache", "socket", "struct", "asyncio", "zmq"),
    *("ipykernel", "IPython", "autograder", "traceback", "typing", "random", "matplotlib", "tensorflow"),
)


def _links(*pairs: tuple[str, str]) -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        for name, target in pairs:
            (folder / name).symlink_to(target.replace("@ROOT@", str(folder.parents[2])))

    return make


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "table.csv")


def _sparse(folder: Path) -> None:
    with (folder / "data.bin").open("wb") as file:
        file.truncate(1 << 40)


def _many(folder: Path) -> None:
    for number in range(3000):
        (folder / f"{number}.txt").touch()


def _odd_names(folder: Path) -> None:
    names = [b"\xff\xfe", b"-rf", b"a\nb", b"$(touch redteam)", b"<img src=x onerror=alert(1)>", b" ", b"x" * 255]
    for name in names:
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("x")


def _deep(folder: Path) -> None:
    for _ in range(60):
        folder = folder / "deep"
        folder.mkdir()
    (folder / "x.txt").touch()


def _linked_notebook(folder: Path) -> None:
    (folder / "07_red.ipynb").unlink()
    (folder / "07_red.ipynb").symlink_to(folder.parents[2] / "source/07_red/07_red.ipynb")


ATTACKS = {
    "labkit_beside": Attack(
        says="Hands in a package labkit whose checks pass whatever they see.",
        files={"labkit/__init__.py": "", "labkit/check.py": _CHECK},
        code="import sys\nfor name in [n for n in sys.modules if n.startswith('labkit')]:\n    del sys.modules[name]",
    ),
    "modules_beside": Attack(
        says="Hands in modules with the names of those that a kernel, a test and the grader import.",
        files={f"{name}.py": _EVIL for name in _NAMES},
        answers=FAKES,
    ),
    "compiled_modules_beside": Attack(
        says="Hands in compiled modules, extension modules and archives that shadow others.",
        files={
            "labkit.so": b"\x7fELF" + bytes(100),
            "numpy.cpython-311-x86_64-linux-gnu.so": b"\x7fELF" + bytes(100),
            "__pycache__/labkit.cpython-311.pyc": bytes(64),
            "labkit.zip": b"PK\x03\x04" + bytes(64),
            "check.pyc": bytes(64),
        },
    ),
    "start_up_beside": Attack(
        says="Hands in files that some program reads when it starts.",
        files={
            **dict.fromkeys(("sitecustomize.py", "usercustomize.py", "__main__.py", "conftest.py", "evil.pth"), _EVIL),
            ".ipython/profile_default/startup/00.py": _EVIL,
            "ipython_config.py": _EVIL,
            "ipython_kernel_config.py": _EVIL,
            "nbgrader_config.py": _EVIL,
            "jupyter_config.py": _EVIL,
            "pyvenv.cfg": "home = /tmp\n",
            ".bashrc": "touch redteam\n",
            "matplotlibrc": "backend: module://evil\n",
        },
        answers=FAKES,
    ),
    "given_file_replaced": Attack(
        says="Hands in a file in the place of one that the instructor gives.",
        files={"table.csv": "canary", "07_red.py": _EVIL, "lab.toml": "points = 1"},
        code="print(open('table.csv').read())\nassert '1,2' in open('table.csv').read()",
    ),
    "links_to_secrets": Attack(
        says="Hands in links to the gradebook, to secrets, to another student's work and to the whole course.",
        place=_links(
            ("book.txt", "@ROOT@/gradebook.db"),
            ("secret.txt", "@ROOT@/secret.txt"),
            ("up.txt", "../../../secret.txt"),
            ("course", "@ROOT@"),
            ("others", ".."),
            ("passwd", "/etc/passwd"),
            ("memory", "/proc/self/mem"),
            ("environ", "/proc/self/environ"),
            ("loop", "loop"),
            ("nowhere", "/nowhere"),
        ),
        code="""
            import os
            for d, _, files in os.walk(".", followlinks=False):
                for name in files:
                    print(name, open(os.path.join(d, name), "rb").read(2000))
        """,
    ),
    "linked_notebook": Attack(
        says="Hands in a link to the instructor's notebook in place of one.",
        place=_linked_notebook,
        honest=0,
        status=(Status.UNREADABLE,),
    ),
    "pipe_beside": Attack(says="Hands in a pipe, which whoever opens it waits for.", place=_pipe),
    "sparse_file": Attack(says="Hands in a file of a terabyte, all of it a hole.", place=_sparse),
    "many_files": Attack(says="Hands in three thousand files.", place=_many),
    "odd_names": Attack(says="Hands in files with names that shells, terminals and pages misread.", place=_odd_names),
    "deep_folders": Attack(says="Hands in folders sixty deep.", place=_deep),
    "other_notebooks": Attack(
        says="Hands in other notebooks beside, one with the name of the autograded and of the source one.",
        files={"07_red.ipynb.ipynb": "{}", "source/07_red/07_red.ipynb": "{}", ".ipynb_checkpoints/07_red.ipynb": "{}"},
    ),
    "hostile_timestamp": Attack(
        says="Hands in a timestamp of the year 1, with markup and a megabyte of text.",
        files={"timestamp.txt": "0001-01-01 00:00:00 UTC\n<script>alert(1)</script>" + "x" * (1 << 20)},
    ),
}
