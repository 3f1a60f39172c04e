from __future__ import annotations

import asyncio

import pytest

from discreet.server.pgwire.messages import Failure
from discreet.server.pgwire.results import CopyForm, Ready, copy_ready, read_copy, rows_of
from discreet.server.pgwire.statements import split
from discreet.server.pgwire.types import INT8, WireColumn

CSV = CopyForm("csv", delimiter=",", null="")


def copy(text):
    [statement] = split(text)
    inner, form = read_copy(statement)
    return inner.text, form


@pytest.mark.parametrize(
    ("options", "form"),
    [
        ("", CopyForm()),
        ("WITH BINARY", CopyForm("binary")),
        ("(FORMAT binary)", CopyForm("binary")),
        ("CSV HEADER", CopyForm("csv", ",", "", header=True)),
        ("WITH (FORMAT csv, HEADER true, DELIMITER ';', NULL 'none')",
         CopyForm("csv", ";", "none", header=True)),
        ("WITH (FORMAT CSV, HEADER off, ENCODING 'UTF8')", CSV),
        ("WITH DELIMITER AS '|' NULL AS ''", CopyForm(delimiter="|", null="")),
        (r"(DELIMITER E'\t')", CopyForm()),
        ("(FORMAT csv, FORCE_QUOTE *)", CopyForm("csv", ",", "", quoted=None)),
        ('(FORMAT csv, FORCE_QUOTE (sex, "N"))',
         CopyForm("csv", ",", "", quoted=frozenset({"sex", "N"}))),
        ("WITH CSV QUOTE '''' ESCAPE '!'", CopyForm("csv", ",", "", quote="'", escape="!")),
    ],
)  # fmt: skip
def test_options_old_and_new(options, form):
    assert copy(f"COPY (SELECT ')' AS \"(\", (1)) TO STDOUT {options}") == (
        "SELECT ')' AS \"(\", (1)",
        form,
    )


def test_a_table_is_read_as_a_select():
    assert copy("COPY preview.people TO STDOUT")[0] == "SELECT * FROM preview.people"
    assert copy('copy "people" (age, sex) to stdout csv')[0] == 'SELECT age, sex FROM "people"'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("COPY people FROM STDIN", "25006"),
        ("COPY people (age) FROM '/etc/passwd'", "25006"),
        ("COPY (SELECT 1) TO '/tmp/x'", "42501"),
        ("COPY (SELECT 1) TO PROGRAM 'sh'", "42501"),
        ("COPY (SELECT 1 TO STDOUT", "42601"),
        ("COPY (SELECT 1) TO STDOUT (FORMAT xml)", "42601"),
        ("COPY (SELECT 1) TO STDOUT (FORMAT 'xml')", "22023"),
        ("COPY (SELECT 1) TO STDOUT (FORMAT csv) extra", "42601"),
        ("COPY (SELECT 1) TO STDOUT (DELIMITER 'ab')", "22023"),
        ("COPY (SELECT 1) TO STDOUT (FORMAT binary, HEADER)", "0A000"),
        ("COPY (SELECT 1) TO STDOUT (QUOTE '!')", "0A000"),
        ("COPY (SELECT 1) TO STDOUT (ENCODING 'LATIN1')", "22023"),
        ("COPY (SELECT 1) TO STDOUT (FREEZE true)", "0A000"),
    ],
)
def test_what_is_refused(text, code):
    with pytest.raises(Failure) as caught:
        copy(text)
    assert caught.value.code == code


def test_understanding_runs_nothing_and_running_runs_once():
    asked = []

    async def run(values):
        asked.append(values)
        return rows_of((WireColumn("n", INT8),), [(1,), (2,)])

    async def understand(statement, _declared):
        assert statement.hints == (("epsilon", "0.1"),)
        return Ready(run, (WireColumn("n", INT8),))

    [statement] = split("COPY (SELECT n /* discreet.epsilon=0.1 */ FROM t) TO STDOUT")
    ready = asyncio.run(copy_ready(statement, (), understand))
    assert (ready.columns, asked) == (None, [])
    result = asyncio.run(ready.run(()))
    assert (asked, result.tag_for(2), result.copy) == ([()], "COPY 2", CopyForm())
