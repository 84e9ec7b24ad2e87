"""Forging the grade in the interpreter: frames, tracing, audit hooks, signals, threads, finalisers."""

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
