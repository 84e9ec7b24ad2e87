"""Abusing the function that a test passes in: looking through it, calling it at the wrong time or with the wrong."""

from tests.redteam.redlab import Attack


def _bisect(body: str) -> dict[str, str]:
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    return {"bisect": f"def bisect(f, low, high):\n{lines}"}


ATTACKS = {
    "looks_through": Attack(
        says="Reads the answer from the globals, closure, defaults and constants of the function that it is given.",
        answers=_bisect("""
inner = getattr(f, "fn", f)
found = [value for name, value in getattr(inner, "__globals__", {}).items() if name == "canary" + "_hidden_root"]
if not found:
    code = getattr(inner, "__code__", None)
    found = [c for c in code.co_consts if isinstance(c, float)] if code else []
return found[0] if found else 0.0
"""),
        forges=True,
    ),
    "walks_attributes": Attack(
        says="Walks every attribute of the function, of its class and of what these lead to, and prints what it finds.",
        code="""
            def walk(thing, depth=0, seen=set()):
                if depth > 4 or id(thing) in seen:
                    return
                seen.add(id(thing))
                for name in dir(thing):
                    try:
                        value = getattr(thing, name)
                    except BaseException:
                        continue
                    if isinstance(value, (str, float, bytes)):
                        print(name, repr(value)[:200])
                    elif isinstance(value, dict):
                        print([key for key in value if isinstance(key, str)][:200])
                    walk(value, depth + 1)
        """,
        answers=_bisect('walk(f)\nfor name in ("__globals__", "__closure__", "fn"):\n    print(getattr(f, name, 0))'),
        spies=True,
    ),
    "resets_counter": Attack(
        says="Calls the counted function a thousand times and sets its counter to what the test would like.",
        answers=_bisect("""
for i in range(1000):
    f(i / 1000)
for owner in (f, getattr(f, "__self__", f), type(f)):
    try:
        owner.count = 30
    except (AttributeError, TypeError):
        pass
return low
"""),
        forges=True,
    ),
    "function_globals": Attack(
        says="Writes into the globals of the function that it is given: other checks, another expectation.",
        answers=_bisect("""
names = getattr(getattr(f, "fn", f), "__globals__", {})
check = names.get("check")
for name in ("close", "at_least", "at_most") if check else ():
    setattr(check, name, lambda *a, **k: None)
names["canary" + "_hidden_root"] = low
return low
"""),
        forges=True,
    ),
    "code_of_function": Attack(
        says="Swaps the code, defaults and attributes of the function that it is given.",
        answers=_bisect("""
inner = getattr(f, "fn", f)
for name, value in (("__code__", (lambda x: 0.0).__code__), ("__defaults__", (0,)), ("count", 30), ("__call__", 5)):
    try:
        setattr(inner, name, value)
        setattr(f, name, value)
    except BaseException as error:
        print(type(error).__name__)
return low
"""),
        forges=True,
    ),
    "million_calls": Attack(
        says="Calls the function until the time is over.",
        answers=_bisect("while True:\n    f(0.5)"),
    ),
    "recursive_calls": Attack(
        says="Calls the function from inside the arithmetic that the function does with its argument, without end.",
        code="""
            class Again(float):
                f = None
                def __sub__(self, other): return Again.f(self)
                __rsub__ = __mul__ = __rmul__ = __add__ = __radd__ = __sub__
        """,
        answers=_bisect("Again.f = f\nreturn f(Again(0.5))"),
    ),
    "operand_thief": Attack(
        says="Calls the function with a number whose operators note what they are given, and returns that as the root.",
        code="""
            noted = []
            class Note(float):
                def __sub__(self, other):
                    noted.append(float(other))
                    return 0.0
                __rsub__ = __add__ = __radd__ = __mul__ = __rmul__ = __lt__ = __gt__ = __eq__ = __sub__
                __hash__ = float.__hash__
        """,
        answers=_bisect("del noted[:]\nf(Note(0.5))\nreturn noted[0] if noted else low"),
        forges=True,
    ),
    "garbage_calls": Attack(
        says="Calls the function with garbage of every kind and number, and swallows what it raises.",
        code="""
            loop = []
            loop.append(loop)
            garbage = [None, "x", b"x", loop, {1: loop}, 10**5000, 1e999, object(), type, print, ..., range(9**9),
                       np.zeros(3), np.array([object()]), np.zeros((0, 2**40)), "\\ud800", iter([1]), lambda x: x,
                       {"t": "handle", "h": 1}, (x for x in [1]), complex("nan"), slice(None), NotImplemented]
        """,
        answers=_bisect("""
for thing in garbage:
    for arguments in ((thing,), (thing, thing), (), (thing,) * 300):
        try:
            f(*arguments, **{"x" * len(arguments): thing} if len(arguments) == 2 else {})
        except BaseException as error:
            print(type(error).__name__)
return low
"""),
    ),
    "thread_calls": Attack(
        says="Calls the function from ten threads at once, while the test's own call is being answered.",
        code="import threading",
        answers=_bisect("""
def call():
    for i in range(200):
        try:
            f(i / 200)
        except BaseException:
            return
threads = [threading.Thread(target=call) for _ in range(10)]
for thread in threads: thread.start()
for i in range(100): f(i / 100)
for thread in threads: thread.join()
return low
"""),
    ),
    "late_calls": Attack(
        says="Keeps the functions and calls them later: from the next test, from a thread, at exit, from a finaliser.",
        code="""
            import atexit, threading, time
            kept = []
            def later():
                while True:
                    time.sleep(0.01)
                    for f in kept:
                        try:
                            f(0.5)
                        except BaseException:
                            pass
            threading.Thread(target=later, daemon=True).start()
            atexit.register(lambda: [f(0.5) for f in kept])
        """,
        answers={
            **_bisect("kept.append(f)\nreturn f(0.25)"),
            "softmax": "def softmax(z):\n    print([f(0.5) for f in kept])\n    return z",
        },
    ),
    "exception_frames": Attack(
        says="Makes the test's function raise, and looks at traceback, frames and context of what it raised.",
        answers=_bisect("""
try:
    f("not a number")
except BaseException as error:
    trace = error.__traceback__
    while trace:
        print(trace.tb_frame.f_code.co_names, trace.tb_frame.f_code.co_consts)
        print(list(trace.tb_frame.f_globals), list(trace.tb_frame.f_locals))
        for name, value in trace.tb_frame.f_globals.items():
            if isinstance(value, float):
                print(name, value)
        trace = trace.tb_next
    print(error.args, error.__context__, error.__cause__, vars(error))
return low
"""),
        spies=True,
    ),
    "raises_through": Attack(
        says="Raises exceptions through the test's function: from the argument's methods, of every hostile kind.",
        code="""
            class Thrower(float):
                def __sub__(self, other): raise SystemExit(0)
                def __rsub__(self, other): raise KeyboardInterrupt
                def __mul__(self, other): raise GeneratorExit
        """,
        answers=_bisect("return f(Thrower(0.5))"),
    ),
    "returns_function": Attack(
        says="Gives the test's own function back to it as the answer, and as a number, a class and a context manager.",
        answers={
            **_bisect("globals()['RunningMean'] = f\nreturn f"),
            "softmax": "def softmax(z):\n    return z.sum",
            "windows": "windows = print",
            "running-mean": "RunningMean = __build_class__",
        },
    ),
    "generator_calls": Attack(
        says="Answers with a generator, a coroutine and an awaitable, which call the function when they are looked at.",
        answers={
            **_bisect("return (f(x) for x in iter(int, 1))"),
            "windows": "async def windows(items, n):\n    return []",
        },
    ),
}
