"""A course of ordinary nbgrader notebooks whose tests need the student's kernel, and those who hand in."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

import nbformat

from tests.system.courses import process

LAB = "hw"
_CONFIG = 'c = get_config()\nc.CourseDirectory.course_id = "compat"\nc.Execute.timeout = 10\n'

# The instructor's notebooks: cells by id, (source, points); an answer has no points.
NOTEBOOKS: dict[str, dict[str, tuple[str, float]]] = {
    "basics": {
        "squares": (
            """
            def squares(n):
                ### BEGIN SOLUTION
                return [i * i for i in range(1, n + 1)]
                ### END SOLUTION
            """,
            0,
        ),
        "squares-check": (
            """
            assert squares(1) == [1]
            table = squares(4)
            ### BEGIN HIDDEN TESTS
            assert squares(3) == [1, 4, 9], "three"
            ### END HIDDEN TESTS
            """,
            2,
        ),
        "earlier-name": ("assert table[-1] == 16", 1),
        "double-all": (
            """
            def double_all(numbers):
                ### BEGIN SOLUTION
                for i, number in enumerate(numbers):
                    numbers[i] = 2 * number
                ### END SOLUTION

            def sum_of_squares(n):
                ### BEGIN SOLUTION
                return sum(squares(n))
                ### END SOLUTION
            """,
            0,
        ),
        "in-place": ("numbers = [1, 2, 3]\ndouble_all(numbers)\nassert numbers == [2, 4, 6]", 1),
        "uses-squares": (
            """
            original = squares
            del squares
            try:
                sum_of_squares(1)
            except NameError:
                pass
            else:
                raise AssertionError("sum_of_squares does not use squares")
            finally:
                squares = original
            """,
            1,
        ),
        "mocked": (
            """
            from unittest.mock import patch
            with patch("__main__.squares", return_value=[20, 22]):
                found = sum_of_squares(3)
            assert found == 42
            """,
            1,
        ),
        "magics": ("%xmode Plain\nfiles = !echo one two\nassert squares(2) == [1, 4] and files == ['one two']", 1),
        "shell": ("ip = get_ipython()\nassert ip.user_ns['squares'] is squares and callable(squares)", 1),
        "timed": ("%%time\nassert squares(5)[-1] == 25", 1),
    },
    "numbers": {
        "total": (
            """
            import numpy as np
            def total(n):
                ### BEGIN SOLUTION
                return n * (n + 1) // 2
                ### END SOLUTION
            """,
            0,
        ),
        "partial": (
            """
            points = 0
            for n, want in ((1, 1), (2, 3), (3, 6), (100, 5050)):
                try:
                    assert total(n) == want
                    points += 1
                except Exception:
                    pass
            points
            """,
            4,
        ),
        "total-of-array": ("import numpy as np\nnp.testing.assert_allclose(total(np.array([1, 2])), [1, 3])", 1),
        "greet": (
            """
            def greet(name):
                ### BEGIN SOLUTION
                print("hello", name)
                ### END SOLUTION

            def ask():
                ### BEGIN SOLUTION
                return int(input("how many? "))
                ### END SOLUTION
            """,
            0,
        ),
        "printed": (
            """
            import contextlib, io
            with contextlib.redirect_stdout(io.StringIO()) as out:
                greet("Ann")
            assert out.getvalue() == "hello Ann\\n"
            """,
            1,
        ),
        "asked": (
            """
            import builtins
            before, builtins.input = builtins.input, lambda *_: "5"
            input = builtins.input
            try:
                assert ask() == 5
            finally:
                builtins.input = before
                del input
            """,
            1,
        ),
        "share": ("round(sum(total(n) == n * (n + 1) / 2 for n in range(8)) / 8, 3)", 1),
        "words": ("'done' if total(2) == 3 else 0", 1),
    },
}
ANSWERS = {
    "squares": "def squares(n):\n    return [i**2 for i in range(1, n + 1)]",
    "double-all": "def double_all(numbers):\n    numbers[:] = [2 * x for x in numbers]\n\n"
    "def sum_of_squares(n):\n    return sum(squares(n))",
    "total": "import numpy as np\ndef total(n):\n    return n * (n + 1) // 2",
    "greet": "def greet(name):\n    print(f'hello {name}')\n\ndef ask():\n    return int(input('? '))",
}
BLANK = {
    "squares": "def squares(n):\n    raise NotImplementedError",
    "double-all": "def double_all(numbers):\n    raise NotImplementedError\n\n"
    "def sum_of_squares(n):\n    raise NotImplementedError",
    "total": "import numpy as np\ndef total(n):\n    raise NotImplementedError",
    "greet": "def greet(name):\n    raise NotImplementedError\n\ndef ask():\n    raise NotImplementedError",
}
MAX = sum(points for cells in NOTEBOOKS.values() for _, points in cells.values())


def compat_course(root: Path) -> Path:
    """Make the course with nbgrader; nobody has handed in."""
    for name, cells in NOTEBOOKS.items():
        path = root / "source" / LAB / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(_notebook(cells), path)
    (root / "nbgrader_config.py").write_text(_CONFIG)
    done = process("nbgrader", "generate_assignment", LAB, cwd=root)
    assert done.returncode == 0, done.stderr
    return root


def _notebook(cells: Mapping[str, tuple[str, float]]) -> nbformat.NotebookNode:
    made = []
    for grade_id, (source, points) in cells.items():
        about = {"schema_version": 3, "task": False, "grade_id": grade_id, "grade": points > 0, "locked": points > 0}
        about |= {"solution": not points} | ({"points": points} if points else {})
        made.append(nbformat.v4.new_code_cell(textwrap.dedent(source).strip(), metadata={"nbgrader": about}))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=made, metadata={"kernelspec": kernel})


def hand_in(root: Path, student: str, answers: Mapping[str, str], first: str = "") -> None:
    """Hand in both notebooks with these answers, and a cell above all others."""
    for name in NOTEBOOKS:
        notebook = nbformat.read(root / "release" / LAB / f"{name}.ipynb", as_version=4)
        for cell in notebook.cells:
            cell.source = textwrap.dedent(answers.get(cell.metadata.nbgrader.grade_id, cell.source)).strip()
        if first:
            notebook.cells.insert(0, nbformat.v4.new_code_cell(textwrap.dedent(first).strip()))
        path = root / "submitted" / student / LAB / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, path)


HONEST: dict[str, tuple[Mapping[str, str], str]] = {
    "full": (ANSWERS, ""),
    "blank": (BLANK, ""),
    "released": ({}, ""),
    "half": ({**ANSWERS, "squares": BLANK["squares"]}, ""),
    "off-by-one": ({**ANSWERS, "squares": "def squares(n):\n    return [i * i for i in range(n)]"}, ""),
    "some-totals": (
        {**ANSWERS, "total": "import numpy as np\ndef total(n):\n    return sum(range(min(n, 3) + 1))"},
        "",
    ),
    "not-in-place": (
        {
            **ANSWERS,
            "double-all": "def double_all(n):\n    return [2 * x for x in n]\n\ndef sum_of_squares(n):\n    return 1",
        },
        "",
    ),
    "numpy-scalars": (
        {**ANSWERS, "squares": "import numpy as np\ndef squares(n):\n    return list(np.arange(1, n + 1) ** 2)"},
        "%precision 2\nimport warnings\nwarnings.filterwarnings('ignore')",
    ),
    "talks": (
        {
            **ANSWERS,
            "squares": "def squares(n):\n    print(n)\n    display(n)\n    return [i * i for i in range(1, n + 1)]",
        },
        "from IPython.display import display",
    ),
    "debugs": (
        ANSWERS,
        """
        import sys, pdb
        %xmode Verbose
        %load_ext autoreload
        %autoreload 2
        sys.excepthook = lambda *error: print("my own hook", error)
        get_ipython().events.register("post_run_cell", lambda result: None)
        """,
    ),
    "fails-first": (ANSWERS, "points = table = numbers = original = 'mine'\n1 / 0"),
    "stateful": (
        {
            **ANSWERS,
            "total": """
                import numpy as np
                known = {}
                def total(n):
                    key = str(n)
                    if key not in known:
                        known[key] = n * (n + 1) // 2
                    return known.pop(key)
            """,
        },
        "",
    ),
    "recursion": (
        {**ANSWERS, "squares": "squares = lambda n: squares(n - 1) + [n * n] if n else []"},
        "größe = '日本'",
    ),
    "random": (ANSWERS, "import random, numpy as np\nrandom.seed()\nnp.random.seed(3)\nlist = list\nid = 5"),
    "ends": (
        {
            **ANSWERS,
            "double-all": "def double_all(n):\n    raise SystemExit\n"
            "def sum_of_squares(n):\n    raise KeyboardInterrupt",
        },
        "",
    ),
}
"""What honest students hand in: answers, and a cell above all others."""
