"""What listens on this machine is found, whatever it is called."""

from __future__ import annotations

import contextlib
import socket
import sys

import pytest

from autograder.sandbox.exposure import open_sockets


@pytest.mark.skipif(sys.platform != "linux", reason="names without a file are Linux's")
@pytest.mark.parametrize(
    "name", [b"plain", b"two words", b"\xcf\xeb not a text", b"two\nlines", b"a: b c 00010000 1 1 1 x"]
)
def test_a_name_that_some_program_chose_stops_nobody(name: bytes) -> None:
    own = f"labkit-test-{id(name)}-".encode() + name
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(b"\0" + own)
        listening.listen()
        shown = "@" + own.split(b"\n")[0].decode(errors="surrogateescape")
        assert shown in open_sockets(abstract=True)
        assert shown not in open_sockets(abstract=False)
