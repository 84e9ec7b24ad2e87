from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.sandbox import zmtp

HELLO = zmtp.GREETING + zmtp.ready({"Socket-Type": b"ROUTER"})
MOST = 1000


def decoded(data: bytes, cuts: Sequence[int] = ()) -> list[list[bytes]]:
    """Return the messages in data, which comes in pieces of these sizes and then at once."""
    decoder, found, sizes = zmtp.Decoder(MOST), [], iter(cuts)
    while data:
        size = min(next(sizes, len(data)), decoder.room)
        decoder.feed(data[:size])
        data = data[size:]
        while (message := decoder.take()) is not None:
            found.append(message)
    return found


messages = st.lists(st.lists(st.binary(max_size=300), min_size=1, max_size=3), max_size=4)


@given(messages, st.lists(st.integers(1, 700)))
def test_messages_come_out_as_they_went_in_however_they_were_cut(sent: list[list[bytes]], cuts: list[int]) -> None:
    data = HELLO + b"".join(map(zmtp.message, sent))
    assert decoded(data, cuts) == sent


@given(st.binary(max_size=3000), st.lists(st.integers(1, 700)))
def test_whatever_comes_no_more_is_held_than_the_bound(data: bytes, cuts: list[int]) -> None:
    decoder, sizes = zmtp.Decoder(MOST), iter(cuts)
    decoder.feed(HELLO)
    assert decoder.shake_hands()
    try:
        while data:
            size = min(next(sizes, len(data)), decoder.room)
            assert size > 0, "it is full, and has found nothing wrong"
            decoder.feed(data[:size])
            data = data[size:]
            while decoder.take() is not None:
                pass
    except zmtp.Unreadable:
        pass
    assert len(decoder._held) <= MOST + 9


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x02" + (1 << 62).to_bytes(8, "big"), "more than 1000 bytes"),
        (b"\x01\xff" + bytes(255) + b"\x02" + (900).to_bytes(8, "big"), "more than 1000 bytes"),
        (zmtp.message([bytes(200)] * 4) + zmtp.message([bytes(995)]), "more than 1000 bytes"),
        (zmtp.message([b""] * 257), "more than 256 parts"),
        (b"\x01\x00" * 100_000, "more than 256 parts"),
        (b"\x08\x00", "flags 8"),
        (b"\x01\x00\x04\x00", "invalid command"),
        (b"\x06" + (900).to_bytes(8, "big") + bytes(900), "invalid command"),
    ],
)
def test_more_than_a_message_may_be_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(zmtp.Unreadable, match=reason):
        decoded(HELLO + data)


@pytest.mark.parametrize(
    "hello",
    [
        bytes(64),
        zmtp.GREETING.replace(b"NULL", b"NULM"),
        zmtp.GREETING.replace(b"\x03\x00NULL", b"\x02\x00NULL"),
        zmtp.GREETING + b"\x04\x05\x04PING",
        zmtp.GREETING + zmtp.message([b"before it is ready"]),
        b"GET / HTTP/1.1\r\n" * 5,
    ],
)
def test_who_does_not_greet_is_refused(hello: bytes) -> None:
    with pytest.raises(zmtp.Unreadable):
        decoded(hello)


def test_commands_between_messages_are_passed_over() -> None:
    assert decoded(HELLO + b"\x04\x05\x04PING" * 1000 + zmtp.message([b"said"])) == [[b"said"]]
