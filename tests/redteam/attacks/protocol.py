"""Forged messages on the line between the student's process and the one that runs the tests."""

from tests.redteam.redlab import FAKES, Attack

# What an attack needs to speak on the line: where there is none, it has nothing to attack.
_LINE = """
import json, os, struct, threading, time
from autograder.boundary import agent
from autograder.boundary.proxy import _Handle
def line():
    return agent._agents[0][1]
def raw(message=None, block=b"", text=None, head=None):
    text = json.dumps(message).encode() if text is None else text
    stream = line()._connection._stream
    try:
        stream.settimeout(0.5)
        stream.sendall((head or struct.pack("<IQ", len(text), len(block))) + text + block)
    except OSError as error:
        print(error)
def reply(value, cell=None, **more):
    raw({"k": "reply", "value": value, "cell": line().cell if cell is None else cell, **more})
"""


def _calls(body: str) -> dict[str, str]:
    """Return answers to the open tasks that run this first, and then give wrong values."""
    lines = "\n".join(f"    {row}" for row in body.strip("\n").splitlines())
    return {
        "windows": f"def windows(items, n):\n{lines}\n    return [[0] * n]",
        "bisect": f"def bisect(f, low, high):\n{lines}\n    return low",
        "softmax": f"def softmax(z):\n{lines}\n    return np.zeros(z.shape)",
    }


def _sends(*values: str) -> dict[str, str]:
    """Return answers that send these JSON values, as text, in place of what they return."""
    return _calls("for text in " + repr(list(values)) + ":\n    raw(text=" + _TEXT + ")")


_TEXT = '(\'{"k": "reply", "cell": %d, "value": %s}\' % (line().cell, text)).encode()'

ATTACKS = {
    "replies_ahead": Attack(
        says="Sends answers to questions that have not been asked, for every cell to come.",
        code=_LINE
        + """
for cell in range(60):
    for value in (3, True, [[1, 2], [2, 3]], None):
        reply(value, cell)
""",
        answers=FAKES,
    ),
    "replies_to_nobody": Attack(
        says="Sends several answers for one question, so that later questions get earlier ones.",
        code=_LINE,
        answers=_calls("for value in (True, 2.0, 0.25, [[1, 2], [2, 3]]):\n    reply(value)"),
    ),
    "torn_frames": Attack(
        says="Sends a half frame, in a test and before one, and lets the rest be what comes next.",
        code=_LINE + "raw(text=b'{\"k\": \"reply\"', head=struct.pack('<IQ', 500, 0))",
        answers=_calls("raw(text=b'{}', head=struct.pack('<IQ', 1 << 20, 1 << 20))"),
    ),
    "huge_frames": Attack(
        says="Announces frames of four gigabytes and of sixteen exabytes.",
        code=_LINE,
        answers=_calls("raw(text=b'', head=struct.pack('<IQ', 2**32 - 1, 2**64 - 1))"),
    ),
    "large_frames": Attack(
        says="Sends frames as large as they may be, one after the other.",
        code=_LINE,
        answers=_calls("for _ in range(10):\n    raw({'k': 'x', 'cell': line().cell}, bytes((64 << 20) - 1))"),
    ),
    "slow_frames": Attack(
        says="Sends its answer byte by byte, and never the last one.",
        code=_LINE,
        answers=_calls(
            "for byte in struct.pack('<IQ', 100, 0) + b'x' * 99:\n"
            "    line()._connection._stream.send(bytes([byte]))\n    time.sleep(0.02)\ntime.sleep(60)"
        ),
    ),
    "never_reads": Attack(
        says="Asks without end and never reads an answer.",
        code=_LINE,
        answers=_calls(
            "message = {'k': 'ask', 'op': 'repr', 'on': {'t': 'yours', 'h': 1}, 'args': [], 'opts': [],"
            " 'cell': line().cell}\nfor _ in range(20_000):\n    raw(message)"
        ),
    ),
    "no_json": Attack(
        says="Sends frames that are no JSON, no objects, deep, with doubled keys and of other encodings.",
        code=_LINE
        + """
texts = [b"", b"[]", b"nul", b"\\xff\\xfe", b"[" * 200_000, b'{"a":' * 100_000, "{}".encode("utf-16"), b"1e999", b"NaN",
         b"9" * 10_000, b'{"k": "reply", "k": "ask", "cell": 1, "cell": 2}', b'"\\\\ud800"', b"{}" * 10]
""",
        answers=_calls("for text in texts:\n    raw(text=text)"),
    ),
    "odd_messages": Attack(
        says="Sends messages whose fields are missing or of other types.",
        code=_LINE,
        answers=_calls("""
cell = line().cell
for message in ({}, {"k": []}, {"k": "reply"}, {"k": "end"}, {"k": "raise"}, {"k": "raise", "error": 5}, {"k": "ask"},
                {"k": "ask", "op": {}, "args": {}, "opts": 1}, {"k": "ask", "op": "call", "on": 5, "args": [], "opts": [[1]]},
                {"k": "reply", "value": {}, "changes": [1]}, {"k": "reply", "value": 1, "changes": {"values": {"0": 1}}}):
    raw({**message, "cell": cell})
    raw({**message, "cell": [cell]})
    raw({**message, "cell": str(cell)})
"""),
    ),
    "values_that_run": Attack(
        says="Sends values that name functions of the other process: os.system, eval, a module, random sources.",
        code=_LINE,
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
    "orders_that_run": Attack(
        says="Asks the other process to import, to set, to format and to call what it should not.",
        code=_LINE
        + """
def order():
    for operation in ("import", "name", "value", "call", "setattr", "delattr", "setitem", "format", "array", "enter"):
        for target in (None, 5, [], _Handle(1), _Handle(2), _Handle(3)):
            for arguments in ((), ("os", "system", "id"), ("__globals__",), ("__class__",), ("fn",), ("count", 30), (0, 1)):
                try:
                    print(operation, arguments, repr(line().ask(operation, target, arguments))[:300])
                except BaseException as error:
                    if "died" in type(error).__name__.lower():
                        raise
""",
        answers=_calls("order()"),
    ),
    "every_handle": Attack(
        says="Tries every handle up to a thousand with every way to look at what is behind it, and prints what comes.",
        code=_LINE
        + """
names = ("__dict__", "__globals__", "__closure__", "__code__", "__self__", "__func__", "__traceback__", "tb_frame",
         "with_traceback", "args", "fn", "f", "count", "__wrapped__", "__reduce__", "__init__", "gi_frame", "__class__")
def look():
    end = time.monotonic() + 1.2
    for handle in [*range(-3, 60), 100, 999, 2**40, 2**70]:
        for operation, arguments in [("repr", ()), ("iter", ()), ("len", ()), *(("getattr", (name,)) for name in names)]:
            if time.monotonic() > end:
                return
            try:
                print(handle, operation, arguments, repr(line().ask(operation, _Handle(handle), arguments))[:300])
            except Exception as error:
                print(str(error)[:60])
""",
        answers={**_calls("look()"), "bisect": "def bisect(f, low, high):\n    f(low)\n    look()\n    return low"},
    ),
    "handles_that_lie": Attack(
        says="Sends handles that do not exist, that are no numbers, that claim to be numbers, arrays and tensors.",
        code=_LINE,
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
        code=_LINE,
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
        says="Sends numbers, texts, ranges, slices and tables that are none, or take for ever to make.",
        code=_LINE,
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
        code=_LINE,
        answers=_calls(
            "for _ in range(5):\n"
            "    raw(text=b'{\"k\": \"reply\", \"cell\": %d, \"value\": [' % line().cell + b'[],' * 2_000_000 + b'0]}')"
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
        code=_LINE
        + """
errors = [
    {"origin": 1}, {"origin": True}, {"type": "", "bases": [""], "text": 5}, {"type": "exit", "bases": ["exit", "eval"]},
    {"type": "KeyboardInterrupt", "bases": ["KeyboardInterrupt"]}, {"type": "Mismatch", "module": "labkit._compare"},
    {"type": "StopIteration", "module": "builtins", "bases": ["StopIteration"], "args": [[[1, 2], [2, 3]]]},
    {"type": "UnicodeDecodeError", "module": "builtins", "bases": ["UnicodeDecodeError"], "args": [1]},
    {"type": "x" * 10**6, "bases": ["y"] * 10**5, "line": "z" * 10**6, "name": [1]}, {"bases": {"a": 1}}, [], None,
    {"type": "__init__", "module": 5, "text": {"t": "mine", "h": 1}}, {"type": "BaseException", "bases": ["BaseException"]},
]
""",
        answers=_calls('for error in errors:\n    raw({"k": "raise", "error": error, "cell": line().cell})'),
    ),
    "changes_forged": Attack(
        says="Reports that its call has changed the test's arguments, to values that would agree.",
        code=_LINE
        + """
zeros = {"t": "array", "d": "<f8", "s": [2, 2], "b": [0, 32], "f": False}
def lie():
    for place in (0, 1, 2, -1):
        changes = {"t": "dict", "v": [["values", {"t": "dict", "v": [[place, zeros]]}],
                                      ["gradients", {"t": "dict", "v": [["0", zeros], [0, zeros]]}]]}
        raw({"k": "reply", "value": zeros, "changes": changes, "cell": line().cell}, bytes(32))
""",
        answers=_calls("lie()"),
    ),
    "agent_patched": Attack(
        says="Replaces the functions of the agent, so that every comparison and every look comes out well.",
        code=_LINE
        + """
perform = agent._Agent.perform
def cheat(self, operation, target, arguments, options):
    if operation in ("eq", "ge", "le", "gt", "lt", "isinstance", "contains", "bool"):
        return True
    if operation in ("ne", "len"):
        return operation == "len"
    return perform(self, operation, target, arguments, options)
agent._Agent.perform = cheat
agent._Agent.describe = lambda self, value: {"c": ["builtins.float"], "tensor": True, "class": False}
agent.reduced = lambda value: 2.0
""",
        answers=FAKES,
        honest=5,  # a length of 1 is what the second case of the third task wants: it is the student's to say
    ),
    "agent_endless": Attack(
        says="Answers every question of a test with a question of its own.",
        code=_LINE
        + """
perform = agent._Agent.perform
def endless(self, operation, target, arguments, options):
    while True:
        line().ask("repr", _Handle(1))
agent._Agent.perform = endless
""",
    ),
    "agent_silent": Attack(
        says="Never answers, but runs on.",
        code=_LINE + "agent._Agent.perform = lambda *a: time.sleep(600)",
    ),
    "agent_gone": Attack(
        says="Replaces the agent's module, so that no test is answered at all.",
        code=_LINE + "import sys\nsys.modules['autograder.boundary.agent'] = None\nagent.serve = lambda *a: None",
    ),
    "line_closed": Attack(
        says="Closes the line, or puts a socket of its own in its place.",
        code=_LINE
        + """
import socket
def close():
    mine, other = socket.socketpair()
    os.dup2(mine.fileno(), line()._connection._stream.fileno())
""",
        answers=_calls("close()"),
    ),
    "line_shut": Attack(
        says="Shuts the line down in one direction.",
        code=_LINE + "import socket",
        answers=_calls("line()._connection._stream.shutdown(socket.SHUT_WR)"),
    ),
    "line_read_by_thread": Attack(
        says="A thread reads questions off the line and answers them, in a race with the agent.",
        code=_LINE
        + """
def race():
    stream = line()._connection._stream.dup()
    while True:
        try:
            data = stream.recv(65536)
            print(data)
            reply(True)
        except OSError:
            time.sleep(0.001)
threading.Thread(target=race, daemon=True).start()
""",
        answers=FAKES,
    ),
    "line_written_by_thread": Attack(
        says="A thread writes answers on the line without end, in the middle of the agent's.",
        code=_LINE
        + """
def race():
    while True:
        reply(True)
        time.sleep(0.0005)
threading.Thread(target=race, daemon=True).start()
""",
        answers=FAKES,
        honest=5,  # see agent_patched: True may come where a length is asked for, but is no int
    ),
    "kept_messages": Attack(
        says="Keeps every frame that it has seen and sent, and sends them again in later tests under their numbers.",
        code=_LINE
        + """
from autograder.boundary import frames
kept, send = [], frames.Connection.send
def keeping(self, message, block=b"", deadline=None):
    kept.append((message, block))
    send(self, message, block, deadline)
frames.Connection.send = keeping
""",
        answers=_calls("for message, block in list(kept)[:50]:\n    raw({**message, 'cell': line().cell}, block)"),
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
    "tests_process": Attack(
        says="Looks for the tests' process: its descriptors, its sockets, its files, its memory.",
        code=_LINE
        + """
def look():
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        for name in ("cmdline", "status", "environ", "maps"):
            try:
                print(pid, name, open(f"/proc/{pid}/{name}").read()[:400])
            except OSError as error:
                print(pid, name, error)
    print(open("/proc/net/unix").read()[:2000])
    stream = line()._connection._stream
    import socket
    print(stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    print(stream.getsockname(), stream.getpeername())
""",
        answers=_calls("look()"),
    ),
    "passes_descriptors": Attack(
        says="Passes descriptors over the line, thousands of them, for the other process to hold.",
        code=_LINE
        + """
import array, socket
def give():
    files = [os.open("/dev/zero", os.O_RDONLY) for _ in range(50)]
    for _ in range(50):
        try:
            socket.send_fds(line()._connection._stream, [b" "], files)
        except OSError as error:
            print(error)
            break
""",
        answers=_calls("give()"),
    ),
}
