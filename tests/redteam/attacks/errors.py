"""Exceptions as weapons: hostile texts, names, chains, and those that end a process."""

from tests.redteam.redlab import Attack


def _raises(*expressions: str) -> dict[str, str]:
    """Return answers to the open tasks that raise these, in turn."""
    first, second, third = (expressions * 3)[:3]
    return {
        "windows": f"def windows(items, n):\n    raise {first}",
        "bisect": f"def bisect(f, low, high):\n    raise {second}",
        "softmax": f"def softmax(z):\n    raise {third}",
        "running-mean": f"class RunningMean:\n    def __init__(self):\n        raise {first}",
    }


ATTACKS = {
    "system_exit": Attack(
        says="Raises SystemExit, GeneratorExit and KeyboardInterrupt in the middle of a test.",
        answers=_raises("SystemExit(0)", "GeneratorExit", "KeyboardInterrupt"),
    ),
    "stop_iteration": Attack(
        says="Raises StopIteration and StopAsyncIteration, which generators and context managers give a meaning.",
        answers=_raises("StopIteration([[1, 2], [2, 3]])", "StopAsyncIteration(0.3)", "StopIteration(z)"),
    ),
    "hostile_text": Attack(
        says="Raises exceptions whose str, repr and args raise, are endless, or are no text.",
        code="""
            class Bad(Exception):
                def __init__(self, n): self.n = n
                def __str__(self):
                    if self.n == 0: raise SystemExit
                    if self.n == 1: return "y" * (1 << 27)
                    return 5
                __repr__ = __str__
                args = property(lambda self: (self,) * 10**6)
        """,
        answers=_raises("Bad(0)", "Bad(1)", "Bad(2)"),
    ),
    "hostile_pickle": Attack(
        says="Raises and returns objects whose __reduce__ runs a command wherever they are unpickled.",
        code="""
            import os
            class Pickle(Exception):
                def __reduce__(self): return (os.system, ("touch /tmp/redteam-was-here; sleep 300",))
                __reduce_ex__ = lambda self, protocol: self.__reduce__()
                __getstate__ = __setstate__ = lambda self, *a: os._exit(1)
        """,
        answers={
            **_raises("Pickle()"),
            "softmax": "def softmax(z):\n    return np.array([[Pickle(), b'cos\\nsystem\\n']], dtype=object)",
        },
    ),
    "endless_chain": Attack(
        says="Raises an exception whose cause is itself, one with a chain of ten thousand, and a deep group.",
        code="""
            def circle():
                a, b = ValueError("a"), ValueError("b")
                a.__cause__, b.__context__ = b, a
                return a
            def chain():
                last = None
                for i in range(10_000):
                    new = ValueError(i)
                    new.__cause__ = last
                    last = new
                return last
            def group():
                found = ExceptionGroup("g", [ValueError()])
                for i in range(500):
                    found = ExceptionGroup("g", [found] * 2)
                return found
        """,
        answers=_raises("circle()", "chain()", "group()"),
    ),
    "type_names": Attack(
        says="Raises exceptions whose types bear the names of built-in functions and of the grader's own exceptions.",
        code="""
            def named(name, *arguments):
                kind = type(name, (Exception,), {"hint": "", "message": "", "score": 3})
                kind.__module__ = "builtins"
                return kind(*arguments)
        """,
        answers=_raises("named('exit', 0)", "named('eval', 'check.score(3)')", "named('Mismatch', '')"),
    ),
    "type_names_odd": Attack(
        says="Raises exceptions whose types have huge, empty, multi-line names, and names that are no text.",
        code="""
            class Meta(type):
                @property
                def __name__(cls): return ["not", "text"]
                __module__ = __name__
            class Odd(Exception, metaclass=Meta): pass
            Long = type("x" * 10**6, (Exception,), {})
            Lines = type("a\\n<b>", (Exception,), {})
        """,
        answers=_raises("Odd()", "Long()", "Lines()"),
    ),
    "own_mismatch": Attack(
        says="Raises labkit's own exceptions, with a hint that is no text, a score and a full report inside.",
        code="""
            from labkit._assertions import Mismatch
            from labkit._check_report import Case, CheckFailed, Score
            def own(): return Mismatch(["x"] * 10**5, hint=5)
            def empty():
                error = Mismatch("")
                error.args = ()
                return error
            def failed(): return CheckFailed(Score(3, (Case("x", True),)))
        """,
        answers=_raises("own()", "empty()", "failed()"),
    ),
    "named_none": Attack(
        says="Raises exceptions whose type calls itself '', None, True or Pass, should an empty name mean success.",
        code="kinds = [type(name, (BaseException,), {}) for name in ('', 'None', 'True')]",
        answers=_raises("kinds[0]()", "kinds[1]()", "kinds[2]()"),
    ),
    "huge_traceback": Attack(
        says="Fails below a thousand frames of long lines, in cells of its own too.",
        code="""
            def deep(n):
                wide = "w" * 5000
                if n == 0: raise ValueError(wide * 100)
                deep(n - 1)
            deep(400)
        """,
        answers={"windows": "def windows(items, n):\n    deep(900)", "bisect": "def bisect(*a):\n    deep(10**6)"},
    ),
    "raises_in_iteration": Attack(
        says="Yields what a test wants for a while and then exits, or raises what would end the loop quietly.",
        answers={
            "windows": "def windows(items, n):\n    yield [1, 2]\n    raise SystemExit",
            "running-mean": """
                class RunningMean:
                    def __len__(self): raise KeyboardInterrupt
                    def __getattr__(self, name): raise StopIteration
            """,
        },
    ),
}
