"""Replies that are huge, deep, circular or of dtypes that no test asks for."""

from tests.redteam.redlab import Attack


def _everywhere(value: str) -> dict[str, str]:
    """Return answers that give this expression to every open task."""
    return {
        "windows": f"def windows(items, n):\n    return {value}",
        "running-mean": f"""
            class RunningMean:
                def add(self, number): pass
                def mean(self): return {value}
                def __len__(self): return 0
        """,
        "bisect": f"def bisect(f, low, high):\n    return {value}",
        "softmax": f"def softmax(z):\n    return {value}",
    }


ATTACKS = {
    "array_of_terabytes": Attack(
        says="Answers with an array of a terabyte that takes eight bytes of memory, as all its strides are zero.",
        answers=_everywhere("np.broadcast_to(np.float64(0.5), (1 << 20, 1 << 20))"),
    ),
    "array_of_gigabyte": Attack(
        says="Answers with half a gigabyte of zeros.",
        answers=_everywhere("np.zeros(1 << 26)"),
    ),
    "empty_array_of_any_size": Attack(
        says="Answers with empty arrays whose other dimensions are as large as can be, and with 60 dimensions.",
        answers=_everywhere("[np.zeros((0, 1 << 60)), np.zeros((1,) * 60)]"),
    ),
    "long_number": Attack(
        says="Answers with integers of ten million bits and of more digits than Python will print.",
        answers=_everywhere("1 << 10_000_000"),
    ),
    "long_text": Attack(
        says="Answers with a text of two hundred megabytes and one of lone surrogates.",
        answers={
            **_everywhere("'x' * (200 << 20)"),
            "bisect": "def bisect(*a):\n    return '\\ud800\\udfff\\x00' * 1000",
        },
    ),
    "deep_list": Attack(
        says="Answers with a list nested a hundred thousand deep.",
        code="""
            def deep(n=100_000):
                found = []
                for _ in range(n):
                    found = [found]
                return found
        """,
        answers={**_everywhere("deep()"), "softmax": "def softmax(z):\n    return deep(900)"},
    ),
    "circular": Attack(
        says="Answers with lists, dicts and tuples that contain themselves.",
        code="""
            def circle():
                a, b = [], {}
                a.append(b)
                b["a"] = a
                a.append((a, b))
                return a
        """,
        answers=_everywhere("circle()"),
    ),
    "wide_sharing": Attack(
        says="Answers with a list of two lists of two lists, fifty deep, shared: 2 to the 50 items in a kilobyte.",
        code="""
            def shared():
                found = [1, 2]
                for _ in range(50):
                    found = [found, found]
                return found
        """,
        answers=_everywhere("shared()"),
    ),
    "million_keys": Attack(
        says="Answers with a dict of a million keys, and with keys that are equal but not the same.",
        answers={
            **_everywhere("dict.fromkeys(range(1_000_000))"),
            "bisect": "def bisect(*a):\n    return {1: 0, True: 1, 1.0: 2, float('nan'): 3, (1, (2,)): 4, None: 5}",
        },
    ),
    "million_objects": Attack(
        says="Answers with a million objects that need a handle each, and drops none of them.",
        answers=_everywhere("[object() for _ in range(1_000_000)]"),
    ),
    "object_arrays": Attack(
        says="Answers with arrays of objects: with hostile methods, with pickles, with themselves inside.",
        code="""
            class Evil:
                def __eq__(self, other): return True
                def __float__(self): return 0.3
                def __reduce__(self): return (exec, ("import os; os._exit(0)",))
            def objects():
                found = np.array([[Evil(), 1.0], [None, "x"]], dtype=object)
                found[1, 0] = found
                return found
        """,
        answers={**_everywhere("objects()"), "bisect": "def bisect(*a):\n    return np.array(Evil(), dtype=object)"},
    ),
    "structured_arrays": Attack(
        says="Answers with structured, overlapping, masked, text, date and void arrays.",
        code="""
            kinds = [
                np.zeros(2, dtype=[("a", "f8"), ("b", "O")]),
                np.zeros(2, dtype={"names": ["a", "b"], "formats": ["f8", "f8"], "offsets": [0, 4]}),
                np.ma.masked_all((2, 2)),
                np.zeros(2, dtype="V1000000"),
                np.zeros(2, dtype="U1000000"),
                np.zeros(2, dtype="M8[ns]"),
                np.zeros((2, 2), dtype=np.dtype("f8", metadata={"x": object()})),
                np.zeros((2, 2), dtype=">f8"),
                np.zeros((2, 2), dtype=np.longdouble),
                np.zeros((2, 2), dtype=np.float16),
                np.zeros(2, dtype=np.dtypes.StringDType()),
                np.rec.array([(1, 2.0)]),
                np.zeros(2, dtype=("f8", (10**6,)))[:, :1],
            ]
        """,
        answers=_everywhere("kinds"),
    ),
    "raw_memory_arrays": Attack(
        says="Answers with arrays over memory that is not there, made with strides and from pointers.",
        code="""
            from numpy.lib.stride_tricks import as_strided
            def wild(): return as_strided(np.zeros(2), shape=(1 << 16, 1 << 8), strides=(1 << 20, 8))
            def nowhere():
                class Pointer:
                    __array_interface__ = dict(shape=(1000,), typestr="<f8", data=(4096, True), version=3)
                return np.asarray(Pointer())
        """,
        answers={"softmax": "def softmax(z):\n    return wild()", "bisect": "def bisect(*a):\n    return nowhere()"},
    ),
    "buffers": Attack(
        says="Answers with memory views, byte arrays, mmaps and array.arrays that change size.",
        code="""
            import array, mmap
            def buffers():
                return [memoryview(bytearray(10)), mmap.mmap(-1, 4096), array.array("d", [1.0]), bytearray(5),
                        memoryview(np.zeros((2, 2)))[::-1], range(10**30), iter([1]), frozenset([frozenset()]), b""]
        """,
        answers=_everywhere("buffers()"),
    ),
    "modules_and_types": Attack(
        says="Answers with modules, types, code, frames, builtins, locks and sockets.",
        code="""
            import socket, sys, threading, types
            def things():
                return [sys, type, types, object, sys._getframe(), things.__code__, __builtins__, threading.Lock(), ...,
                        socket.socket(), open("/proc/self/mem", "rb"), NotImplemented, Exception, get_ipython(), print]
        """,
        answers=_everywhere("things()"),
    ),
}
