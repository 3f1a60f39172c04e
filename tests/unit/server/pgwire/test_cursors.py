"""Cursors page through what DECLARE has paid for, as PostgreSQL's own would."""

from __future__ import annotations

import asyncio

import pytest

from discreet.server.pgwire.messages import Failure
from discreet.server.pgwire.options import Options
from discreet.server.pgwire.results import Ready, StatementResult, Transaction, rows_of
from discreet.server.pgwire.session import Cursors, Portal
from discreet.server.pgwire.statements import split
from discreet.server.pgwire.types import INT4, WireColumn

COLUMNS = (WireColumn("n", INT4),)


class Desk:
    """Cursors over a question with five rows, which counts how often it is asked."""

    def __init__(self):
        self.transaction = Transaction(Options(default_epsilon=None))
        self.transaction.status = "T"
        self.portals = {}
        self.asked = []
        self.cursors = Cursors(self.portals, self.transaction, self.prepare)

    async def prepare(self, statement, _types):
        if statement.verb != "SELECT":
            return Ready(self.run)

        async def run(values):
            self.asked.append((statement.text, statement.hints, tuple(values)))
            return rows_of(COLUMNS, [(i,) for i in range(1, 6)], "Used epsilon 1.")

        return Ready(run, COLUMNS)

    async def run(self, _values):
        return StatementResult("SET")

    def __call__(self, sql, *values):
        async def whole():
            [statement] = split(sql)
            return await (await self.cursors.ready(statement, ())).run(values)

        return asyncio.run(whole())

    def rows(self, sql):
        return [row[0] for row in self(sql).rows]


@pytest.fixture
def desk():
    found = Desk()
    found("DECLARE c SCROLL CURSOR FOR SELECT n FROM t")
    return found


def test_declaring_asks_once_and_fetching_never(desk):
    assert [text for text, *_ in desk.asked] == ["SELECT n FROM t"]
    assert desk.rows("FETCH 2 FROM c") == [1, 2]
    assert desk.rows("FETCH FORWARD 2 IN c") == [3, 4]
    assert desk.rows("FETCH ALL FROM c") == [5]
    assert desk.rows("FETCH c") == []
    assert len(desk.asked) == 1


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (["NEXT", "NEXT", "PRIOR", "PRIOR", "PRIOR"], [[1], [2], [1], [], []]),
        (["LAST", "FORWARD 1", "BACKWARD 2", "FORWARD 1"], [[5], [], [5, 4], [5]]),
        (["ABSOLUTE 3", "RELATIVE -1", "RELATIVE 0", "0", "FIRST"], [[3], [2], [2], [2], [1]]),
        (["ABSOLUTE -2", "ABSOLUTE 9", "ABSOLUTE 0", "ABSOLUTE -9"], [[4], [], [], []]),
        (["ALL", "BACKWARD ALL", "FORWARD ALL"], [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1], [1, 2, 3, 4, 5]]),
        (["3", "-2", "- 5", "BACKWARD -2"], [[1, 2, 3], [2, 1], [], [1, 2]]),
        (["RELATIVE 99", "PRIOR", "FORWARD 99999999999"], [[], [5], []]),
    ],
)  # fmt: skip
def test_every_direction(desk, written, wanted):
    assert [desk.rows(f"FETCH {way} FROM c") for way in written] == wanted


def test_moving_says_how_far(desk):
    assert desk("MOVE 2 FROM c").tag == "MOVE 2"
    assert desk("MOVE ALL FROM c").tag == "MOVE 3"
    assert desk.rows("FETCH PRIOR FROM c") == [5]


def test_tags_and_notices(desk):
    found = desk('DECLARE "o\'X" NO SCROLL CURSOR WITH HOLD FOR /* discreet.epsilon=2 */ SELECT 1')
    assert (found.tag, found.notices) == ("DECLARE CURSOR", ("Used epsilon 1.",))
    assert desk.asked[-1][1] == (("epsilon", "2"),)
    fetched = desk('FETCH 2 FROM "o\'X"')
    assert fetched.tag_for(len(fetched.rows)) == "FETCH 2"
    assert desk("CLOSE C").tag == "CLOSE CURSOR"
    assert desk("CLOSE ALL").tag == "CLOSE CURSOR ALL"
    assert desk.portals == {}


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("FETCH 1 FROM d", "34000"),
        ("MOVE 1 FROM d", "34000"),
        ("CLOSE d", "34000"),
        ("DECLARE c CURSOR FOR SELECT 1", "42P03"),
        ("DECLARE d CURSOR FOR SET x = 1", "42601"),
        ("DECLARE d CURSOR", "42601"),
        ("DECLARE d BINARY CURSOR FOR SELECT 1", "0A000"),
        ("FETCH", "42601"),
        ("FETCH SIDEWAYS 3 FROM c", "42601"),
        ("CLOSE", "42601"),
    ],
)
def test_what_makes_no_sense_is_refused(desk, sql, code):
    with pytest.raises(Failure) as caught:
        desk(sql)
    assert caught.value.code == code
    assert len(desk.asked) == 1, "nothing was asked for it"


def test_going_back_without_scroll_is_refused(desk):
    desk("DECLARE d NO SCROLL CURSOR FOR SELECT 1")
    desk("FETCH 3 FROM d")
    for way in ("PRIOR", "BACKWARD 1", "-1", "FIRST", "ABSOLUTE 1", "RELATIVE -1"):
        with pytest.raises(Failure, match="only goes forward"):
            desk(f"FETCH {way} FROM d")
    assert desk.rows("FETCH LAST FROM d") == [5]


def test_a_cursor_lives_as_long_as_its_transaction(desk):
    desk("DECLARE held CURSOR WITH HOLD FOR SELECT 1")
    desk.portals["own"] = Portal(None, (), ())
    desk.transaction.status = "I"
    desk.cursors.end()
    assert set(desk.portals) == {"held"}
    with pytest.raises(Failure, match="needs a transaction") as caught:
        desk("DECLARE d CURSOR FOR SELECT 1")
    assert caught.value.code == "25P01"
    assert len(desk.asked) == 2, "refused before it was asked"
    desk.transaction.status = "E"
    for sql in ("FETCH held", "CLOSE held", "DECLARE e CURSOR FOR SELECT 1"):
        with pytest.raises(Failure, match="aborted"):
            desk(sql)


def test_there_is_an_end_to_how_many(desk):
    for place in range(999):
        desk(f"DECLARE c{place} CURSOR FOR SELECT 1")
    with pytest.raises(Failure, match="Too many"):
        desk("DECLARE more CURSOR FOR SELECT 1")
