"""Right answers in unusual form: other kinds of callables, of values, of classes."""

from tests.redteam.redlab import Oddity


def _softmax(expression: str, before: str = "") -> dict[str, str]:
    """Return an answer to the last task; `p` is the right array of float64."""
    return {
        "softmax": f"""
{before}
def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return {expression}
"""
    }


def _mean(expression: str) -> dict[str, str]:
    return {
        "running-mean": f"""
class RunningMean:
    def __init__(self): self.numbers = []
    def add(self, number): self.numbers.append(number)
    def mean(self): return {expression}
    def __len__(self): return len(self.numbers)
"""
    }


ODDITIES = {
    "numpy_scalars": Oddity(
        says="Returns NumPy's numbers where a number is asked for.",
        answers={
            **_mean("np.mean(self.numbers)"),
            "bisect": """
                def bisect(f, low, high):
                    low, high = np.float64(low), np.float64(high)
                    for _ in range(50):
                        middle = (low + high) / 2
                        low, high = (middle, high) if f(middle) < 0 else (low, middle)
                    return low
            """,
            "tally": """
                from collections import Counter
                def tally(words):
                    if len(words) == 0:
                        raise ValueError
                    names, counts = np.unique([word.lower() for word in words], return_counts=True)
                    return {str(name): np.int64(count) for name, count in zip(names, counts)}
            """,
        },
    ),
    "zero_dimensional": Oddity(
        says="Returns arrays without dimensions.", answers=_mean("np.array(np.mean(self.numbers))")
    ),
    "float32": Oddity(says="Returns float32.", answers=_softmax("p.astype(np.float32)")),
    "longdouble": Oddity(says="Computes in long double.", answers=_softmax("p.astype(np.longdouble)")),
    "fortran_order": Oddity(says="Returns an array in Fortran's order.", answers=_softmax("np.asfortranarray(p)")),
    "view_with_strides": Oddity(
        says="Returns a view of a larger array, with gaps.",
        answers={
            "softmax": """
                def softmax(z):
                    e = np.exp(z - z.max(axis=1, keepdims=True))
                    big = np.zeros((2 * z.shape[0], 3 * z.shape[1]))
                    big[::2, ::3] = e / e.sum(axis=1, keepdims=True)
                    return big[::2, ::3]
            """
        },
    ),
    "negative_strides": Oddity(
        says="Returns a view that runs backwards.",
        answers={
            "softmax": """
def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))[::-1, ::-1]
    return (e / e.sum(axis=1, keepdims=True))[::-1, ::-1]
"""
        },
    ),
    "broadcast_result": Oddity(
        says="Returns read-only and broadcast arrays.",
        answers=_softmax("np.broadcast_to(p, p.shape)"),
    ),
    "big_endian": Oddity(says="Returns numbers in the other byte order.", answers=_softmax("p.astype('>f8')")),
    "nested_lists": Oddity(
        says="Returns nested lists and tuples for an array.", answers=_softmax("[tuple(row) for row in p]")
    ),
    "own_array_class": Oddity(
        says="Returns arrays of an innocent subclass.",
        answers=_softmax("p.view(Labelled)", "class Labelled(np.ndarray):\n    label = 'probabilities'"),
    ),
    "masked_array": Oddity(
        says="Returns a masked array without masked entries.", answers=_softmax("np.ma.masked_invalid(p)")
    ),
    "lambda": Oddity(
        says="Answers with lambdas.",
        answers={
            "centre": "centre = lambda x: x - x.mean(axis=0)",
            "windows": "windows = lambda items, n: [list(items[i:i + n]) for i in range(len(items) - n + 1)]",
        },
    ),
    "partial": Oddity(
        says="Answers with functools.partial.",
        answers={
            "centre": """
                from functools import partial
                def without(x, axis):
                    return x - x.mean(axis=axis)
                centre = partial(without, axis=0)
            """
        },
    ),
    "callable_object": Oddity(
        says="Answers with an object that can be called.",
        answers={
            "centre": """
                class Centre:
                    calls = 0
                    def __call__(self, x):
                        self.calls += 1
                        return x - x.mean(axis=0)
                centre = Centre()
            """
        },
    ),
    "bound_method": Oddity(
        says="Answers with bound, static and class methods.",
        answers={
            "centre": """
                class Tools:
                    def __init__(self): self.axis = 0
                    def centre(self, x): return x - x.mean(axis=self.axis)
                    @staticmethod
                    def windows(items, n): return (list(items[i:i + n]) for i in range(len(items) - n + 1))
                centre = Tools().centre
            """,
            "windows": "windows = Tools.windows",
        },
    ),
    "decorated": Oddity(
        says="Decorates its functions: with its own decorator, with wraps, with a class.",
        answers={
            "centre": """
                import functools
                def logged(function):
                    @functools.wraps(function)
                    def call(*args, **kwargs):
                        print("called", function.__name__)
                        return function(*args, **kwargs)
                    return call
                @logged
                @logged
                def centre(x):
                    return x - x.mean(axis=0)
            """
        },
    ),
    "cached": Oddity(
        says="Caches answers by lru_cache.",
        answers={
            "tally": """
                from functools import lru_cache
                @lru_cache(maxsize=None)
                def lower(word):
                    return word.lower()
                def tally(words):
                    if not words:
                        raise ValueError("no words")
                    return {lower(w): sum(lower(v) == lower(w) for v in words) for w in words}
            """
        },
    ),
    "keyword_only": Oddity(
        says="Has more arguments: with defaults, by keyword only, any number of them.",
        answers={
            "centre": "def centre(x, /, *, axis=0, **more):\n    return x - x.mean(axis=axis)",
            "windows": "def windows(items, n=2, *rest, step=1):\n"
            "    return [list(items[i:i + n]) for i in range(0, len(items) - n + 1, step)]",
        },
    ),
    "typed": Oddity(
        says="Writes type hints, generics and dataclasses.",
        answers={
            "running-mean": """
                from __future__ import annotations
                from dataclasses import dataclass, field
                from typing import Generic, TypeVar
                T = TypeVar("T")
                @dataclass
                class RunningMean(Generic[T]):
                    numbers: list[T] = field(default_factory=list)
                    def add(self, number: T) -> None:
                        self.numbers.append(number)
                    def mean(self) -> float:
                        return float(sum(self.numbers)) / len(self.numbers)
                    def __len__(self) -> int:
                        return len(self.numbers)
            """
        },
    ),
    "slots_and_properties": Oddity(
        says="Has slots, properties, class attributes and a base class.",
        answers={
            "running-mean": """
                class Base:
                    __slots__ = ("_sum", "_count")
                    made = 0
                    def __init__(self):
                        type(self).made += 1
                        self._sum, self._count = 0, 0
                    @property
                    def average(self): return self._sum / self._count
                class RunningMean(Base):
                    __slots__ = ()
                    def add(self, number):
                        self._sum += number
                        self._count += 1
                        return self
                    def mean(self): return self.average
                    def __len__(self): return self._count
                    def __eq__(self, other): raise TypeError("not compared")
            """
        },
    ),
    "made_by_function": Oddity(
        says="Makes the class by a function, with closures for methods.",
        answers={
            "running-mean": """
                def RunningMean():
                    numbers = []
                    class Mean:
                        add = staticmethod(lambda number: numbers.append(number))
                        mean = staticmethod(lambda: sum(numbers) / len(numbers))
                        def __len__(self): return len(numbers)
                    return Mean()
            """
        },
    ),
    "generators": Oddity(
        says="Yields, with a generator that calls another one, and returns an iterator of its own.",
        answers={
            "windows": """
                from collections import deque
                class Windows:
                    def __init__(self, items, n):
                        self.items, self.window = iter(items), deque(maxlen=n)
                    def __iter__(self): return self
                    def __next__(self):
                        self.window.append(next(self.items))
                        while len(self.window) < self.window.maxlen:
                            self.window.append(next(self.items))
                        return list(self.window)
                def windows(items, n):
                    yield from Windows(items, n)
            """
        },
    ),
    "generator_expression": Oddity(
        says="Returns a generator expression, map and zip objects.",
        answers={"windows": "def windows(items, n):\n    return map(list, zip(*(items[i:] for i in range(n))))"},
    ),
    "lazy_items": Oddity(
        says="Yields tuples, strings, ranges and views in place of lists.",
        answers={"windows": "def windows(items, n):\n    return (items[i:i + n] for i in range(len(items) - n + 1))"},
    ),
    "recursive": Oddity(
        says="Solves it by recursion, with a nonlocal counter.",
        answers={
            "bisect": """
                def bisect(f, low, high):
                    depth = 0
                    def search(low, high):
                        nonlocal depth
                        depth += 1
                        middle = (low + high) / 2
                        if high - low < 1e-11:
                            return middle
                        return search(middle, high) if f(middle) < 0 else search(low, middle)
                    return search(low, high)
            """
        },
    ),
    "global_state": Oddity(
        says="Counts in global variables, with a global statement.",
        answers={
            "centre": """
                calls, seen = 0, {}
                def centre(x):
                    global calls
                    calls += 1
                    seen[calls] = x.shape
                    return x - x.mean(axis=0)
            """
        },
    ),
    "ordered_dict": Oddity(
        says="Returns a Counter, and a defaultdict inside.",
        answers={
            "tally": """
                from collections import Counter
                def tally(words):
                    if not words:
                        raise ValueError("no words")
                    return Counter(word.lower() for word in words)
            """
        },
    ),
    "own_exception": Oddity(
        says="Raises an exception class of its own that is derived from the one that is asked for.",
        answers={
            "tally": """
                class NoWords(ValueError):
                    '''Raised for an empty list.'''
                    def __init__(self, words, *, hint="give some"):
                        super().__init__(f"{words!r}: {hint}")
                        self.words = words
                def tally(words):
                    try:
                        words[0]
                    except IndexError as error:
                        raise NoWords(words) from error
                    return {w.lower(): [v.lower() for v in words].count(w.lower()) for w in words}
            """
        },
    ),
}
