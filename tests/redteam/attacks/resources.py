"""Exhausting: memory, processes, disk, output, time, and values without end."""

from autograder.model import Status
from tests.redteam.redlab import Attack

_PARTLY = (Status.PARTLY_GRADED,)


def in_test(body: str) -> dict[str, str]:
    """Return an answer to the third task that does this, and then gives a wrong value."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    return {"windows": f"def windows(items, n):\n{lines}\n    return []"}


ATTACKS = {
    "fork_bomb": Attack(
        says="Forks without end, in processes that fork in turn.",
        code="""
            import ctypes, os, time
            end = time.monotonic() + 1.5
            parent = os.getpid()
            while time.monotonic() < end:
                try:
                    if os.fork() == 0:
                        ctypes.CDLL(None).prctl(15, b"redteam-bomb", 0, 0, 0)
                except OSError:
                    time.sleep(0.01)
            if os.getpid() != parent:
                time.sleep(60)
                os._exit(0)
        """,
    ),
    "thread_bomb": Attack(
        says="Starts threads until none can be started, and leaves them running.",
        code="""
            import threading, time
            def wait():
                time.sleep(600)
            for _ in range(5000):
                try:
                    threading.Thread(target=wait).start()
                except RuntimeError:
                    break
        """,
    ),
    "memory": Attack(
        says="Allocates memory until there is none, in the test too, and holds what it got.",
        code="""
            held = []
            def grow():
                size = 1 << 28
                while size > 1 << 16:
                    try:
                        held.append(bytearray(size))
                    except MemoryError:
                        size //= 2
            grow()
        """,
        answers=in_test("grow()"),
    ),
    "memory_of_many": Attack(
        says="Shares a gigabyte out among ten processes, each below its own limit.",
        code="""
            import ctypes, os, time
            for _ in range(10):
                if os.fork() == 0:
                    ctypes.CDLL(None).prctl(15, b"redteam-memory", 0, 0, 0)
                    held = bytearray(b"x") * (100 << 20)
                    time.sleep(300)
                    os._exit(0)
        """,
    ),
    "disk": Attack(
        says="Fills every directory that it can write to, and makes a million empty files.",
        code="""
            import os, time
            end = time.monotonic() + 1.5
            for place in (".", "/tmp", "/dev/shm", os.environ["HOME"], "/"):
                try:
                    with open(os.path.join(place, "redteam-fill"), "wb") as file:
                        while time.monotonic() < end:
                            file.write(bytes(1 << 20))
                except OSError as error:
                    print(error)
            try:
                while time.monotonic() < end + 0.5:
                    open(f"f{time.monotonic_ns()}", "w").close()
            except OSError as error:
                print(error)
        """,
    ),
    "flood_stdout": Attack(
        says="Prints without end in a test.",
        answers=in_test('while True:\n    print("x" * 5000)'),
    ),
    "flood_descriptors": Attack(
        says="Writes without end to descriptors 0 to 20, whatever they are.",
        code="""
            import os, time
            def flood():
                end = time.monotonic() + 1
                while time.monotonic() < end:
                    for fd in (1, 2):
                        os.write(fd, b"\\xff" * 65536)
        """,
        answers=in_test("flood()"),
    ),
    "flood_display": Attack(
        says="Displays pictures, HTML and updates without end, and clears in between.",
        answers=in_test("""
from IPython.display import HTML, clear_output, display
handle = display(HTML("x" * 10000), display_id=True)
while True:
    display(HTML("x" * 10000))
    handle.update(HTML("y" * 10000))
    clear_output(wait=True)
"""),
    ),
    "flood_messages": Attack(
        says="Sends comm messages, status messages and requests for input without end over the kernel's sockets.",
        code="""
            import time
            kernel = get_ipython().kernel
            def flood():
                end = time.monotonic() + 1
                while time.monotonic() < end:
                    for kind in ("comm_open", "comm_msg", "status", "stream", "execute_input", "shutdown_reply"):
                        content = dict(comm_id="x", target_name="y", data="z" * 9999, execution_state="busy",
                                       name="stdout", text="x", code="y", execution_count=1)
                        kernel.send_response(kernel.iopub_socket, kind, content)
        """,
        answers=in_test("flood()"),
    ),
    "flood_stderr": Attack(
        says="Warns and logs to standard error two thousand times.",
        code="""
            import logging, sys, warnings
            warnings.simplefilter("always")
            for n in range(2000):
                logging.warning("x" * 100)
                print("x" * 100, file=sys.stderr)
        """,
    ),
    "deaf": Attack(
        says="Swallows every interrupt in an endless loop.",
        answers=in_test("""
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""),
        status=_PARTLY,
    ),
    "hangs_in_c": Attack(
        says="Hangs in a computation in C that looks at no signal and holds the interpreter's lock.",
        answers=in_test("import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')\npow(7, 10**9)"),
        status=_PARTLY,
    ),
    "time_in_pieces": Attack(
        says="Stays below the limit of each cell, in many cells.",
        change=lambda nb: nb["cells"].__setitem__(
            slice(-9, -9),
            [
                {**nb["cells"][1], "id": f"s{n}", "metadata": {}, "source": "import time; time.sleep(2.5)"}
                for n in range(9)
            ],
        ),
        status=_PARTLY,
    ),
    "deep_source": Attack(
        says="Writes a cell so deeply nested, and one so long, that the compiler gives up.",
        change=lambda nb: nb["cells"].__setitem__(
            slice(6, 6),
            [
                {**nb["cells"][1], "id": "d1", "metadata": {}, "source": "x = " + "(" * 5000 + ")" * 5000},
                {**nb["cells"][1], "id": "d2", "metadata": {}, "source": "x = " + "-" * 100_000 + "1"},
                {**nb["cells"][1], "id": "d3", "metadata": {}, "source": "x = 1\n" * 100_000},
            ],
        ),
    ),
    "endless_iterator": Attack(
        says="Answers with generators that never end, and with an endless chain of lengths and items.",
        answers={"windows": "def windows(items, n):\n    while True:\n        yield [1, 2]"},
    ),
    "endless_attributes": Attack(
        says="Answers with an object that has every attribute, item and method, each leading to another one.",
        code="""
            class All:
                def __getattr__(self, name): return All()
                def __call__(self, *a, **k): return All()
                def __getitem__(self, key): return All()
                def __iter__(self): return self
                def __next__(self): return All()
                def __len__(self): return 2**62
                def __index__(self): return 2**62
                def __enter__(self): return self
                def __exit__(self, *a): return True
        """,
        answers={
            "windows": "def windows(items, n):\n    return All()",
            "running-mean": "RunningMean = All()",
            "bisect": "bisect = All()",
            "softmax": "softmax = All()",
        },
    ),
    "length_lies": Attack(
        says="Answers with lengths that are negative, huge, no numbers, or true.",
        answers={
            "running-mean": """
                class RunningMean:
                    made = 0
                    def __init__(self): RunningMean.made += 1; self.n = RunningMean.made
                    def add(self, number): pass
                    def mean(self): return None
                    def __len__(self): return [True, -1, 2**200, "1", 1.0][self.n % 5]
            """,
            "windows": """
                def windows(items, n):
                    class Long(list):
                        def __len__(self): return 2**40
                        def __length_hint__(self): return 2**60
                        def __reversed__(self): return self
                    return Long([[1]])
            """,
        },
    ),
}
