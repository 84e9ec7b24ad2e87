"""What a kernel that does as it likes can make the grader keep, or wait for: little, on whichever channel it sends."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from tests.system.sandboxed import sandbox_or_skip

pytestmark = pytest.mark.slow

MOST_MIB = 150

GRADER = """
import contextlib, resource, sys
from autograder.sandbox import choose
from nbclient.exceptions import CellTimeoutError
from tests.system.sandboxed import console

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

with console(choose(sys.argv[1]), timeout_s=8) as prompt:
    prompt.client.interrupt_on_timeout = False
    prompt.client.iopub_timeout = 3
    prompt.run("import zmq\\nkernel = get_ipython().kernel\\n" + sys.argv[2])
    before = peak()
    # Whatever that does to the cell: it is what this process holds that is looked at.
    with contextlib.suppress(Exception, CellTimeoutError):
        prompt.run("attack()")
    print(peak() - before)
"""

# The sockets that a kernel's own objects hold, and the address of the client at their other ends.
CHANNELS = """
import json, time
def send(channel, parts):
    try:
        if channel == "iopub":
            kernel.iopub_thread.socket.send_multipart(parts, zmq.DONTWAIT)
        else:
            streams = {"shell": kernel.shell_stream, "control": kernel.control_stream, "stdin": kernel.stdin_socket}
            held = streams[channel]
            getattr(held, "socket", held).send_multipart([*kernel._parent_ident["shell"], *parts], zmq.DONTWAIT)
    except zmq.Again:
        time.sleep(0.01)
"""

MANY_PARTS = """
def attack():
    part = bytes(50 << 20)
    send({channel!r}, [part] * 30)
"""

MANY_MESSAGES = """
def attack():
    part, end = bytes(2 << 20), time.monotonic() + 4
    for _ in range(600):
        if time.monotonic() < end:
            send({channel!r}, [part])
"""

TINY_PARTS = """
def attack():
    send({channel!r}, [b""] * 3_000_000)
"""

# Correctly signed: three bytes of it become an object of 64.
MANY_VALUES = """
def attack():
    session, parent = kernel.session, kernel.get_parent()["header"]
    header = session.msg_header("stream")
    content = b'{{"name": "stdout", "text": [' + b"{{}}," * (7 << 20) + b"0]}}"
    parts = [*(json.dumps(part, default=str).encode() for part in (header, parent, {{}})), content]
    send({channel!r}, [b"<IDS|MSG>", session.sign(parts), *parts])
"""

# To each of its connections with the grader: a TCP connection that takes days to close, and its other end.
LINGERING = """
def attack():
    import os, socket, struct
    for name in os.listdir("/proc/self/fd"):
        try:
            grader = socket.socket(fileno=os.dup(int(name)))
            if grader.family != socket.AF_UNIX or grader.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                continue
            grader.getpeername()
        except OSError:
            continue
        server = socket.create_server(("127.0.0.1", 0))
        first = socket.create_connection(server.getsockname())
        first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 10**6))
        for end in (first, grader):
            end.setblocking(False)
        try:
            while True:
                first.send(bytes(1 << 16))
        except BlockingIOError:
            pass
        try:
            for end in (first, server.accept()[0]):
                socket.send_fds(grader, [b"\\0"], [end.fileno()])
        except OSError:
            first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
"""


def growth_mib(name: str, source: str) -> float:
    """Return by how much the grader's peak of memory grew in this attack."""
    with sandbox_or_skip(name):
        pass
    done = subprocess.run(
        [sys.executable, "-c", GRADER, name, CHANNELS + textwrap.dedent(source)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return float(done.stdout.splitlines()[-1])


ATTACKS = {"parts": MANY_PARTS, "messages": MANY_MESSAGES, "tiny parts": TINY_PARTS, "values": MANY_VALUES}
FIRST = {("parts", "shell"), ("messages", "iopub"), ("tiny parts", "stdin"), ("values", "control"), ("values", "iopub")}
"""Each attack and each channel once, and the one that a student's output takes twice; the others before a release."""


@pytest.mark.parametrize(
    ("attack", "channel"),
    [
        pytest.param(attack, channel, marks=() if (attack, channel) in FIRST else pytest.mark.thorough)
        for attack in ATTACKS
        for channel in ("shell", "iopub", "stdin", "control")
    ],
)
def test_no_message_fills_the_graders_memory(attack: str, channel: str) -> None:
    assert growth_mib("bubblewrap", ATTACKS[attack].format(channel=channel)) < MOST_MIB


def test_no_descriptor_that_is_sent_holds_the_grader_up() -> None:
    assert growth_mib("bubblewrap", LINGERING) < MOST_MIB
