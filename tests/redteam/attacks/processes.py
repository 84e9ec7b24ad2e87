"""Outliving and confusing: daemons, signals, crashes, forks, descriptors, limits, exits."""

from autograder.model import Status
from tests.redteam.attacks.resources import in_test
from tests.redteam.redlab import FAKES, Attack

_PARTLY = (Status.PARTLY_GRADED,)

ATTACKS = {
    "daemons": Attack(
        says="Leaves daemons: forked twice, in sessions of their own, with signals ignored and names changed.",
        code="""
            import ctypes, os, signal, subprocess, time
            subprocess.Popen(["bash", "-c", "exec -a redteam-one sleep 600"], start_new_session=True)
            subprocess.Popen("setsid nohup bash -c 'exec -a redteam-two sleep 600' &", shell=True)
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    ctypes.CDLL(None).prctl(15, b"redteam-three", 0, 0, 0)
                    for number in range(1, 65):
                        try:
                            signal.signal(number, signal.SIG_IGN)
                        except (OSError, ValueError):
                            pass
                    while True:
                        time.sleep(1)
                os._exit(0)
        """,
    ),
    "kills": Attack(
        says="Signals its parent, the first process, process groups and every process that it can name.",
        code="""
            import os, signal
            for pid in (os.getppid(), 1, 0, *range(2, 400)):
                for number in (signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
                    if pid not in (0, os.getpid()):
                        try:
                            os.kill(pid, number)
                        except OSError:
                            pass
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.killpg(0, signal.SIGTERM)
        """,
    ),
    "kills_all": Attack(
        says="Kills everything that it may, by kill(-1).",
        code="import os\nos.kill(-1, 9)",
    ),
    "stops": Attack(says="Stops itself and its parent.", code="import os\nos.kill(os.getpid(), 19)", status=_PARTLY),
    "segfault": Attack(
        says="Crashes in the middle of a test.",
        answers=in_test("import ctypes\nctypes.string_at(0)"),
        status=_PARTLY,
    ),
    "stack_overflow": Attack(
        says="Recurses through C with the limit of recursion lifted.",
        answers=in_test("import sys\nsys.setrecursionlimit(10**9)\ndef f(x): return [*map(f, [x])]\nf(1)"),
    ),
    "exitsin_test": Attack(
        says="Ends its process with success while a test waits for an answer.",
        answers=in_test("import os\nos._exit(0)"),
        status=_PARTLY,
    ),
    "replaces_itself": Attack(
        says="Replaces its process by another program that holds the same descriptors and answers in its place.",
        code="""
            import os, sys
            program = (
                "import os, time\\nend = time.monotonic() + 2\\nwhile time.monotonic() < end:\\n"
                " for fd in range(3, 64):\\n  for data in (b'{}', bytes(3) + b'\\\\x02{}', b'2\\\\n{}'):\\n"
                "   try: os.write(fd, data)\\n   except OSError: break\\n"
            )
            def replace():
                for fd in range(3, 64):
                    try:
                        os.set_inheritable(fd, True)
                    except OSError:
                        pass
                os.execv(sys.executable, [sys.executable, "-c", program, "redteam-program"])
        """,
        answers=in_test("replace()"),
        status=_PARTLY,
    ),
    "forksin_test": Attack(
        says="Forks while a test waits, so that two processes answer it, and every answer doubles them.",
        code="""
            import os
            def double():
                try:
                    os.fork()
                except OSError:
                    pass
        """,
        answers={
            "windows": "def windows(items, n):\n    double()\n    return []",
            "bisect": "def bisect(f, low, high):\n    double()\n    f(0.5)\n    return low",
            "softmax": "def softmax(z):\n    double()\n    return z",
        },
    ),
    "parent_leaves": Attack(
        says="Forks in a test and lets the parent exit, so that the child goes on in its name.",
        code="""
            import ctypes, os
            def swap():
                if os.fork():
                    os._exit(0)
                ctypes.CDLL(None).prctl(15, b"redteam-child", 0, 0, 0)
        """,
        answers=in_test("swap()"),
    ),
    "limits_changed": Attack(
        says="Lifts and lowers every resource limit of its own and of other processes.",
        code="""
            import os, resource
            for name in [name for name in dir(resource) if name.startswith("RLIMIT")]:
                for value in ((-1, -1), (1 << 40, 1 << 40)):
                    try:
                        resource.setrlimit(getattr(resource, name), value)
                    except (OSError, ValueError):
                        pass
                for pid in (1, os.getppid()):
                    try:
                        resource.prlimit(pid, getattr(resource, name), (0, 0))
                    except (OSError, ValueError):
                        pass
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
        """,
    ),
    "blocks_signals": Attack(
        says="Blocks all signals, replaces the handlers and sleeps.",
        answers=in_test("""
import signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
signal.signal(signal.SIGINT, signal.SIG_IGN)
time.sleep(600)
"""),
        status=_PARTLY,
    ),
    "running_threads": Attack(
        says="Leaves threads that never end, are no daemons, and hold locks of the import system and of logging.",
        code="""
            import _imp, logging, threading
            def hold():
                logging._acquireLock() if hasattr(logging, "_acquireLock") else None
                while True:
                    pass
            for _ in range(3):
                threading.Thread(target=hold).start()
        """,
        answers=FAKES,
    ),
    "at_exit": Attack(
        says="Hangs at exit, in atexit, in a thread's shutdown and in a finaliser of a module.",
        code="""
            import atexit, sys, threading, time
            atexit.register(time.sleep, 600)
            threading._register_atexit(time.sleep, 600)
            class Last:
                def __del__(self): time.sleep(600)
            sys.modules["last"] = Last()
        """,
    ),
    "closes_descriptors": Attack(
        says="Closes all descriptors of its process.",
        code="import os\nos.closerange(0, 4096)",
    ),
    "swaps_descriptors": Attack(
        says="Swaps its descriptors among each other, so that every answer goes to the wrong place.",
        answers=in_test("""
import os
found = [int(fd) for fd in os.listdir("/proc/self/fd")]
for fd in found:
    try:
        if os.readlink(f"/proc/self/fd/{fd}").startswith("socket:"):
            os.dup2(found[0], fd)
    except OSError:
        pass
"""),
    ),
}
