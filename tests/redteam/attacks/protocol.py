"""Forged messages on the line between the student's process and the one that runs the tests."""

from tests.redteam.redlab import FAKES, Attack

# What an attack needs to speak on the line: where there is none, it has nothing to attack.
LINE = """
import json, os, struct, threading, time
from autograder.boundary import student as agent
from autograder.boundary.proxy import _Handle
def line():
    return agent._agents[0][1]
def raw(message=None, block=b"", text=None, head=None):
    text = json.dumps(message).encode() if text is None else text
    stream = line()._connection._stream
    try:
        stream.settimeout(0.05)
        stream.sendall((head or struct.pack("<IQ", len(text), len(block))) + text + block)
    except OSError as error:
        print(error)
def reply(value, cell=None, **more):
    raw({"k": "reply", "value": value, "cell": line().cell if cell is None else cell, **more})
"""


def calls(body: str) -> dict[str, str]:
    """Return answers to the open tasks that run this first, and then give wrong values."""
    lines = "\n".join(f"    {row}" for row in body.strip("\n").splitlines())
    return {
        "windows": f"def windows(items, n):\n{lines}\n    return [[0] * n]",
        "bisect": f"def bisect(f, low, high):\n{lines}\n    return low",
        "softmax": f"def softmax(z):\n{lines}\n    return np.zeros(z.shape)",
    }


ATTACKS = {
    "replies_ahead": Attack(
        says="Sends answers to questions that have not been asked, for every cell to come.",
        code=LINE
        + """
for cell in range(60):
    for value in (3, True, [[1, 2], [2, 3]], None):
        reply(value, cell)
""",
        answers=FAKES,
    ),
    "replies_to_nobody": Attack(
        says="Sends several answers for one question, so that later questions get earlier ones.",
        code=LINE,
        answers=calls("for value in (True, 2.0, 0.3, [[1, 2], [2, 3]]):\n    reply(value)"),
    ),
    "torn_frames": Attack(
        says="Sends a half frame, in a test and before one, and lets the rest be what comes next.",
        code=LINE + "raw(text=b'{\"k\": \"reply\"', head=struct.pack('<IQ', 500, 0))",
        answers=calls("raw(text=b'{}', head=struct.pack('<IQ', 1 << 20, 1 << 20))"),
    ),
    "huge_frames": Attack(
        says="Announces frames of four gigabytes and of sixteen exabytes.",
        code=LINE,
        answers=calls("raw(text=b'', head=struct.pack('<IQ', 2**32 - 1, 2**64 - 1))"),
    ),
    "large_frames": Attack(
        says="Sends frames as large as they may be, one after the other.",
        code=LINE,
        answers=calls("for _ in range(10):\n    raw({'k': 'x', 'cell': line().cell}, bytes((64 << 20) - 1))"),
    ),
    "slow_frames": Attack(
        says="Sends its answer byte by byte, and never the last one.",
        code=LINE,
        answers=calls(
            "for byte in struct.pack('<IQ', 100, 0) + b'x' * 99:\n"
            "    line()._connection._stream.send(bytes([byte]))\n    time.sleep(0.02)\ntime.sleep(60)"
        ),
    ),
    "never_reads": Attack(
        says="Asks without end and never reads an answer.",
        code=LINE,
        answers=calls(
            "message = {'k': 'ask', 'op': 'repr', 'on': {'t': 'yours', 'h': 1}, 'args': [], 'opts': [],"
            " 'cell': line().cell}\nfor _ in range(20_000):\n    raw(message)"
        ),
    ),
    "no_json": Attack(
        says="Sends frames that are no JSON, no objects, deep, with doubled keys and of other encodings.",
        code=LINE
        + """
texts = [b"", b"[]", b"nul", b"\\xff\\xfe", b"[" * 200_000, b'{"a":' * 100_000, "{}".encode("utf-16"), b"1e999", b"NaN",
         b"9" * 10_000, b'{"k": "reply", "k": "ask", "cell": 1, "cell": 2}', b'"\\\\ud800"', b"{}" * 10]
""",
        answers=calls("for text in texts:\n    raw(text=text)"),
    ),
    "odd_messages": Attack(
        says="Sends messages whose fields are missing or of other types.",
        code=LINE,
        answers=calls("""
cell = line().cell
for message in (
    {}, {"k": []}, {"k": "reply"}, {"k": "end"}, {"k": "raise"}, {"k": "raise", "error": 5}, {"k": "ask"},
    {"k": "ask", "op": {}, "args": {}, "opts": 1}, {"k": "ask", "op": "call", "on": 5, "args": [], "opts": [[1]]},
    {"k": "reply", "value": {}, "changes": [1]}, {"k": "reply", "value": 1, "changes": {"values": {"0": 1}}},
):
    raw({**message, "cell": cell})
    raw({**message, "cell": [cell]})
    raw({**message, "cell": str(cell)})
"""),
    ),
    "orders_that_run": Attack(
        says="Asks the other process to import, to set, to format and to call what it should not.",
        code=LINE
        + """
def order():
    for operation in ("import", "name", "value", "call", "setattr", "delattr", "setitem", "format", "array", "enter"):
        for target in (None, 5, [], _Handle(1), _Handle(2), _Handle(3)):
            for arguments in ((), ("os", "system", "id"), ("__globals__",), ("__class__",), ("fn",), ("count", 30)):
                try:
                    print(operation, arguments, repr(line().ask(operation, target, arguments))[:300])
                except BaseException as error:
                    if "died" in type(error).__name__.lower():
                        raise
""",
        answers=calls("order()"),
    ),
    "every_handle": Attack(
        says="Tries every handle up to a thousand with every way to look at what is behind it, and prints what comes.",
        code=LINE
        + """
names = ("__dict__", "__globals__", "__closure__", "__code__", "__self__", "__func__", "__traceback__", "tb_frame",
         "with_traceback", "args", "fn", "f", "count", "__wrapped__", "__reduce__", "__init__", "gi_frame", "__class__")
def look():
    end = time.monotonic() + 1.2
    for handle in [*range(-3, 60), 100, 999, 2**40, 2**70]:
        looks = [("repr", ()), ("iter", ()), ("len", ()), *(("getattr", (name,)) for name in names)]
        for operation, arguments in looks:
            if time.monotonic() > end:
                return
            try:
                print(handle, operation, arguments, repr(line().ask(operation, _Handle(handle), arguments))[:300])
            except Exception as error:
                print(str(error)[:60])
""",
        answers={**calls("look()"), "bisect": "def bisect(f, low, high):\n    f(low)\n    look()\n    return low"},
    ),
    "agent_patched": Attack(
        says="Replaces the functions of the agent, so that every comparison and every look comes out well.",
        code=LINE
        + """
perform = agent.Agent.perform
def cheat(self, operation, target, arguments, options):
    if operation in ("eq", "ge", "le", "gt", "lt", "isinstance", "contains", "bool"):
        return True
    if operation in ("ne", "len"):
        return operation == "len"
    return perform(self, operation, target, arguments, options)
agent.Agent.perform = cheat
agent.Agent.describe = lambda self, value: {"c": ["builtins.float"], "tensor": True, "class": False}
agent.reduced = lambda value: 2.0
""",
        answers=FAKES,
    ),
    "agent_endless": Attack(
        says="Answers every question of a test with a question of its own.",
        code=LINE
        + """
perform = agent.Agent.perform
def endless(self, operation, target, arguments, options):
    while True:
        line().ask("repr", _Handle(1))
agent.Agent.perform = endless
""",
    ),
    "agent_silent": Attack(
        says="Never answers, but runs on.",
        code=LINE + "agent.Agent.perform = lambda *a: time.sleep(600)",
    ),
    "agent_gone": Attack(
        says="Replaces the agent's module, so that no test is answered at all.",
        code=LINE + "import sys\nsys.modules['autograder.boundary.student'] = None\nagent.serve = lambda *a: None",
    ),
    "line_closed": Attack(
        says="Closes the line, or puts a socket of its own in its place.",
        code=LINE
        + """
import socket
def close():
    mine, other = socket.socketpair()
    os.dup2(mine.fileno(), line()._connection._stream.fileno())
""",
        answers=calls("close()"),
    ),
    "line_shut": Attack(
        says="Shuts the line down in one direction.",
        code=LINE + "import socket",
        answers=calls("line()._connection._stream.shutdown(socket.SHUT_WR)"),
    ),
    "line_read_by_thread": Attack(
        says="A thread reads questions off the line and answers them, in a race with the agent.",
        code=LINE
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
        code=LINE
        + """
def race():
    while True:
        reply(True)
        time.sleep(0.0005)
threading.Thread(target=race, daemon=True).start()
""",
        answers=FAKES,
    ),
    "kept_messages": Attack(
        says="Keeps every frame that it has seen and sent, and sends them again in later tests under their numbers.",
        code=LINE
        + """
from autograder.boundary import frames
kept, send = [], frames.Connection.send
def keeping(self, message, block=b"", deadline=None):
    kept.append((message, block))
    send(self, message, block, deadline)
frames.Connection.send = keeping
""",
        answers=calls("for message, block in list(kept)[:50]:\n    raw({**message, 'cell': line().cell}, block)"),
    ),
    "tests_process": Attack(
        says="Looks for the tests' process: its descriptors, its sockets, its files, its memory.",
        code=LINE
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
        answers=calls("look()"),
    ),
    "passes_descriptors": Attack(
        says="Passes descriptors over the line, thousands of them, for the other process to hold.",
        code=LINE
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
        answers=calls("give()"),
    ),
}
