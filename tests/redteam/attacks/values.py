"""Answers that lie: values that agree to everything, that change, that are endless, huge, deep or of strange kinds."""

from tests.redteam.redlab import FAKES, Attack


def _mean(value: str) -> str:
    """Return an answer to the third task whose mean() is this expression."""
    return f"""
class RunningMean:
    def add(self, number): pass
    def mean(self): return {value}
    def __len__(self): return 7
"""


def _softmax(value: str) -> dict[str, str]:
    return {"softmax": f"def softmax(z):\n    return {value}", "windows": f"def windows(items, n):\n    return {value}"}


ATTACKS = {
    "equal_to_all": Attack(
        says="Returns an object that is equal to everything and not different from anything.",
        code="""
            class Yes:
                def __eq__(self, other): return True
                def __ne__(self, other): return False
                def __lt__(self, other): return True
                __le__ = __gt__ = __ge__ = __lt__
                __hash__ = object.__hash__
                def __bool__(self): return True
        """,
        answers={"running-mean": _mean("Yes()"), **_softmax("Yes()"), "bisect": "def bisect(*a):\n    return Yes()"},
        forges=True,
    ),
    "equal_number": Attack(
        says="Returns a subclass of float that is equal to everything, whose differences are zero.",
        code="""
            class Yes(float):
                def __eq__(self, other): return True
                def __sub__(self, other): return 0.0
                __rsub__ = __sub__
                def __abs__(self): return 0.0
                def __float__(self): return 2.0
                __hash__ = float.__hash__
        """,
        answers={"running-mean": _mean("Yes(9)"), "bisect": "def bisect(f, low, high):\n    return Yes(9)"},
        forges=True,
    ),
    "array_subclass": Attack(
        says="Returns an array of a subclass that agrees with everything, in operators and in NumPy's functions.",
        code="""
            class Yes(np.ndarray):
                __array_priority__ = 1e9
                def __eq__(self, other): return np.True_
                def __array_ufunc__(self, ufunc, method, *inputs, **more):
                    return np.ones(max((np.shape(i) for i in inputs), key=len), bool)
                def __array_function__(self, function, types, args, kwargs): return True
                def __array_finalize__(self, other): pass
            def yes(shape): return np.zeros(shape).view(Yes)
        """,
        answers={
            "softmax": "def softmax(z):\n    return yes(z.shape)",
            "running-mean": _mean("yes(())"),
            "bisect": "def bisect(f, low, high):\n    return yes(())",
        },
        forges=True,
    ),
    "array_protocol": Attack(
        says="Returns an object whose __array__, __array_interface__ and __float__ give another value each time.",
        code="""
            class Lazy:
                calls = 0
                dtype, shape, ndim = np.dtype(float), (2, 2), 2
                def __array__(self, dtype=None, copy=None):
                    Lazy.calls += 1
                    return np.full((2, 2), Lazy.calls / 7)
                def __float__(self): return float(Lazy.calls)
                __index__ = __int__ = lambda self: Lazy.calls
                def __len__(self): return 2
                def __getitem__(self, n): return [0.5, 0.5][n]
                __array_interface__ = dict(shape=(2, 2), typestr="<f8", data=(1, False), version=3)
        """,
        answers={"softmax": "def softmax(z):\n    return Lazy()", "bisect": "def bisect(*a):\n    return Lazy()"},
    ),
    "class_lie": Attack(
        says="Returns objects that claim by __class__, and by a metaclass, to be numbers and lists.",
        code="""
            class Meta(type):
                def __instancecheck__(cls, other): return True
                def __subclasscheck__(cls, other): return True
                def __eq__(cls, other): return True
                __hash__ = type.__hash__
            class Lie(metaclass=Meta):
                def __init__(self, kind): self.kind = kind
                @property
                def __class__(self): return object.__getattribute__(self, "__dict__").get("kind", float)
                def __eq__(self, other): return True
                def __len__(self): return 2
                def __iter__(self): return iter([Lie(list), Lie(list)])
        """,
        answers={**_softmax("Lie(list)"), "running-mean": _mean("Lie(float)")},
        forges=True,
    ),
    "container_subclasses": Attack(
        says="Returns subclasses of list, str, dict, int and tuple with lies in every method.",
        code="""
            def lies(base):
                body = {name: (lambda self, *a: True) for name in ("__eq__", "__contains__", "__ge__", "__le__")}
                body["__ne__"] = lambda self, other: False
                body["__len__"] = lambda self: 2
                body["__iter__"] = lambda self: iter([lies(list)(), lies(list)()])
                body["__getitem__"] = lambda self, key: lies(list)()
                body["__hash__"] = lambda self: 1
                return type(base.__name__, (base,), body)
        """,
        answers={**_softmax("lies(list)([1, 2])"), "running-mean": _mean("lies(int)(5)")},
        forges=True,
    ),
    "true_subclass": Attack(
        says="Comparisons of what is returned give objects that claim to be True.",
        code="""
            class Yes(int):
                def __bool__(self): return True
                def __repr__(self): return "True"
                __class__ = bool
            class Value:
                def __eq__(self, other): return Yes(1)
        """,
        answers={"running-mean": _mean("Value()")},
    ),
    "comparing_thief": Attack(
        says="Returns a value that prints whatever it is compared with, added to or converted for.",
        code="""
            class Thief(np.ndarray):
                def __array_ufunc__(self, ufunc, method, *inputs, **more):
                    print([np.asarray(i).tolist() for i in inputs])
                    return np.ones(())
                def __array_function__(self, function, types, args, kwargs):
                    print(args)
                    return np.ones(())
            class Taker(float):
                def __eq__(self, other): print("thief", other); return True
                def __rsub__(self, other): print("thief", other); return 0.0
                __sub__ = __add__ = __radd__ = __lt__ = __le__ = __gt__ = __ge__ = __rsub__
                __hash__ = float.__hash__
        """,
        answers={
            "softmax": "def softmax(z):\n    return np.zeros(z.shape).view(Thief)",
            "running-mean": _mean("Taker(0)"),
            "bisect": "def bisect(f, low, high):\n    f(Taker(0.5))\n    return Taker(0)",
        },
        forges=True,
    ),
    "argument_in_place": Attack(
        says="Changes its argument in place, so that what the test expects, computed from it, agrees.",
        answers={"softmax": "def softmax(z):\n    z[:] = 0\n    return np.full(z.shape, 1 / z.shape[1])"},
        forges=True,
    ),
    "argument_kept": Attack(
        says="Keeps every argument of earlier calls, and the views and bases of them, and changes them later.",
        code="""
            kept = []
            def keep(z):
                while z is not None:
                    kept.append(z)
                    z = z.base
                for old in kept:
                    try:
                        old.setflags(write=True)
                        old[...] = 0
                    except ValueError:
                        pass
        """,
        answers={"softmax": "def softmax(z):\n    keep(z)\n    return np.full(z.shape, 1 / z.shape[1])"},
        forges=True,
    ),
    "shared_result": Attack(
        says="Returns its argument or an array that it changes while the test still looks at it.",
        code="""
            import threading
            result = np.zeros((2, 2))
            def change():
                rng = np.random.default_rng(0)
                while True:
                    result[...] = rng.random((2, 2))
            threading.Thread(target=change, daemon=True).start()
        """,
        answers={"softmax": "def softmax(z):\n    return result if z.shape == (2, 2) else z"},
    ),
    "not_numbers": Attack(
        says="Returns NaN, infinities and negative zeros in the shapes that a test wants.",
        answers={
            "softmax": "def softmax(z):\n    return np.full(z.shape, np.nan)",
            "bisect": "def bisect(f, low, high):\n    return float('nan')",
            "running-mean": _mean("float('inf')"),
            "windows": "def windows(items, n):\n    return [[float('nan')] * n] * 3",
        },
    ),
    "hostile_repr": Attack(
        says="Returns values whose repr, str and format are endless, huge, raise, exit or print markup.",
        code="""
            class Loud:
                def __init__(self, n=0): self.n = n
                def __repr__(self):
                    if self.n == 1: raise SystemExit(3)
                    if self.n == 2: return "<script>alert(1)</script>" * 1000
                    if self.n == 3: return 5
                    if self.n == 4: raise KeyboardInterrupt
                    return "x" * (1 << 28)
                __str__ = __format__ = __repr__
        """,
        answers={
            "windows": "def windows(items, n):\n    return [Loud(n) for n in range(4)]",
            "running-mean": _mean("Loud(4)"),
            "bisect": "def bisect(*a):\n    return Loud(1)",
            "softmax": "def softmax(z):\n    return Loud(2)",
        },
    ),
    "type_name": Attack(
        says="Returns values of types with huge, empty and multi-line names, and names of other types.",
        code="""
            kinds = [type(name, (), {}) for name in ("x" * 10**6, "", "a\\nb", "<b>", "int", "ndarray")]
        """,
        answers={**_softmax("[kind() for kind in kinds]"), "running-mean": _mean("kinds[4]()")},
    ),
    "changing_value": Attack(
        says="Attributes, items, length and iteration give something else at every look.",
        code="""
            import itertools
            class Shifty:
                looks = itertools.count()
                def __getattr__(self, name): return (lambda *a: next(self.looks)) if next(self.looks) % 2 else 5
                def __iter__(self): return iter([[next(self.looks)] * 2] * 2)
                def __len__(self): return next(self.looks) % 3 - 1
                def __getitem__(self, key): return next(self.looks)
        """,
        answers={**_softmax("Shifty()"), "running-mean": "RunningMean = Shifty()"},
    ),
    "fakes": Attack(says="Returns wrong answers of the right form; nothing else.", answers=FAKES),
    "stubs": Attack(says="Leaves the other tasks as they were handed out."),
}
