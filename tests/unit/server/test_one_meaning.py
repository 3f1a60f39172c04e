"""Heads that two readers may read as different requests are refused, however they arrive."""

from __future__ import annotations

import itertools

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.server.start import OneMeaning

FINE = {
    "no body": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "a length": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
    "chunked": b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "line ends in a body": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n\n\n\r\n x",
    "a length in a value": b"GET / HTTP/1.1\r\nHost: x\r\nX-Note: content-length: 3, 4\r\n\r\n",
    "a name that begins alike": b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length-Of: 3, 4\r\n\r\n",
    "HTTP/1.0 with a length": b"POST / HTTP/1.0\r\nContent-Length: 0\r\n\r\n",
}
CHUNKS = b"\r\n0\r\n\r\n"
ODD = {
    "both": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n"
    + CHUNKS,
    "both, the other way": b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: x\r\nCONTENT-LENGTH: 5\r\n"
    + CHUNKS,
    "two lengths": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "one length twice": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
    "a list of lengths": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3, 3\r\n\r\nabc",
    "a sign": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabc",
    "below 0": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -3\r\n\r\nabc",
    "an empty length": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n",
    "other digits": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x3\r\n\r\nabc",
    "two encodings": b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"
    + CHUNKS,
    "another encoding": b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n"
    + CHUNKS,
    "an encoding in HTTP/1.0": b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n" + CHUNKS,
    "a space before the colon": b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n"
    + CHUNKS,
    "a folded line": b"GET / HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\n\r\n",
    "a folded length": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\t3\r\n\r\nabc",
    "a bare line feed": b"GET / HTTP/1.1\nHost: x\r\n\r\n",
    "bare line feeds": b"GET / HTTP/1.1\nHost: x\n\n",
    "one bare line feed at the end": b"GET / HTTP/1.1\r\nHost: x\r\n\n",
    "a bare carriage return": b"GET / HTTP/1.1\r\nHost: x\rX-A: b\r\n\r\n",
}


def outcome(pieces, kind=OneMeaning) -> str:
    """Return "read", "refused", or "waits" for what comes in these pieces."""
    connection = kind(h11.SERVER)
    try:
        for piece in pieces:
            connection.receive_data(piece)
            while True:
                event = connection.next_event()
                if isinstance(event, h11.EndOfMessage):
                    return "read"
                if event in (h11.NEED_DATA, h11.PAUSED):
                    break
    except h11.RemoteProtocolError:
        return "refused"
    return "waits"


@pytest.mark.parametrize("name", FINE)
def test_what_has_one_meaning_is_read(name):
    assert outcome([FINE[name]]) == "read"


@pytest.mark.parametrize("name", ODD)
def test_what_has_two_is_refused(name):
    assert outcome([ODD[name]]) == "refused"


@given(name=st.sampled_from(sorted(FINE | ODD)), cuts=st.sets(st.integers(1, 120), max_size=8))
def test_it_does_not_matter_how_it_comes(name, cuts):
    sent = (FINE | ODD)[name]
    edges = [0, *sorted(cut for cut in cuts if cut < len(sent)), len(sent)]
    pieces = [sent[low:high] for low, high in itertools.pairwise(edges)]
    assert outcome(pieces) == ("read" if name in FINE else "refused")


def test_the_second_request_of_a_connection_is_looked_at_as_the_first():
    connection = OneMeaning(h11.SERVER)
    connection.receive_data(FINE["a length"] + ODD["both"])
    while not isinstance(connection.next_event(), h11.EndOfMessage):
        pass
    connection.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
    connection.send(h11.EndOfMessage())
    connection.start_next_cycle()
    with pytest.raises(h11.RemoteProtocolError):
        connection.next_event()


def test_the_twin_without_the_look_reads_some_of_them():
    read = {name for name, sent in ODD.items() if outcome([sent], h11.Connection) == "read"}
    assert {
        "both",
        "both, the other way",
        "one length twice",
        "a folded length",
        "bare line feeds",
    } <= read
