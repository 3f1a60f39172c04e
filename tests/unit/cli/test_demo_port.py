"""Which port the demo takes, and what it says about it."""

import socket

import pytest

from discreet.cli.serve import _port, server_parts
from discreet.errors import InvalidInput
from ports import free_port


@pytest.fixture
def parts():
    found = server_parts()
    found.DEFAULT_PORT = free_port()
    return found


def test_the_usual_port_is_taken_without_words(parts, capsys):
    assert _port(parts, None) == parts.DEFAULT_PORT
    assert capsys.readouterr().out == ""


def test_the_next_free_port_is_said_plainly(parts, capsys):
    with socket.create_server(("127.0.0.1", parts.DEFAULT_PORT)):
        found = _port(parts, None)
    assert found > parts.DEFAULT_PORT
    assert f"Port {parts.DEFAULT_PORT} is taken: using {found}." in capsys.readouterr().out


def test_a_port_that_was_asked_for_is_taken_or_refused(parts):
    assert _port(parts, parts.DEFAULT_PORT) == parts.DEFAULT_PORT
    taken = socket.create_server(("127.0.0.1", parts.DEFAULT_PORT))
    with taken, pytest.raises(InvalidInput, match="is not free"):
        _port(parts, parts.DEFAULT_PORT)
