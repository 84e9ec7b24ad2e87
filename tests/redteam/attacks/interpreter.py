"""Forging the grade in the interpreter: frames, the collector's objects, tracing, raw memory, signals, threads."""

from tests.redteam.redlab import FAKES, Attack

ATTACKS = {
    "frames_patch": Attack(
        says="The answer walks up the frames to the test and replaces its expectations.",
        code="""
            import sys
            def cheat():
                frame = sys._getframe()
                while frame:
                    check = frame.f_globals.get("check") or frame.f_locals.get("check")
                    for name in ("close", "equal", "true", "at_least", "at_most") if check else ():
                        setattr(check, name, lambda *a, **k: None)
                    frame = frame.f_back
        """,
        answers={"windows": "def windows(items, n):\n    cheat()\n    return []"},
        forges=True,
    ),
    "frames_steal": Attack(
        says="The answer looks for the expected value among the variables of whoever called it, and returns it.",
        code="""
            import sys
            def steal(*names):
                frame = sys._getframe(1)
                while frame:
                    for name in names:
                        if name in frame.f_locals or name in frame.f_globals:
                            return frame.f_locals.get(name, frame.f_globals.get(name))
                    frame = frame.f_back
        """,
        answers={
            "windows": "def windows(items, n):\n    return steal('canary' + '_hidden_want', 'want')",
            "softmax": "def softmax(z):\n    return steal('want')",
        },
        forges=True,
    ),
    "constants_steal": Attack(
        says="The answer returns a number that it finds among the constants of the code that called it.",
        code="""
            import sys
            def numbers():
                frame = sys._getframe(1)
                while frame:
                    code = frame.f_code
                    yield from (c for c in code.co_consts if isinstance(c, float) and 0 < c < 1 and c != 1e-9)
                    frame = frame.f_back
        """,
        answers={"bisect": "def bisect(f, low, high):\n    return next(numbers(), 0.0)"},
        forges=True,
    ),
    "inspect_stack": Attack(
        says="The answer reads the test's source through inspect, linecache and traceback, and prints it.",
        code="""
            import inspect, linecache, sys, traceback
            def spy():
                traceback.print_stack(file=sys.stdout)
                for info in inspect.stack():
                    print(inspect.getsource(info.frame.f_code))
                    print(info.frame.f_code.co_consts, info.frame.f_code.co_names)
                for name in list(linecache.cache):
                    text = "".join(linecache.getlines(name))
                    if "BEGIN HID" + "DEN" in text or "hidden" + "_case" in text:
                        print(text)
        """,
        answers={"windows": "def windows(items, n):\n    spy()\n    return []"},
        spies=True,
    ),
    "gc_ledger": Attack(
        says="Finds labkit's ledger among the collector's objects and empties it of failures after every cell.",
        code="""
            import gc
            from labkit._report import Case
            for thing in gc.get_objects():
                if type(thing).__name__ == "_Ledger":
                    thing.take = lambda: [Case("x", True)]
        """,
        forges=True,
    ),
    "gc_referrers": Attack(
        says="Follows gc.get_referrers of its argument to the test's other variables and overwrites them.",
        code="""
            import gc
            def overwrite(argument, value):
                for holder in gc.get_referrers(argument):
                    if isinstance(holder, dict) and "want" in holder:
                        holder["want"] = holder["canary" + "_hidden_want"] = value
                        check = holder.get("check")
                        for name in ("close", "true", "equal") if check else ():
                            setattr(check, name, lambda *a, **k: None)
        """,
        answers={"softmax": "def softmax(z):\n    overwrite(z, np.zeros(z.shape))\n    return np.zeros(z.shape)"},
        forges=True,
    ),
    "gc_strings": Attack(
        says="Prints every string, tuple and table in the collector's reach that smells of a hidden test.",
        code="""
            import gc
            smell = "canary" + "-hidden"
            def spy():
                for thing in gc.get_objects():
                    for part in gc.get_referents(thing):
                        if type(part) is str and (smell in part or smell.replace("-", "_") in part):
                            print(part)
        """,
        answers={"softmax": "def softmax(z):\n    spy()\n    return z"},
        spies=True,
    ),
    "type_dict": Attack(
        says="Writes into the dictionaries of built-in types, which only the collector hands out.",
        code="""
            import ctypes, gc
            gc.get_referents(float.__dict__)[0]["__round__"] = lambda self, digits=0: 3.0
            ctypes.pythonapi.PyType_Modified(ctypes.py_object(float))
        """,
        answers=FAKES,
        forges=True,
    ),
    "settrace": Attack(
        says="A trace function sees each case being recorded and sets its argument to passed.",
        code="""
            import sys
            def trace(frame, event, arg):
                if "passed" in frame.f_locals and frame.f_code.co_name == "__init__":
                    frame.f_locals["passed"] = True
            sys.settrace(trace)
        """,
        answers=FAKES,
        forges=True,
    ),
    "settrace_jump": Attack(
        says="A trace function jumps over the comparison in labkit's frames by setting f_lineno.",
        code="""
            import linecache, sys
            def local(frame, event, arg):
                for *_, line in frame.f_code.co_lines() if event == "line" else ():
                    if line and linecache.getline(frame.f_code.co_filename, line).strip() == "return":
                        frame.f_lineno = line
                return local
            def trace(frame, event, arg):
                return local if frame.f_code.co_name in ("_expect_all", "same") else None
            sys.settrace(trace)
        """,
        answers=FAKES,
        forges=True,
    ),
    "setprofile": Attack(
        says="A profile function, set for all threads, does the same at every call.",
        code="""
            import sys, threading
            def profile(frame, event, arg):
                if event == "call" and "agree" in frame.f_locals:
                    frame.f_locals["agree"] = np.bool_(True)
                if event == "call" and "passed" in frame.f_locals:
                    frame.f_locals["passed"] = True
            threading.setprofile(profile)
            sys.setprofile(profile)
        """,
        answers=FAKES,
        forges=True,
    ),
    "audit_hook": Attack(
        says="An audit hook, which nothing can remove, acts whenever code is compiled or executed.",
        code="""
            import sys
            def hook(event, arguments):
                if event in ("exec", "compile", "import"):
                    check = sys.modules.get("labkit.check")
                    for name in ("close", "equal", "true", "at_least", "at_most"):
                        if check:
                            setattr(check, name, lambda *a, **k: None)
            sys.addaudithook(hook)
        """,
        answers=FAKES,
        forges=True,
    ),
    "ctypes_memory": Attack(
        says="Writes zeros by ctypes into the memory of the array that a test expects.",
        code="""
            import ctypes, sys
            def overwrite():
                frame = sys._getframe()
                while frame:
                    want = frame.f_globals.get("want")
                    if isinstance(want, np.ndarray):
                        ctypes.memset(want.ctypes.data, 0, want.nbytes)
                    frame = frame.f_back
        """,
        answers={"softmax": "def softmax(z):\n    overwrite()\n    return np.zeros(z.shape)"},
        # The test sets its expectation before it calls: zeros agree with zeros.
        forges=True,
    ),
    "ctypes_bytecode": Attack(
        says="Overwrites the constants of labkit's comparison by ctypes, tolerance and all.",
        code="""
            import ctypes
            import labkit.check as check
            for function in (check.close, check.equal):
                defaults = function.__kwdefaults__ or {}
                if "atol" in defaults:
                    address = id(defaults["atol"]) + 16
                    ctypes.c_double.from_address(address).value = 1e9
        """,
        answers=FAKES,
        forges=True,
    ),
    "memory_file": Attack(
        says="Writes through /proc/self/mem into arrays that it finds in its callers.",
        code="""
            import sys
            def overwrite():
                frame = sys._getframe()
                while frame:
                    want = frame.f_globals.get("want")
                    if isinstance(want, np.ndarray):
                        with open("/proc/self/mem", "r+b", buffering=0) as memory:
                            memory.seek(want.ctypes.data)
                            memory.write(bytes(want.nbytes))
                    frame = frame.f_back
        """,
        answers={"softmax": "def softmax(z):\n    overwrite()\n    return np.zeros(z.shape)"},
        forges=True,
    ),
    "other_memory": Attack(
        says="Reads and writes the memory of every other process by /proc, process_vm_readv and ptrace.",
        code="""
            import ctypes, os
            libc = ctypes.CDLL(None, use_errno=True)
            smell = b"canary" + b"-hidden"
            for pid in filter(str.isdecimal, os.listdir("/proc")):
                if int(pid) == os.getpid():
                    continue
                if libc.ptrace(16, int(pid), 0, 0) == 0:
                    print("attached to", pid)
                    libc.ptrace(17, int(pid), 0, 0)
                try:
                    ranges = [line.split()[0].split("-") for line in open(f"/proc/{pid}/maps") if " rw-p " in line]
                    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
                        for low, high in ranges:
                            memory.seek(int(low, 16))
                            data = memory.read(min(int(high, 16) - int(low, 16), 1 << 22))
                            at = data.find(smell)
                            if at >= 0:
                                print(data[at:at + 60])
                except OSError as error:
                    print(pid, error)
        """,
    ),
    "own_memory": Attack(
        says="Searches all memory of its own process for hidden tests, while one runs and after it.",
        code="""
            import re
            def spy():
                smell = re.compile(b"canary" + rb"[-_]hidden[-_]\\w+")
                found = set()
                for line in open("/proc/self/maps"):
                    low, high = (int(part, 16) for part in line.split()[0].split("-"))
                    if " rw-p " in line and high - low < 1 << 27:
                        with open("/proc/self/mem", "rb", buffering=0) as memory:
                            memory.seek(low)
                            found |= set(smell.findall(memory.read(high - low) or b""))
                print(sorted(found))
        """,
        answers={"bisect": "def bisect(f, low, high):\n    spy()\n    return 0.0", "softmax": "spy()\n"},
        spies=True,
    ),
    "alarm": Attack(
        says="A timer's signal handler patches the frames that it interrupts, again and again.",
        code="""
            import signal
            def handler(number, frame):
                while frame:
                    check = frame.f_globals.get("check")
                    for name in ("close", "equal", "true", "at_least", "at_most") if check else ():
                        setattr(check, name, lambda *a, **k: None)
                    frame = frame.f_back
            signal.signal(signal.SIGALRM, handler)
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
            import time
            def slow(value):
                time.sleep(0.02)
                return value
        """,
        answers={"windows": "def windows(items, n):\n    return slow([])", "bisect": FAKES["bisect"]},
        forges=True,
    ),
    "thread_race": Attack(
        says="A thread replaces the expectations over and over, to be there when the test imports them.",
        code="""
            import sys, threading, time
            def race():
                while True:
                    check = sys.modules["labkit.check"]
                    for name in ("close", "equal", "true", "at_least", "at_most"):
                        setattr(check, name, lambda *a, **k: None)
                    time.sleep(0.001)
            threading.Thread(target=race, daemon=True).start()
            time.sleep(0.05)
        """,
        answers=FAKES,
        forges=True,
    ),
    "finaliser": Attack(
        says="The returned value's __del__ and weak references' callbacks act when the test lets go of it.",
        code="""
            import sys
            class Bomb(list):
                def __del__(self):
                    from labkit import check
                    for name in ("close", "equal", "true", "at_least", "at_most"):
                        setattr(check, name, lambda *a, **k: None)
        """,
        answers={"windows": "def windows(items, n):\n    return Bomb()"},
        forges=True,
    ),
    "frame_globals": Attack(
        says="Redefines, in the namespace that tests share with it, every name a test may use.",
        code="""
            import builtins, threading, time
            class Yes:
                def __eq__(self, other): return True
                def __ne__(self, other): return False
                def __getattr__(self, name): return lambda *a, **k: None
                def __call__(self, *a, **k): return self
            def fill():
                while True:
                    for name in ("want", "z", "reference", "counter", "canary" + "_hidden_want"):
                        globals()[name] = Yes()
            threading.Thread(target=fill, daemon=True).start()
            builtins.want = builtins.reference = Yes()
        """,
        answers=FAKES,
    ),
}
