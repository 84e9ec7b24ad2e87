"""A small lab of five points, and submissions of which the score is known: honest ones and hostile ones.

A hostile submission solves the first task, for two points, and does its mischief in the cell of the second, where it
earns nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import nbformat

from autograder.release.publish import release_labs
from benchmarks.grading.courses import student

__all__ = ["HONEST", "HOSTILE", "LAB", "make_course"]

LAB = "01_small"
_TOML = """
title = "Small"
question = "Does a class finish?"
hours = 1
points = 5

[limits]
cell_time_s = 2
total_time_s = 6
memory_mib = 1536
output_kib = 64
"""
_SOURCE = '''
# %% [markdown]
# # Small
#
# ### Task 1. Add (2 points)

# %% nbgrader={"grade_id": "add", "solution": true}
def add(a, b):
    """Return the sum."""
    ### BEGIN SOLUTION
    return a + b
    ### END SOLUTION

# %% nbgrader={"grade_id": "add-check", "grade": true, "points": 2}
from labkit import check

with check.case("one and two are three"):
    check.equal(add(1, 2), 3)
### BEGIN HIDDEN TESTS
with check.hidden_case("negative numbers can be added"):
    check.equal(add(-1, -1), -2)
### END HIDDEN TESTS
check.score(2)

# %% [markdown]
# ### Task 2. Double (3 points)

# %% nbgrader={"grade_id": "double", "solution": true}
def double(a):
    """Return twice a."""
    ### BEGIN SOLUTION
    return 2 * a
    ### END SOLUTION

# %% nbgrader={"grade_id": "double-check", "grade": true, "points": 3}
import numpy as np

from labkit import check

with check.case("two is doubled"):
    check.equal(double(2), 4)
with check.case("three is doubled"):
    check.equal(double(3), 6)
with check.case("an array is doubled"):
    check.close(double(np.ones(3)), [2.0, 2.0, 2.0])
check.score(3)
'''
_ADD = "def add(a, b):\n    return a + b"
HONEST = {
    "right": (_ADD, "def double(a):\n    return 2 * a", 5.0),
    "one case of three": (_ADD, "def double(a):\n    return 4 if isinstance(a, int) else a", 3.0),
    "wrong": (_ADD, "def double(a):\n    return 3 * a", 2.0),
    "blank": ("", "", 0.0),
}
"""What each kind answers to both tasks, and what it earns."""
HOSTILE = {
    "loops forever": "while True:\n    pass",
    "loops, and hears no interrupt": """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
""",
    "forks without end": """
import os, time
end = time.monotonic() + 0.5
first = os.getpid()
while time.monotonic() < end:
    try:
        os.fork()
    except OSError:
        time.sleep(0.01)
if os.getpid() != first:
    time.sleep(600)
""",
    "takes all memory": """
held, size = [], 1 << 28
while size > 1 << 16:
    try:
        held.append(bytearray(size))
    except MemoryError:
        size //= 2
""",
    "prints without end": 'while True:\n    print("x" * 5000)',
    "ends the process": "import os\nos._exit(0)",
    "crashes": "import ctypes\nctypes.string_at(1)",
    "kills what it can": "import os\nos.kill(-1, 9)",
    "forges a report": """
from IPython.display import display
case = {"title": "x", "passed": True, "message": "", "hint": "", "hidden": False, "weight": 1.0, "error": ""}
bundle = {"application/vnd.labkit.check+json": {"cases": [case] * 3}, "text/plain": "3.0"}
class double:
    def __init__(self, a):
        kernel = get_ipython().kernel
        content = {"data": bundle, "metadata": {}, "execution_count": 1}
        kernel.session.send(kernel.iopub_socket, "execute_result", content, parent=kernel.get_parent("shell"))
        display(bundle, raw=True)
    def __eq__(self, other):
        return True
""",
    "leaves a daemon": """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
""",
    "reads other processes": """
from pathlib import Path
for process in Path("/proc").glob("[0-9]*"):
    for file in ("environ", "cmdline", "maps", "mem"):
        try:
            with open(process / file, "rb") as opened:
                print(opened.read(100000))
        except OSError as error:
            print(error)
""",
    "answers with a gigabyte": "def double(a):\n    return [bytes(1 << 20)] * 1000",
    "fills the disk": """
import os
for place in (".", "/tmp", "/dev/shm"):
    try:
        with open(os.path.join(place, "full"), "wb") as file:
            while True:
                file.write(bytes(1 << 20))
    except OSError as error:
        print(error)
""",
}
"""What each kind does in the cell of the second task."""
_UNREADABLE = "is cut off"


def make_course(root: Path, submissions: int, share: float, seed: int) -> dict[str, tuple[str, float]]:
    """Make a course with this lab, handed in by so many students; return the kind and the score of each.

    A share of them is hostile, of each kind in turn and at places drawn with the seed.
    """
    folder = root / "source" / LAB
    folder.mkdir(parents=True)
    (folder / "lab.toml").write_text(_TOML)
    (folder / f"{LAB}.py").write_text(_SOURCE.lstrip())
    config = 'c = get_config()\nc.CourseDirectory.course_id = "class"\nc.CourseDirectory.ignore = ["*.py", "*.toml"]\n'
    (root / "nbgrader_config.py").write_text(config)
    list(release_labs(root, (LAB,)))
    blank = nbformat.read(root / "release" / LAB / f"{LAB}.ipynb", as_version=4)
    found = {}
    for number, (kind, content, score) in enumerate(_kinds(submissions, share, seed)):
        path = root / "submitted" / student(number) / LAB / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True)
        answers = {"add": f"# {number}\n{content[0]}", "double": f"# {number}\n{content[1]}"}
        for cell in blank.cells:
            cell.source = answers.get(cell.id, cell.source)
        text = nbformat.writes(blank)
        path.write_text(text[: len(text) // 2] if kind == _UNREADABLE else text, encoding="utf-8")
        found[student(number)] = (kind, score)
    return found


def _kinds(submissions: int, share: float, seed: int) -> Iterator[tuple[str, tuple[str, str], float]]:
    bad = [(kind, (_ADD, code.strip()), 2.0) for kind, code in HOSTILE.items()] + [(_UNREADABLE, (_ADD, ""), 0.0)]
    good = [(kind, (add, double), score) for kind, (add, double, score) in HONEST.items()]
    places = set(random.Random(seed).sample(range(submissions), round(share * submissions)))
    hostile = honest = 0
    for number in range(submissions):
        if number in places:
            yield bad[hostile % len(bad)]
            hostile += 1
        else:
            yield good[honest % len(good)]
            honest += 1
