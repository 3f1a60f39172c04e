from __future__ import annotations

import csv
import datetime as dt
import io
import re

from hypothesis import given
from hypothesis import strategies as st

from discreet.server.pgwire.results import CopyForm, copied
from discreet.server.pgwire.types import BOOL, DATE, FLOAT8, INT8, TEXT, WireColumn

PAIR = (WireColumn("a", TEXT), WireColumn("b", TEXT))
CSV = CopyForm("csv", delimiter=",", null="")
CELLS = st.text(alphabet=st.sampled_from("ab,;\"'\\\t\n\r\x0b N."), max_size=6)
ROWS = st.lists(st.tuples(CELLS, CELLS), max_size=4)


def text(form, columns, rows):
    return b"".join(copied(form, columns, rows)).decode()


def unescaped(cell):
    """Read a cell of the text format by its description, to undo what was written."""
    letters = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
    return re.sub(r"\\(.)", lambda found: letters.get(found[1], found[1]), cell)


@given(ROWS)
def test_text_can_be_read_back(rows):
    lines = text(CopyForm(), PAIR, rows).split("\n")[:-1]
    assert [tuple(map(unescaped, line.split("\t"))) for line in lines] == rows


@given(ROWS)
def test_csv_is_what_others_read(rows):
    written = text(CSV, PAIR, rows)
    assert [tuple(row) for row in csv.reader(io.StringIO(written, newline=""))] == rows


def test_nothing_and_an_empty_text_are_told_apart():
    rows = [(None, ""), ("\\N", "NULL")]
    assert text(CopyForm(), PAIR, rows) == "\\N\t\n\\\\N\tNULL\n"
    assert text(CSV, PAIR, rows) == ',""\n\\N,NULL\n'
    assert text(CopyForm("csv", ",", "NULL", header=True), PAIR, rows) == 'a,b\nNULL,\n\\N,"NULL"\n'


def test_quotes_where_they_are_asked_for():
    form = CopyForm("csv", ";", "", quote="'", escape="\\", quoted=frozenset({"b"}))
    assert text(form, PAIR, [("a;b", "it's \\")]) == "'a;b';'it\\'s \\\\'\n"
    assert text(CopyForm("csv", ",", "", quoted=None), PAIR, [("a", None)]) == '"a",\n'


def test_types_are_spelled_as_in_rows():
    columns = [WireColumn("x", kind) for kind in (BOOL, INT8, FLOAT8, DATE)]
    assert (
        text(CopyForm(), columns, [(True, 3, 0.5, dt.date(2020, 2, 3))])
        == "t\t3\t0.5\t2020-02-03\n"
    )


def test_the_binary_format():
    pieces = list(
        copied(CopyForm("binary"), (PAIR[0], WireColumn("n", INT8)), [("é", 7), (None, -1)])
    )
    assert pieces[0].startswith(
        b"PGCOPY\n\xff\r\n\0" + bytes(8) + b"\0\2\0\0\0\2\xc3\xa9\0\0\0\x08"
    )
    assert pieces[1] == b"\0\2\xff\xff\xff\xff\0\0\0\x08" + b"\xff" * 8
    assert pieces[2] == b"\xff\xff"
    assert list(copied(CopyForm("binary"), PAIR, [])) == [
        b"PGCOPY\n\xff\r\n\0" + bytes(8) + b"\xff\xff"
    ]
