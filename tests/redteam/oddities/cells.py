"""Right answers among unusual cells: what they print, warn of, display, change and start."""

from tests.redteam.redlab import SOLVED, Oddity

_WARNS = """
import warnings
warnings.warn("mind this")
warnings.warn("old", DeprecationWarning)
warnings.warn("later", FutureWarning)
"""

ODDITIES = {
    "warnings": Oddity(
        says="Warns in every category, from its own cell and from inside a test.",
        cells=[("centre", _WARNS)],
        answers={"centre": f"def centre(x):{_WARNS.replace(chr(10), chr(10) + '    ')}\n    return x - x.mean(axis=0)"},
    ),
    "numpy_warnings": Oddity(
        says="Divides by zero and overflows on the way to a right answer.",
        answers={
            "softmax": """
                def softmax(z):
                    naive = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True) + np.log(np.zeros(1)) * 0
                    e = np.exp(z - z.max(axis=1, keepdims=True))
                    return e / e.sum(axis=1, keepdims=True)
            """
        },
    ),
    "prints": Oddity(
        says="Prints, also to standard error and without line ends, in every call.",
        answers={
            "centre": """
                import sys
                def centre(x):
                    print("x is", x, end="")
                    print("careful", file=sys.stderr)
                    sys.stdout.write("\\r")
                    sys.stderr.flush()
                    return x - x.mean(axis=0)
            """
        },
    ),
    "logging": Oddity(
        says="Logs at every level to handlers of its own.",
        answers={
            "centre": """
                import logging
                logging.basicConfig(level=logging.DEBUG, force=True)
                log = logging.getLogger("mine")
                def centre(x):
                    log.debug("%s", x)
                    log.error("not an error")
                    return x - x.mean(axis=0)
            """
        },
    ),
    "progress_bar": Oddity(
        says="Draws a progress bar on standard error.",
        cells=[
            (
                "windows",
                """
                import sys, time
                for i in range(101):
                    sys.stderr.write(f"\\r{i:3d} %|{'#' * (i // 5):<20}|")
                    time.sleep(0.001)
                """,
            )
        ],
    ),
    "extra_cells": Oddity(
        says="Has many cells of its own, code, markdown and empty ones, one of which fails.",
        cells=[
            ("centre", "x = 5\nx"),
            ("centre-check", "centre(np.ones((2, 2)))"),
            ("tally", "[markdown]# My notes\n\n* one\n* two"),
            ("tally-check", "1 / 0"),
            ("windows", "# comments only"),
            ("bisect", "x = z = want = check = line = counter = number = running = None"),
            ("softmax", "assert centre(np.ones((2, 2))).sum() == 0, 'my own test'"),
            ("softmax", "undefined_name"),
        ],
    ),
    "magics": Oddity(
        says="Uses magics and shell commands in its own cells.",
        cells=[
            ("centre", "%matplotlib inline\n%config InlineBackend.figure_format = 'png'"),
            ("centre-check", "%timeit -n 2 -r 2 centre(np.ones((2, 2)))"),
            ("tally", "!echo hello\nfiles = !ls\nfiles"),
            ("tally-check", "%%time\ntally(['a'])"),
            ("windows", "%%capture caught\nprint('caught')"),
            ("windows", "%load_ext autoreload\n%autoreload 2\n%who"),
            ("bisect", "%%bash\necho from bash >&2"),
            ("bisect", "?centre"),
            ("softmax", "%%writefile helper_module.py\nvalue = 5"),
            ("softmax", "import helper_module\nhelper_module.value"),
        ],
    ),
    "shadowed_names": Oddity(
        says="Uses the names that the tests use for things of its own, and those of harmless builtins.",
        cells=[
            (
                "centre",
                "data = [1, 2]\nx = 'mine'\nwant = z = tall = curve = line = None\nid = 5\ninput = 'text'\nsum_ = sum",
            ),
            ("softmax", "reference = lambda z: None\nlist_ = list\ncheck = 'mine'\nnumpy = 5"),
        ],
    ),
    "star_imports": Oddity(
        says="Imports everything from numpy, math and others.",
        cells=[("centre", "from numpy import *\nfrom math import *\nfrom os.path import *\nimport numpy as np")],
    ),
    "main_guard": Oddity(
        says="Asks whether it is the main program.",
        answers={"centre": SOLVED["centre"] + '\n\nif __name__ == "__main__":\n    print(centre(np.ones((2, 2))))'},
    ),
    "slow_first_call": Oddity(
        says="Takes a second to prepare at the first call.",
        answers={
            "centre": """
                import time
                ready = False
                def centre(x):
                    global ready
                    if not ready:
                        time.sleep(1.0)
                        ready = True
                    return x - x.mean(axis=0)
            """
        },
    ),
    "figures_left_open": Oddity(
        says="Leaves thirty figures open, with warnings, in a test too.",
        cells=[
            (
                "centre",
                """
                import matplotlib.pyplot as plt
                for _ in range(3):
                    plt.figure()
                plt.plot([1, 2], label="\u65e5\u672c")
                plt.legend()
                """,
            )
        ],
    ),
    "seeds": Oddity(
        says="Sets seeds and uses random numbers that do not matter.",
        cells=[
            ("centre", "import random\nrandom.seed(1)\nnp.random.seed(2)\nrng = np.random.default_rng(3)\nrng.random()")
        ],
        answers={"centre": "def centre(x):\n    np.random.rand(3)\n    return x - x.mean(axis=0)"},
    ),
    "async_cells": Oddity(
        says="Awaits in its own cells, and runs a loop.",
        cells=[
            ("centre", "import asyncio\nawait asyncio.sleep(0.01)\nasync def two():\n    return 2\nprint(await two())"),
            ("tally", "task = asyncio.ensure_future(asyncio.sleep(0.01))"),
        ],
    ),
    "threads": Oddity(
        says="Computes in threads that it joins, in a pool too.",
        answers={
            "windows": """
                from concurrent.futures import ThreadPoolExecutor
                def windows(items, n):
                    with ThreadPoolExecutor(2) as pool:
                        return list(pool.map(lambda i: list(items[i:i + n]), range(len(items) - n + 1)))
            """,
            "bisect": """
                import threading
                def bisect(f, low, high):
                    found = []
                    def work(low=low, high=high):
                        for _ in range(50):
                            middle = (low + high) / 2
                            low, high = (middle, high) if f(middle) < 0 else (low, middle)
                        found.append(low)
                    thread = threading.Thread(target=work)
                    thread.start()
                    thread.join()
                    return found[0]
            """,
        },
    ),
    "subprocess": Oddity(
        says="Runs a program for a part of its answer.",
        answers={
            "centre": """
                import subprocess, sys
                def centre(x):
                    zero = float(subprocess.run(["echo", "0"], capture_output=True, text=True).stdout)
                    return x - x.mean(axis=0) + zero
            """
        },
    ),
    "exceptions_inside": Oddity(
        says="Raises and catches inside, with finally, else, suppress and a context manager of its own.",
        answers={
            "tally": """
                from contextlib import contextmanager, suppress
                @contextmanager
                def counting(counts):
                    try:
                        yield counts
                    finally:
                        counts.pop("", None)
                def tally(words):
                    if not words:
                        raise ValueError("no words")
                    counts = {}
                    with counting(counts):
                        for word in words:
                            try:
                                counts[word.lower()] += 1
                            except KeyError:
                                counts[word.lower()] = 1
                            else:
                                with suppress(ZeroDivisionError):
                                    1 / 0
                    return counts
            """
        },
    ),
    "displays": Oddity(
        says="Displays tables, pictures, HTML and widgets' text between the tasks.",
        cells=[
            (
                "centre",
                """
                from IPython.display import HTML, Markdown, display
                display(HTML("<b>bold</b>"), Markdown("**bold**"), {"a": 1})
                display("updated", display_id="d")
                """,
            )
        ],
    ),
    "options_changed": Oddity(
        says="Changes NumPy's print and error options, the recursion limit and the warnings filter.",
        cells=[
            (
                "centre",
                """
                import sys, warnings
                np.set_printoptions(precision=2, suppress=True)
                np.seterr(all="ignore")
                sys.setrecursionlimit(3000)
                warnings.filterwarnings("ignore")
                """,
            )
        ],
    ),
    "environment_emptied": Oddity(
        says="Empties the environment.",
        cells=[("setup", "import os\nos.environ.clear()")],
    ),
    "large_output": Oddity(
        says="Prints more than is kept.",
        cells=[("softmax", "for i in range(3000):\n    print('x' * 60)")],
    ),
}
