"""Forged values in messages: functions to run, handles that lie, bombs of arrays and numbers, errors, changes."""

from tests.redteam.attacks.protocol import LINE, calls
from tests.redteam.redlab import Attack


def _sends(*values: str) -> dict[str, str]:
    """Return answers that send these JSON values, as text, in place of what they return."""
    return calls("for text in " + repr(list(values)) + ":\n    raw(text=" + _TEXT + ")")


_TEXT = '(\'{"k": "reply", "cell": %d, "value": %s}\' % (line().cell, text)).encode()'

ATTACKS = {
    "values_that_run": Attack(
        says="Sends values that name functions of the other process: os.system, eval, a module, random sources.",
        code=LINE,
        answers=_sends(
            '{"t": "name", "m": "os", "q": "system"}',
            '{"t": "name", "m": "builtins", "q": "eval"}',
            '{"t": "name", "m": "labkit.check", "q": ""}',
            '{"t": "random", "c": "random.Random", "n": 1, "s": [3, [1], null]}',
            '{"t": "framework", "v": "os.system"}',
            '{"t": "tensor", "d": "os", "s": [1], "b": [0, 1], "k": "os.system"}',
            '{"t": "__class__", "v": 1}',
            '{"t": ["list"], "v": 1}',
        ),
    ),
    "handles_that_lie": Attack(
        says="Sends handles that do not exist, that are no numbers, that claim to be numbers, arrays and tensors.",
        code=LINE,
        answers=_sends(
            '{"t": "yours", "h": 1}',
            '{"t": "yours", "h": 10000000}',
            '{"t": "yours", "h": true}',
            '{"t": "mine", "h": 1, "c": ["builtins.float"], "tensor": true, "class": true}',
            '{"t": "mine", "h": 2, "c": ["numpy.bool", "builtins.bool", "builtins.list"]}',
            '{"t": "mine", "h": 3, "c": "numpy.ndarray"}',
            '{"t": "mine", "h": -1, "c": [[]]}',
            '{"t": "mine", "h": 1e3}',
        ),
    ),
    "array_bombs": Attack(
        says="Sends arrays whose shape, dtype or place is a lie.",
        code=LINE,
        answers=_sends(
            '{"t": "array", "d": "<f8", "s": [1099511627776, 1099511627776], "b": [0, 0], "f": false}',
            '{"t": "array", "d": "<f8", "s": [0, 536870912, 536870912], "b": [0, 0], "f": true}',
            '{"t": "array", "d": "<U0", "s": [536870912], "b": [0, 0], "f": false}',
            '{"t": "array", "d": "<U2000000000", "s": [0], "b": [0, 0], "f": false}',
            '{"t": "array", "d": "|O", "s": [1], "b": [0, 8], "f": false}',
            '{"t": "array", "d": "f8,O", "s": [1], "b": [0, 8], "f": false}',
            '{"t": "array", "d": "<M8[99999999999Y]", "s": [0], "b": [0, 0], "f": false}',
            '{"t": "array", "d": "<f8", "s": [-1], "b": [-8, 8], "f": false}',
            '{"t": "array", "d": "<f8", "s": [1], "b": [0, 1e2], "f": false}',
            '{"t": "scalar", "d": "<f8", "b": [0, 0]}',
            '{"t": "dtype", "d": "(1000000,1000000)f8"}',
            '{"t": "bytes", "b": [0, 99999999]}',
        ),
    ),
    "number_bombs": Attack(
        says="Sends numbers, texts, ranges, slices and tables that are none, or take forever to make.",
        code=LINE,
        answers=_sends(
            '{"t": "int", "v": "0x' + "f" * 16_000 + '"}',
            '{"t": "int", "v": ["0x1"]}',
            '{"t": "float", "v": {"t": "float"}}',
            '{"t": "float", "v": [[]]}',
            '{"t": "complex", "v": ["a", "b"]}',
            '{"t": "range", "v": [0, 1000000000000000000000000000000, 1]}',
            '{"t": "slice", "v": [1]}',
            '{"t": "dict", "v": [[[1], 2]]}',
            '{"t": "dict", "v": [1, 2]}',
            '{"t": "set", "v": [[], {"t": "dict", "v": []}]}',
            '{"t": "tuple", "v": "abc"}',
            '"\\\\ud800"',
            "[" * 60 + "]" * 60,
        ),
    ),
    "shared_bomb": Attack(
        says="Sends a million tiny values in one frame, many times.",
        code=LINE,
        answers=calls(
            "for _ in range(5):\n"
            '    raw(text=b\'{"k": "reply", "cell": %d, "value": [\' % line().cell + b\'[],\' * 2_000_000 + b\'0]}\')'
        ),
    ),
    "range_bomb": Attack(
        says="Answers with a range of 10 to the 18 numbers, which travels by value and is endless to walk through.",
        answers={
            "windows": "def windows(items, n):\n    return range(10**18)",
            "bisect": "def bisect(f, low, high):\n    return range(10**18)",
            "softmax": "def softmax(z):\n    return range(10**18)",
        },
    ),
    "errors_forged": Attack(
        says="Reports exceptions with forged origins, bases, names, arguments and lines.",
        code=LINE
        + """
errors = [
    {"origin": 1}, {"origin": True}, {"type": "", "bases": [""], "text": 5},
    {"type": "exit", "bases": ["exit", "eval"]},
    {"type": "KeyboardInterrupt", "bases": ["KeyboardInterrupt"]}, {"type": "Mismatch", "module": "labkit._assertions"},
    {"type": "StopIteration", "module": "builtins", "bases": ["StopIteration"], "args": [[[1, 2], [2, 3]]]},
    {"type": "UnicodeDecodeError", "module": "builtins", "bases": ["UnicodeDecodeError"], "args": [1]},
    {"type": "x" * 10**6, "bases": ["y"] * 10**5, "line": "z" * 10**6, "name": [1]}, {"bases": {"a": 1}}, [], None,
    {"type": "__init__", "module": 5, "text": {"t": "mine", "h": 1}},
    {"type": "BaseException", "bases": ["BaseException"]},
]
""",
        answers=calls('for error in errors:\n    raw({"k": "raise", "error": error, "cell": line().cell})'),
    ),
    "changes_forged": Attack(
        says="Reports that its call has changed the test's arguments, to values that would agree.",
        code=LINE
        + """
zeros = {"t": "array", "d": "<f8", "s": [2, 2], "b": [0, 32], "f": False}
def lie():
    for place in (0, 1, 2, -1):
        changes = {"t": "dict", "v": [["values", {"t": "dict", "v": [[place, zeros]]}],
                                      ["gradients", {"t": "dict", "v": [["0", zeros], [0, zeros]]}]]}
        raw({"k": "reply", "value": zeros, "changes": changes, "cell": line().cell}, bytes(32))
""",
        answers=calls("lie()"),
    ),
    "wire_look_alikes": Attack(
        says="Returns honest-looking tables that would be handles, arrays or errors, were they not quoted on the wire.",
        answers={
            "windows": """
                def windows(items, n):
                    return [{"t": "yours", "h": 1}, {"t": "mine", "h": 1}, {"k": "reply", "value": 1}]
            """,
            "running-mean": """
                class RunningMean:
                    def add(self, number): pass
                    def mean(self): return {"t": "float", "v": "2.0"}
                    def __len__(self): return 3
            """,
            "softmax": """
                def softmax(z):
                    return {"t": "array", "d": "<f8", "s": [2, 2], "b": [0, 32], "f": False}
            """,
        },
    ),
}
