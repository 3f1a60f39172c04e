from __future__ import annotations

import pytest

from discreet.errors import DiscreetError
from discreet.server.pgwire.options import Options, options_of
from discreet.server.pgwire.results import Transaction, set_setting
from discreet.server.pgwire.statements import split


def begun(**parameters):
    found = Options()
    found.begin({"user": "alice", **parameters})
    return found


def test_settings_come_from_the_connection_the_session_and_the_comment_in_this_order():
    options = begun(options="-c discreet.epsilon=0.1 --discreet.errors=on")
    assert options.asking(()).epsilon == "0.1"
    assert options.asking(()).errors
    options.set("discreet.epsilon", "0.2")
    assert options.asking(()).epsilon == "0.2"
    assert options.asking((("epsilon", "0.3"),)).epsilon == "0.3"
    options.reset()
    assert options.asking(()).epsilon == "0.1"


def test_there_is_no_default_unless_the_owner_gives_one():
    assert begun().asking(()).epsilon is None
    assert Options(default_epsilon="0.05").asking(()).epsilon == "0.05"


def test_no_hint_lifts_the_ceiling():
    options = begun(options="-c discreet.max_epsilon=0.5")
    assert options.asking((("epsilon", "0.5"),)).epsilon == "0.5"
    for hints in (
        (("epsilon", "0.51"),),
        (("epsilon", "0.51"), ("max_epsilon", "9")),
        (("within", "5"),),
    ):
        with pytest.raises(DiscreetError):
            options.asking(hints)
    with pytest.raises(DiscreetError):
        begun().asking((("epsilon", "0.2"), ("max_epsilon", "0.1")))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("discreet.epsilon", "-1"),
        ("discreet.epsilon", "nan"),
        ("discreet.epsilon", "1; DROP"),
        ("discreet.errors", "perhaps"),
        ("discreet.max_rows", "0"),
        ("discreet.within", "0"),
        ("discreet.nothing", "1"),
        ("is_superuser", "on"),
        ("client_encoding", "LATIN1"),
    ],
)
def test_wrong_settings_are_refused(name, value):
    with pytest.raises(DiscreetError):
        begun().set(name, value)


def test_a_comment_cannot_say_who_asks():
    with pytest.raises(DiscreetError):
        begun().asking((("analyst", "bob"),))


@pytest.mark.parametrize(
    ("sql", "name", "value"),
    [
        ("SET discreet.epsilon = 0.1", "discreet.epsilon", "0.1"),
        ("set session discreet.epsilon to '0.1'", "discreet.epsilon", "0.1"),
        ("SET TIME ZONE 'Europe/Paris'", "timezone", "Europe/Paris"),
        ('SET search_path TO a, "B c"', "search_path", "a, B c"),
        ("SET NAMES 'utf8'", "client_encoding", "UTF8"),
        ("SET statement_timeout=0", "statement_timeout", "0"),
    ],
)
def test_spellings_of_set(sql, name, value):
    options = begun()
    set_setting(split(sql)[0], options, Transaction(options))
    assert options.show(name) == value


def test_rollback_and_local_return_to_what_was():
    options = begun(options="-c discreet.epsilon=0.1")
    block = Transaction(options)
    block.run(split("BEGIN")[0])
    set_setting(split("SET discreet.epsilon = 0.2")[0], options, block)
    block.run(split("ROLLBACK")[0])
    assert options.show("discreet.epsilon") == "0.1"
    block.run(split("BEGIN")[0])
    set_setting(split("SET LOCAL discreet.epsilon = 0.3")[0], options, block)
    assert options.show("discreet.epsilon") == "0.3"
    block.run(split("COMMIT")[0])
    assert options.show("discreet.epsilon") == "0.1"


def test_options_that_cannot_be_read():
    for written in ("-c", "-x 1", "'open", "-c nothing"):
        with pytest.raises(DiscreetError):
            options_of({"options": written})
