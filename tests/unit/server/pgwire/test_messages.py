from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.server.pgwire.messages import (
    Bind,
    CancelRequest,
    Execute,
    Parse,
    ProtocolError,
    Query,
    Startup,
    WireSignal,
    read_first,
    read_message,
)


def test_first_messages():
    assert read_first(struct.pack("!i", 80877103)) is WireSignal.TLS_REQUEST
    assert read_first(struct.pack("!iII", 80877102, 7, 2**32 - 1)) == CancelRequest(7, 2**32 - 1)
    body = struct.pack("!i", 196608) + b"user\0alice\0options\0-c a=b\0\0"
    assert read_first(body) == Startup({"user": "alice", "options": "-c a=b"}, 196608)


def test_messages():
    assert read_message(b"Q", b"SELECT 1\0") == Query("SELECT 1")
    assert read_message(b"P", b"s\0SELECT 1\0" + struct.pack("!hI", 1, 23)) == Parse(
        "s", "SELECT 1", (23,)
    )
    body = b"p\0s\0" + struct.pack("!hhh", 1, 0, 2) + struct.pack("!i", 2) + b"42"
    body += struct.pack("!i", -1) + struct.pack("!hh", 1, 1)
    assert read_message(b"B", body) == Bind("p", "s", (0,), (b"42", None), (1,))
    assert read_message(b"E", b"\0" + struct.pack("!i", 5)) == Execute("", 5)


@pytest.mark.parametrize(
    ("tag", "body"),
    [
        (b"Q", b"no end"),
        (b"Q", b"end\0more"),
        (b"Q", b"\xff\0"),
        (b"B", b"\0\0" + struct.pack("!hH", 0, 65535)),
        (b"B", b"\0\0" + struct.pack("!hh", 0, 1) + struct.pack("!i", -2)),
        (b"D", b"X\0"),
        (b"Z", b""),
    ],
)
def test_broken_messages_are_protocol_errors(tag, body):
    with pytest.raises(ProtocolError):
        read_message(tag, body)


@given(st.binary(min_size=1, max_size=1), st.binary(max_size=300))
def test_random_bytes_never_crash_the_reader(tag, body):
    try:
        read_message(tag, body)
    except ProtocolError:
        return


@given(st.binary(max_size=300))
def test_random_bytes_never_crash_the_startup(body):
    try:
        read_first(body)
    except ProtocolError:
        return


@given(st.sampled_from([196608, 196610, 80877102, 80877103, 80877104]), st.binary(max_size=100))
def test_random_startups_with_a_known_code(code, rest):
    try:
        read_first(struct.pack("!i", code) + rest)
    except ProtocolError:
        return
