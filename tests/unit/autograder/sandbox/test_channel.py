from __future__ import annotations

import asyncio
import contextlib
import queue
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq
from jupyter_client.session import Session

from autograder.sandbox import channel, rights, zmtp
from autograder.sandbox.channel import Channel, Link, OutputChannel

HELLO = zmtp.GREETING + zmtp.ready({"Socket-Type": b"ROUTER"})


@pytest.fixture
def path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="t-") as directory:  # a socket's path is short
        yield Path(directory, "k")


@pytest.fixture
def session() -> Session:
    return Session(key=b"key")


@pytest.fixture
def listener(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        yield listening


class Kernel:
    """ZeroMQ's own end of a channel."""

    def __init__(self, path: Path, kind: int, session: Session) -> None:
        self._context = zmq.Context()
        self.socket = self._context.socket(kind)
        self.socket.bind(f"ipc://{path}")
        self.session = session

    def close(self) -> None:
        self._context.destroy(linger=0)


@pytest.fixture
def router(path: Path, session: Session) -> Iterator[Kernel]:
    kernel = Kernel(path, zmq.ROUTER, session)
    yield kernel
    kernel.close()


@pytest.fixture
def publisher(path: Path, session: Session) -> Iterator[Kernel]:
    kernel = Kernel(path, zmq.XPUB, session)
    yield kernel
    kernel.close()


def run(client: Channel, work: Callable[[], Awaitable[Any]]) -> Any:
    """Return what work returns, while the channel is open."""

    async def whole() -> Any:
        client.start()
        try:
            assert await client.is_open(10)
            return await work()
        finally:
            client.stop()

    return asyncio.run(whole())


def test_zeromq_hears_what_is_sent_and_is_heard(path: Path, router: Kernel, session: Session) -> None:
    client = Channel(Link(path, "DEALER", b"grader"), session)

    async def talk() -> Any:
        client.send(session.msg("execute_request", {"code": "x" * 3_000_000}))
        ident, message = session.recv(router.socket, mode=0)
        assert ident == [b"grader"] and len(message["content"]["code"]) == 3_000_000
        for size in (1, 300, 5_000_000):
            session.send(router.socket, "execute_reply", {"status": "x" * size}, ident=ident)
            assert (await client.get_msg(timeout=10))["content"] == {"status": "x" * size}

    run(client, talk)


def test_a_subscriber_is_given_every_message(path: Path, publisher: Kernel, session: Session) -> None:
    client = OutputChannel(Link(path, "SUB"), session)

    async def listen() -> list[str]:
        assert publisher.socket.recv() == b"\x01"
        for number in range(5000):
            session.send(publisher.socket, "stream", {"text": f"{number}"}, ident=b"stdout")
            if number % 500 == 499:
                heard.extend([await client.get_msg(timeout=10) for _ in range(500)])
        return [message["content"]["text"] for message in heard]

    heard: list[Any] = []
    assert run(client, listen) == [str(number) for number in range(5000)]


def test_without_a_message_it_is_empty_in_time(path: Path, router: Kernel, session: Session) -> None:
    client = Channel(Link(path, "DEALER"), session)

    async def wait() -> float:
        began = time.monotonic()
        with pytest.raises(queue.Empty):
            await client.get_msg(timeout=0.2)
        return time.monotonic() - began

    assert 0.15 < run(client, wait) < 5


def test_too_many_outputs_in_one_message_cost_that_message_only(
    path: Path, publisher: Kernel, session: Session
) -> None:
    client = OutputChannel(Link(path, "SUB"), session)

    async def listen() -> Any:
        assert publisher.socket.recv() == b"\x01"
        session.send(publisher.socket, "stream", {"text": "x" * (30 << 20)})
        with pytest.raises(queue.Empty):
            await client.get_msg(timeout=0.5)
        for _ in range(100):  # until it has subscribed again
            session.send(publisher.socket, "stream", {"text": "next"})
            with contextlib.suppress(queue.Empty):
                return (await client.get_msg(timeout=0.1))["content"]["text"]
        return "nothing"

    assert run(client, listen) == "next"


@pytest.mark.parametrize(
    "content",
    [
        b"[" + b"{}," * (4 << 20) + b"0]",
        b'["' + b"x" * (9 << 20) + "\N{GRINNING FACE}".encode() + b'"]',
        b'["' + b"x" * (9 << 20) + b'\\ud83d\\ude00"]',
    ],
    ids=["values", "wide", "escaped"],
)
def test_a_message_that_takes_too_much_to_read_is_not_read(
    content: bytes, path: Path, router: Kernel, session: Session
) -> None:
    client = Channel(Link(path, "DEALER", b"grader"), session)
    parts = [session.pack(session.msg_header("execute_reply")), b"{}", b"{}"]

    async def wait() -> None:
        client.send(session.msg("kernel_info_request"))
        router.socket.recv_multipart()
        session.send_raw(router.socket, [*parts, content], ident=b"grader")
        with pytest.raises(zmtp.Unreadable, match="too many values"):
            await client.get_msg(timeout=10)

    run(client, wait)


def test_a_signature_that_is_kept_is_short(path: Path, router: Kernel, session: Session) -> None:
    client = Channel(Link(path, "DEALER", b"grader"), session)

    async def wait() -> None:
        client.send(session.msg("kernel_info_request"))
        router.socket.recv_multipart()
        router.socket.send_multipart([b"grader", b"<IDS|MSG>", bytes(1 << 20), *[b"{}"] * 4])
        with pytest.raises(zmtp.Unreadable, match="signature"):
            await client.get_msg(timeout=10)
        assert not session.digest_history

    run(client, wait)


def test_messages_without_end_leave_others_their_turn(path: Path, listener: socket.socket, session: Session) -> None:
    client = Channel(Link(path, "DEALER"), session)
    said = zmtp.message([b"<IDS|MSG>", *session.serialize(session.msg("status"))[1:]])
    ended = threading.Event()

    def flood() -> None:
        stream, _ = listener.accept()
        with stream:
            stream.settimeout(1)
            stream.sendall(HELLO)
            try:
                while not ended.is_set():
                    stream.sendall(said * 50)
            except OSError:
                pass

    async def listen() -> int:
        count, began = 0, asyncio.get_running_loop().time()

        async def take() -> None:
            nonlocal count
            while True:
                session.digest_history.clear()
                await client.get_msg()
                count += 1

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(take(), 0.5)
        assert asyncio.get_running_loop().time() - began < 5
        return count

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        assert run(client, listen) > 10
    finally:
        ended.set()
        thread.join()


def test_sending_to_one_that_does_not_read_fails_in_time(
    path: Path, listener: socket.socket, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "_SEND_S", 0.3)
    client = Channel(Link(path, "DEALER"), session)
    client.start()
    stream, _ = listener.accept()
    with stream, pytest.raises(zmq.Again):  # no greeting
        client.send(session.msg("kernel_info_request"))
    client.start()
    stream, _ = listener.accept()
    with stream:
        stream.sendall(HELLO)
        client.send(session.msg("kernel_info_request"))
        with pytest.raises(zmq.Again):
            client.send(session.msg("execute_request", {"code": "x" * (4 << 20)}))
    client.stop()


def test_sending_to_one_that_greets_otherwise_fails(path: Path, listener: socket.socket, session: Session) -> None:
    client = Channel(Link(path, "DEALER"), session)
    client.start()
    stream, _ = listener.accept()
    with stream:
        stream.sendall(b"220 smtp" * 20)
        with pytest.raises(zmq.Again):
            client.send(session.msg("kernel_info_request"))
    client.stop()


def test_a_connection_that_was_closed_is_made_again_and_one_to_nobody_is_silent(
    path: Path, listener: socket.socket, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "_SEND_S", 0.3)
    link = Link(path, "DEALER")
    assert link.connect()
    for _ in range(2):
        stream, _ = listener.accept()
        with stream:
            stream.sendall(HELLO + zmtp.message([b"last words"]))
        assert link.receive() == [b"last words"]
        assert link.receive() is None
        assert link.connect()
    link.close()
    listener.close()
    assert link.receive() is None
    link.send_multipart([b"to nobody"])
    link.close()


def lingering() -> tuple[socket.socket, socket.socket]:
    """Return a connection whose first end takes an hour to close, while the second does not read."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        first = socket.create_connection(server.getsockname())
        second, _ = server.accept()
    first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
    first.setblocking(False)
    try:
        while True:
            first.send(bytes(1 << 16))
    except BlockingIOError:
        return first, second


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.mark.parametrize("nested", [False, True], ids=["", "nested"])
@pytest.mark.parametrize("reads", [True, False], ids=["read", "unread"])
@pytest.mark.parametrize("refuses", [True, False], ids=["refused", "an older Linux"])
def test_a_descriptor_that_is_sent_holds_up_nobody(
    refuses: bool, reads: bool, nested: bool, path: Path, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_UNIX) as probe:
        if refuses and not rights.refuse(probe):
            pytest.skip("this Linux, older than 6.16, cannot refuse descriptors")
    if not refuses:
        monkeypatch.setattr(rights, "_SO_PASSRIGHTS", 1 << 20)
    link = Link(path, "DEALER")
    assert link.connect()
    stream, _ = listener.accept()
    first, second = lingering()
    before = open_descriptors()
    with stream, second:
        stream.sendall(HELLO)
        inner, outer = socket.socketpair()
        with inner, outer:
            if nested:
                socket.send_fds(inner, [b"."], [first.fileno()])
            try:
                socket.send_fds(stream, [b"\x00\x01."], [outer.fileno() if nested else first.fileno()])
            except PermissionError:
                assert refuses
                first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
            else:
                assert not refuses
            first.close() if not (nested and refuses) else None
        began = time.monotonic()
        if reads and not refuses:
            with pytest.raises(zmtp.Unreadable, match="descriptors"):
                link.receive()
        link.close()
        assert time.monotonic() - began < 10
    if nested and refuses:
        first.close()
    assert open_descriptors() <= before
